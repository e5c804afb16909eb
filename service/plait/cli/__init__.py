"""The command line of Plait."""

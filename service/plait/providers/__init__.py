"""What each provider can do, as data."""

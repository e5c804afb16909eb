"""Pure models and decisions: no I/O, no clock, no ids of its own making."""

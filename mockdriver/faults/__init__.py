"""What goes wrong on purpose: an ordered list of faults, and the barriers that hold calls."""

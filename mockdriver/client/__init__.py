"""A typed client of the control API; it knows a mock by its socket only."""

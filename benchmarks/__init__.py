"""Measurements of the server beside a bare one; `make bench` runs them. No test asserts a time."""

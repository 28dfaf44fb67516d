"""The node side of volumes: what is staged and published where, and what that does to files."""

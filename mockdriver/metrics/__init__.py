"""Metrics for Prometheus. Needs the extra `metrics`."""

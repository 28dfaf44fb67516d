"""The CSI services in front of the simulated cloud, and the layers around each call."""

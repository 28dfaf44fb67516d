"""mockdriver: the reference mock CSI driver for KEP-6011, in front of a simulated cloud."""

__version__ = "0.1.0"

"""The reference CO: what a kubelet and an external-attacher do with a CSI driver.

It knows a driver by its sockets and by csi_spec only.
"""

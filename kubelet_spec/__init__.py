"""The kubelet's plugin registration API as Python modules, compiled from its proto when installed.

`from kubelet_spec import pluginregistration_pb2, pluginregistration_pb2_grpc` is all a user needs.
"""

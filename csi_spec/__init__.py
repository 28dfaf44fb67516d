"""The Container Storage Interface as Python modules, compiled from csi.proto when installed.

`from csi_spec import csi_pb2, csi_pb2_grpc` is all a user needs. Nothing is imported here, so
that whoever wants only the messages does not pay for gRPC: both names are submodules.
"""

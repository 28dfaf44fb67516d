"""A gRPC server that does nothing: the measure for what the driver's layers cost.

The same pool of threads, the same messages, and a constant answer of the same size.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc

from csi_spec import csi_pb2, csi_pb2_grpc

WORKER_THREADS = 1_000
ANSWER = csi_pb2.ControllerGetNodeInfoResponse(
    max_volumes_per_node=23,
    accessible_topology=csi_pb2.Topology(
        segments={
            "topology.mock.csi.example.com/zone": "region-1a",
            "topology.mock.csi.example.com/region": "region-1",
        }
    ),
    published_volume_ids=[
        "vol-boot",
        "vol-manual",
        *(f"i-worker-1-published-{n}" for n in range(1, 9)),
    ],
)
"""What mockdriver answers for i-worker-1 of the scenario kep-6011-example."""


def answer(
    request: csi_pb2.ControllerGetNodeInfoRequest, context: grpc.ServicerContext
) -> csi_pb2.ControllerGetNodeInfoResponse:
    """Answer with the constant."""
    return ANSWER


def main() -> None:
    """Serve on the Unix socket that the first argument names, until killed."""
    server = grpc.server(ThreadPoolExecutor(WORKER_THREADS))
    servicer = type("Bare", (csi_pb2_grpc.ControllerServicer,), {})()
    servicer.ControllerGetNodeInfo = answer
    csi_pb2_grpc.add_ControllerServicer_to_server(servicer, server)
    server.add_insecure_port(f"unix:{sys.argv[1]}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()

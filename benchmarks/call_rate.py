"""ControllerGetNodeInfo calls per second at 16 clients, with journal and log on."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from benchmarks.processes import NODE_ID, channel
from csi_spec import csi_pb2, csi_pb2_grpc

CLIENTS = 16
SECONDS = 3.0


def measure(path: Path) -> float:
    """Return the calls per second that a server on this socket answers."""
    counts = [0] * CLIENTS
    barrier = threading.Barrier(CLIENTS + 1)
    stop = threading.Event()
    request = csi_pb2.ControllerGetNodeInfoRequest(node_id=NODE_ID)

    def client(number: int) -> None:
        with channel(path) as connection:
            get = csi_pb2_grpc.ControllerStub(connection).ControllerGetNodeInfo
            get(request)
            barrier.wait()
            while not stop.is_set():
                get(request)
                counts[number] += 1

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began_at = time.perf_counter()
    time.sleep(SECONDS)
    total, seconds = sum(counts), time.perf_counter() - began_at
    stop.set()
    for thread in threads:
        thread.join()
    return total / seconds

"""A control API that does nothing: it keeps what it is asked, and answers what it is told to."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from mockdriver.control.v1 import cloud_pb2, faults_pb2, journal_pb2, state_pb2

PROTOS = (cloud_pb2, faults_pb2, journal_pb2, state_pb2)

METHODS: dict[str, MethodDescriptor] = {
    method.name: method
    for proto in PROTOS
    for service in proto.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""All RPCs of the control API; their names are different."""

Answer = Message | list[Message] | Exception | Callable[[Any], Message]


class FakeControl:
    """What was asked, and what is answered: by default an empty message."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked: list[tuple[str, Message]] = []
        self.deadlines: list[float] = []
        self.answers: dict[str, Answer] = {}
        self.streams_have_an_end = True

    def refuse(
        self, rpc: str, code: grpc.StatusCode, message: str, error: str | None = None
    ) -> None:
        """Answer an RPC with an error."""
        self.answers[rpc] = _Refusal(code, message, error)

    def answer(self, rpc: str, request: Message, context: grpc.ServicerContext) -> Any:
        """Keep a request and return its answer."""
        self.asked.append((rpc, request))
        self.deadlines.append(context.time_remaining())
        answer = self.answers.get(rpc)
        if isinstance(answer, _Refusal):
            if answer.error is not None:
                context.set_trailing_metadata((("mockdriver-error", answer.error),))
            context.abort(answer.code, str(answer))
        if callable(answer):
            return answer(request)
        return GetMessageClass(METHODS[rpc].output_type)() if answer is None else answer


class _Refusal(Exception):
    def __init__(self, code: grpc.StatusCode, message: str, error: str | None) -> None:
        super().__init__(message)
        self.code, self.error = code, error


@contextmanager
def fake_control() -> Iterator[FakeControl]:
    """Serve a fake control API while the block runs."""
    with (
        tempfile.TemporaryDirectory(prefix="mockdriver-test-") as folder,
        ThreadPoolExecutor(8) as pool,
    ):
        fake = FakeControl(Path(folder) / "control.sock")
        server = grpc.server(pool)
        for proto in PROTOS:
            for service in proto.DESCRIPTOR.services_by_name.values():
                handlers = {method.name: _handler(fake, method) for method in service.methods}
                server.add_generic_rpc_handlers(
                    (grpc.method_handlers_generic_handler(service.full_name, handlers),)
                )
        server.add_insecure_port(f"unix:{fake.path}")
        server.start()
        try:
            yield fake
        finally:
            server.stop(None).wait()


def _handler(fake: FakeControl, method: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
    coders = {
        "request_deserializer": GetMessageClass(method.input_type).FromString,
        "response_serializer": lambda message: message.SerializeToString(),
    }
    if method.server_streaming:

        def stream(request: Message, context: grpc.ServicerContext) -> Iterator[Message]:
            context.send_initial_metadata(())
            answers = fake.answer(method.name, request, context)
            yield from answers if isinstance(answers, list) else ()
            left = threading.Event()
            if not fake.streams_have_an_end and context.add_callback(left.set):
                left.wait()

        return grpc.unary_stream_rpc_method_handler(stream, **coders)

    def unary(request: Message, context: grpc.ServicerContext) -> Any:
        return fake.answer(method.name, request, context)

    return grpc.unary_unary_rpc_method_handler(unary, **coders)

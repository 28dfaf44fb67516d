"""The page's HTTP server, on a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import Self

import uvicorn

from mockdriver.control.services import ControlServices
from mockdriver.dashboard.app import make_app
from mockdriver.dashboard.callers import Callers
from mockdriver.dashboard.gateway import Gateway
from mockdriver.dashboard.guard import Token
from mockdriver.runtime import Runtime, Thread
from mockdriver.web.addresses import Address, listen
from mockdriver.web.tokens import TokenMistake, check_token

TOKEN_OPTION = "--dashboard-token"  # noqa: S105 - the name of an option

_GRACE_SECONDS = 1
"""For answers that are under way when the page ends; nobody waits for them any more."""

_log = logging.getLogger("mockdriver")


class Dashboard:
    """Listens as soon as it is made, answers while its `with` block runs."""

    def __init__(self, address: Address, token: str | None, runtime: Runtime) -> None:
        """Bind the address; raises AddressMistake and TokenMistake."""
        if token is not None:
            check_token(TOKEN_OPTION, token)
        self._bound = listen(address)
        if not self._bound.is_loopback and token is None:
            self._bound.socket.close()
            raise TokenMistake(
                f"{address.option} {str(address)!r}: others can reach this address, and whoever "
                f"does can change the cloud: give a token by {TOKEN_OPTION} or by "
                "MOCKDRIVER_DASHBOARD_TOKEN, or choose 127.0.0.1"
            )
        self._token = Token(token, self._bound.port)
        self._runtime = runtime
        self._callers = Callers(runtime)
        self._control: ControlServices | None = None
        self._thread: Thread | None = None

    def __str__(self) -> str:
        return f"page on {self.url}"

    @property
    def url(self) -> str:
        """Where it is."""
        return self._bound.url()

    def observe(self, control: ControlServices) -> None:
        """Show what these services tell; once, before the block."""
        self._control = control

    def __enter__(self) -> Self:
        assert self._control is not None, "observe() comes first"
        app = make_app(Gateway(self._control), self._callers, self._bound, self._token)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                # What uvicorn brings itself, whatever else is installed.
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                interface="asgi3",
                access_log=False,
                log_config=None,
                log_level="error",
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._loop = asyncio.new_event_loop()
        self._thread = self._runtime.start(self._run, "page")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._callers.leave)
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._callers.close()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._server.serve(sockets=[self._bound.socket]))
        except Exception:
            _log.exception("the page has ended")
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

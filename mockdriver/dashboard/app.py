"""The page's HTTP application: its files, the gateway to the control API, and signing in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import grpc
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from mockdriver.dashboard.callers import Callers, TooManyStreams
from mockdriver.dashboard.gateway import Call, Gateway, Refusal, not_allowed, plain
from mockdriver.dashboard.guard import LOGIN_PATH, Guard, Token
from mockdriver.web.addresses import Bound

STATIC = Path(str(files("mockdriver.dashboard"))) / "static"

MAX_BODY_BYTES = 2 * 1024 * 1024
"""A scenario file has at most half of it."""

MAX_BATCH = 200
"""Calls in one request of /api/batch."""

NO_STORE = {"Cache-Control": "no-store"}

Code = grpc.StatusCode
_Endpoint = Callable[["Page", Request], Awaitable[Response]]


def make_app(gateway: Gateway, callers: Callers, bound: Bound, token: Token) -> ASGIApp:
    """Return the application."""
    page = Page(gateway, callers, token)
    app = Starlette(
        routes=[
            Route("/", page.index),
            Route(LOGIN_PATH, page.login_form, methods=["GET"]),
            Route(LOGIN_PATH, page.login, methods=["POST"]),
            Route("/api/batch", page.batch, methods=["POST"]),
            Route("/api/{service}/{rpc}", page.call, methods=["POST"]),
            Route("/api/{service}/{rpc}", page.stream, methods=["GET"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers={Refusal: _answer_refusal, HTTPException: _answer_http_error},
    )
    return Guard(app, bound, token)


class Page:
    """What each path answers."""

    def __init__(self, gateway: Gateway, callers: Callers, token: Token) -> None:
        self._gateway = gateway
        self._callers = callers
        self._token = token

    async def index(self, request: Request) -> Response:
        """Answer with the page; its data comes by the API."""
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    async def login_form(self, request: Request) -> Response:
        """Answer with the form for the token."""
        if not self._token.is_needed:
            return RedirectResponse("/", status_code=303)
        return FileResponse(STATIC / "login.html", headers=NO_STORE)

    async def login(self, request: Request) -> Response:
        """Take the token, and give a cookie for it."""
        body = await _read_body(request)
        [given, *_] = parse_qs(body.decode(errors="replace")).get("token", [""])
        if not self._token.matches(given.strip()):
            return RedirectResponse(f"{LOGIN_PATH}?wrong", status_code=303)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            self._token.cookie_name, self._token.cookie(), httponly=True, samesite="strict"
        )
        return answer

    async def call(self, request: Request) -> Response:
        """Make one call of the control API."""
        call = self._read(request, await _read_json(request))
        if call.is_stream:
            raise Refusal(Code.INVALID_ARGUMENT, "IsStream", "IsStream: GET it, it is a stream")
        return JSONResponse(await self._make(request, call), headers=NO_STORE)

    async def batch(self, request: Request) -> Response:
        """Make several calls, one after the other; each has an answer or an error."""
        wanted = await _read_json(request)
        if not isinstance(wanted, list) or len(wanted) > MAX_BATCH:
            raise not_allowed(f"want a list of at most {MAX_BATCH} calls")
        answers = [await self._answer(request, item) for item in wanted]
        return JSONResponse(answers, headers=NO_STORE)

    async def stream(self, request: Request) -> Response:
        """Answer with server-sent events, each a batch of the stream's answers."""
        try:
            body = json.loads(request.query_params.get("request", "{}"))
        except (ValueError, RecursionError):
            raise not_allowed("the parameter request must be JSON") from None
        call = self._read(request, body)
        if not call.is_stream:
            raise HTTPException(405, "POST it")
        return StreamingResponse(
            self._events(call), media_type="text/event-stream", headers=NO_STORE
        )

    async def _events(self, call: Call) -> AsyncIterator[str]:
        yield ": open\n\n"
        try:
            async for batch in self._callers.stream(partial(self._gateway.stream, call)):
                if not batch.answers:
                    yield ": alive\n\n"
                    continue
                answers = [plain(answer) for answer in batch.answers]
                data = json.dumps({"answers": answers, "skipped": batch.skipped})
                yield f"data: {data}\n\n"
        except Refusal as refusal:
            yield _refused(refusal)
        except TooManyStreams:
            problem = "TooManyStreams: too many pages are open; close some"
            yield _refused(Refusal(Code.RESOURCE_EXHAUSTED, "TooManyStreams", problem))

    async def _answer(self, request: Request, item: object) -> dict[str, Any]:
        try:
            if not isinstance(item, dict) or not isinstance(item.get("call"), str):
                raise not_allowed('want objects as {"call": "service/rpc", "request": {}}')
            service, _, rpc = item["call"].partition("/")
            call = self._gateway.read(service, rpc, item.get("request", {}))
            if call.is_stream:
                raise not_allowed("a stream cannot be one of several calls")
            return {"answer": await self._make(request, call)}
        except Refusal as refusal:
            return {"error": refusal.plain()}

    def _read(self, request: Request, body: object) -> Call:
        return self._gateway.read(request.path_params["service"], request.path_params["rpc"], body)

    async def _make(self, request: Request, call: Call) -> dict[str, Any]:
        gone = asyncio.Event()
        watching = asyncio.create_task(_watch(request, gone))
        try:
            return await self._callers.run(partial(self._gateway.make, call), gone)
        finally:
            watching.cancel()


async def _watch(request: Request, gone: asyncio.Event) -> None:
    """Set `gone` when the browser hangs up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    gone.set()


async def _read_body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"a body has at most {MAX_BODY_BYTES} bytes")
    return body


async def _read_json(request: Request) -> object:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        # What forms of other sites can send is not JSON.
        raise HTTPException(415, "want Content-Type: application/json")
    try:
        return json.loads(await _read_body(request) or b"{}")
    except (ValueError, RecursionError):
        raise not_allowed("the body is no JSON") from None


def _refused(refusal: Refusal) -> str:
    return f"event: refused\ndata: {json.dumps(refusal.plain())}\n\n"


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return JSONResponse(error.plain(), status_code=error.http_status, headers=NO_STORE)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    body = {"code": "INVALID_ARGUMENT", "error": "HttpError", "message": error.detail}
    return JSONResponse(body, status_code=error.status_code, headers=error.headers)

"""A client of the API server, as small as the tests need it."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from e2e.objects.kinds import KINDS, Json, Kind

_TIMEOUT_SECONDS = 30


class ApiError(Exception):
    """The API server refused; `code` is the status code of HTTP."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Api:
    """Requests of one user, for objects by kind and name."""

    def __init__(self, server: str, token: str, authority: Path) -> None:
        self._server = server
        self._token = token
        self._tls = ssl.create_default_context(cafile=authority)

    def find(self, kind: Kind, name: str, namespace: str | None = None) -> Json | None:
        """Return the object, or nothing where there is none."""
        try:
            return self._object("GET", f"{kind.path(namespace)}/{name}")
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Json:
        """Return the object; raises ApiError where there is none."""
        return self._object("GET", f"{kind.path(namespace)}/{name}")

    def all(self, kind: Kind, namespace: str | None = None) -> list[Json]:
        """Return all objects of a kind: of a namespace, or of all of them."""
        items: list[Json] = self._object("GET", kind.path(namespace))["items"]
        return items

    def create(self, manifest: Json, namespace: str | None = None) -> Json:
        """Make an object; raises ApiError if it is refused."""
        kind = KINDS[manifest["kind"]]
        return self._object("POST", kind.path(namespace), manifest)

    def change(self, kind: Kind, name: str, change: Json, namespace: str | None = None) -> Json:
        """Merge `change` into an object: keys whose value is None are removed from it."""
        return self._object("PATCH", f"{kind.path(namespace)}/{name}", change)

    def delete(
        self, kind: Kind, name: str, namespace: str | None = None, *, at_once: bool = False
    ) -> None:
        """Ask for an object to be deleted; nothing happens where there is none.

        `at_once` waits for nobody: no finalizer, no kubelet.
        """
        path = f"{kind.path(namespace)}/{name}"
        try:
            if at_once:
                self.change(kind, name, {"metadata": {"finalizers": None}}, namespace)
            self.request("DELETE", path, {"gracePeriodSeconds": 0} if at_once else None)
        except ApiError as error:
            if error.code != 404:
                raise

    def request(self, method: str, path: str, body: Json | None = None) -> str:
        """Make a request and return the text of its answer; raises ApiError, or OSError."""
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(  # noqa: S310  (the scheme is ours)
            self._server + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": content},
            method=method,
        )
        try:
            with urllib.request.urlopen(  # noqa: S310
                request, context=self._tls, timeout=_TIMEOUT_SECONDS
            ) as answer:
                return str(answer.read(), "utf-8")
        except urllib.error.HTTPError as error:
            with error:
                raise ApiError(error.code, f"{method} {path}: {_reason(error)}") from None

    def _object(self, method: str, path: str, body: Json | None = None) -> Json:
        answer: Any = json.loads(self.request(method, path, body))
        if not isinstance(answer, dict):
            raise TypeError(f"{method} {path}: no object: {answer!r}")
        return answer


def _reason(error: urllib.error.HTTPError) -> str:
    text = str(error.read(), "utf-8", "replace")
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        message = text[:400]
    return f"{error.code} {message}"

"""The programs written in Go that tests run against the server, installed when absent."""

from pathlib import Path

import pytest

from tools.go_programs import program


@pytest.fixture(scope="session")
def grpcurl() -> Path:
    """Path of grpcurl, at the version that tools/go/grpcurl pins."""
    return program("grpcurl")

"""pluginregistration.proto says what v1 of the kubelet's API says: no more, no less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubelet_spec import pluginregistration_pb2, pluginregistration_pb2_grpc
from tests.csi_spec.facts import FOLDER, compiled_facts, differences, published_facts


def published() -> dict[str, Any]:
    """Return the facts of k8s.io/kubelet v0.37.2, pkg/apis/pluginregistration/v1."""
    text = (FOLDER / "kubelet-registration-v1.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def compiled() -> dict[str, str]:
    """Return what was compiled, but for the file's name, which no peer ever sees."""
    facts = compiled_facts(pluginregistration_pb2.DESCRIPTOR)
    assert facts.pop("file") == "kubelet_spec/pluginregistration.proto"
    return facts


def test_compiled_descriptors_equal_the_published_facts() -> None:
    assert differences(published_facts([published()]), compiled()) == []


def test_a_field_with_another_number_is_found() -> None:
    document = published()
    document["messages"]["pluginregistration.RegistrationStatus"]["fields"][1]["number"] = 3

    (line,) = differences(published_facts([document]), compiled())
    assert line.endswith("RegistrationStatus field error: published 3 string, compiled 2 string")


def test_the_service_has_a_stub_and_a_servicer_with_types() -> None:
    for name in ("RegistrationStub", "RegistrationServicer"):
        assert hasattr(pluginregistration_pb2_grpc, name)
    folder = Path(pluginregistration_pb2.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "pluginregistration_pb2.pyi").is_file()

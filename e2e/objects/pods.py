"""Pods as manifests. No container ever starts; what counts is where they run, and on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from e2e.objects.kinds import POD, Json


def pod(name: str, *, claims: Sequence[str], node_selector: Mapping[str, str], **spec: Any) -> Json:
    """Return a pod with a container that mounts these claims; `spec` are further fields."""
    mounts = [{"name": claim, "mountPath": f"/volumes/{claim}"} for claim in claims]
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return POD.manifest(
        name,
        spec={
            "nodeSelector": dict(node_selector),
            "containers": [{"name": "main", "image": "none", "volumeMounts": mounts}],
            "volumes": volumes,
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            **spec,
        },
    )

"""Volumes, claims, classes and attachments as manifests."""

from __future__ import annotations

from typing import Any

from e2e.objects.kinds import (
    CLAIM,
    CSI_DRIVER,
    STORAGE_CLASS,
    VOLUME,
    Json,
)

SIZE = "1Gi"
NO_CLASS = "by-hand"
"""The class of volumes that no provisioner makes; there is no object for it."""


def persistent_volume(
    name: str, *, driver: str, disk: str, claim: tuple[str, str] | None = None, **spec: Any
) -> Json:
    """Return a volume for a disk that exists; `claim` is the namespace and name it waits for."""
    reference = {} if claim is None else {"claimRef": {"namespace": claim[0], "name": claim[1]}}
    return VOLUME.manifest(
        name,
        spec={
            "capacity": {"storage": SIZE},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": NO_CLASS,
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": driver, "volumeHandle": disk},
            **reference,
            **spec,
        },
    )


def claim_of_volume(name: str, volume: str) -> Json:
    """Return a claim of one volume."""
    return _claim(name, storageClassName=NO_CLASS, volumeName=volume)


def claim_of_class(name: str, storage_class: str) -> Json:
    """Return a claim that a provisioner makes a volume for."""
    return _claim(name, storageClassName=storage_class)


def storage_class(name: str, *, driver: str, wait: bool = True) -> Json:
    """Return a class; its volumes `wait` for the scheduler to choose a node, or do not."""
    mode = "WaitForFirstConsumer" if wait else "Immediate"
    return STORAGE_CLASS.manifest(name, provisioner=driver, volumeBindingMode=mode)


def csi_driver(name: str, **spec: Any) -> Json:
    """Return what the cluster is told of a driver; `spec` are the fields that differ."""
    return CSI_DRIVER.manifest(name, spec={"attachRequired": True, **spec})


def _claim(name: str, **spec: Any) -> Json:
    request = {"requests": {"storage": SIZE}}
    return CLAIM.manifest(
        name, spec={"accessModes": ["ReadWriteOnce"], "resources": request, **spec}
    )


def node_affinity(key: str, value: str) -> Json:
    """Return what binds a volume to the nodes that have this label."""
    expression = {"key": key, "operator": "In", "values": [value]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}

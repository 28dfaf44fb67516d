"""The objects of one test: a namespace, and what belongs to a driver of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from e2e.cluster.api import Api
from e2e.cluster.waiting import wait_until
from e2e.objects.kinds import (
    ATTACHMENT,
    CLAIM,
    CSI_DRIVER,
    CSI_NODE,
    EVENT,
    KINDS,
    NAMESPACE,
    NODE,
    POD,
    STORAGE_CLASS,
    VOLUME,
    Json,
    Kind,
)
from e2e.objects.pods import pod
from e2e.objects.volumes import claim_of_volume, persistent_volume

BENCH_LABEL = "e2e.mockdriver.example.com/bench"
"""The label of nodes that tells whose they are: pods of a test run on its own nodes only."""


class Namespace:
    """A namespace called `name`. What lives in none is found by the driver's name, or `name`."""

    def __init__(self, api: Api, name: str, driver: str) -> None:
        self.api = api
        self.name = name
        self.driver = driver
        api.create(NAMESPACE.manifest(name))

    def create(self, manifest: Json) -> Json:
        """Make an object here; raises ApiError if it is refused."""
        return self.api.create(manifest, self._place(KINDS[manifest["kind"]]))

    def find(self, kind: Kind, name: str) -> Json | None:
        """Return an object, or nothing where there is none."""
        return self.api.find(kind, name, self._place(kind))

    def get(self, kind: Kind, name: str) -> Json:
        """Return an object; raises ApiError where there is none."""
        return self.api.get(kind, name, self._place(kind))

    def delete(self, kind: Kind, name: str) -> None:
        """Delete an object; nothing is waited for."""
        self.api.delete(kind, name, self._place(kind))

    def delete_and_wait(self, kind: Kind, name: str) -> None:
        """Delete an object, and return when it is gone."""
        self.delete(kind, name)
        wait_until(lambda: self.find(kind, name) is None, f"{kind.name} {name} is gone")

    def volume_name(self, disk: str) -> str:
        """Return the name of the volume for a disk: volumes live in no namespace."""
        return f"{self.name}-{disk}"

    def claim_disk(self, disk: str, **spec: Any) -> None:
        """Make a volume for a disk that exists, and a bound claim with the disk's id for name.

        `spec` are further fields of the volume.
        """
        volume = self.volume_name(disk)
        claim = (self.name, disk)
        self.create(persistent_volume(volume, driver=self.driver, disk=disk, claim=claim, **spec))
        self.create(claim_of_volume(disk, volume))
        wait_until(
            lambda: self.get(CLAIM, disk)["status"].get("phase") == "Bound", f"{disk} is bound"
        )

    def start_pod(self, name: str, *, claims: Sequence[str], **spec: Any) -> None:
        """Make a pod that runs on a node of this test, with these claims; nothing is waited for."""
        selector = {BENCH_LABEL: self.name, **spec.pop("nodeSelector", {})}
        self.create(pod(name, claims=claims, node_selector=selector, **spec))

    def pod_conditions(self, name: str) -> dict[str, Json]:
        """Return the conditions of a pod by type."""
        status = (self.find(POD, name) or {}).get("status", {})
        return {condition["type"]: condition for condition in status.get("conditions", [])}

    def is_ready(self, name: str) -> bool:
        """Tell whether a pod is Ready: it has its volumes, and its container would run."""
        return self.pod_conditions(name).get("Ready", {}).get("status") == "True"

    def wait_until_ready(self, *names: str) -> None:
        """Return when these pods are Ready."""
        wait_until(
            lambda: all(self.is_ready(name) for name in names),
            f"Ready: {', '.join(names)}",
        )

    def node_of(self, name: str) -> str | None:
        """Return the node that a pod was given."""
        node: str | None = self.get(POD, name)["spec"].get("nodeName")
        return node

    def attachments(self) -> list[Json]:
        """Return the VolumeAttachments of this test's driver."""
        return [
            item for item in self.api.all(ATTACHMENT) if item["spec"]["attacher"] == self.driver
        ]

    def attachment_of(self, disk: str) -> Json | None:
        """Return the attachment of the volume for a disk, or nothing."""
        volume = self.volume_name(disk)
        return next(
            (
                item
                for item in self.attachments()
                if item["spec"]["source"]["persistentVolumeName"] == volume
            ),
            None,
        )

    def wait_until_nothing_is_attached(self) -> None:
        """Return when no VolumeAttachment of this test is left."""
        wait_until(lambda: not self.attachments(), "no VolumeAttachment is left")

    def events(self) -> list[str]:
        """Return a line for each event here, oldest first: for people who look for a cause."""
        found = sorted(
            self.api.all(EVENT, self.name),
            key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime")),
        )
        return [
            f"{event['involvedObject']['kind']} {event['involvedObject'].get('name')}: "
            f"{event.get('reason')}: {event.get('message')}"
            for event in found
        ]

    def clean_up(self) -> None:
        """Delete all of it at once; kubelets, sidecars and driver have been stopped before."""
        for kind in (POD, CLAIM):
            for item in self.api.all(kind, self.name):
                self.api.delete(kind, item["metadata"]["name"], self.name, at_once=True)
        for item in self.attachments():
            self.api.delete(ATTACHMENT, item["metadata"]["name"], at_once=True)
        for item in self.api.all(VOLUME):
            if item["spec"].get("csi", {}).get("driver") == self.driver:
                self.api.delete(VOLUME, item["metadata"]["name"], at_once=True)
        for item in self.api.all(STORAGE_CLASS):
            if item["provisioner"] == self.driver:
                self.api.delete(STORAGE_CLASS, item["metadata"]["name"])
        for item in self.api.all(NODE):
            if item["metadata"].get("labels", {}).get(BENCH_LABEL) == self.name:
                self.api.delete(CSI_NODE, item["metadata"]["name"])
                self.api.delete(NODE, item["metadata"]["name"], at_once=True)
        self.api.delete(CSI_DRIVER, self.driver)
        self.api.delete(NAMESPACE, self.name)

    def _place(self, kind: Kind) -> str | None:
        return self.name if kind.namespaced else None

"""Objects of Kubernetes as plain data, and where the API server has each kind of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
"""A JSON object: a manifest, an answer, a part of one."""


@dataclass(frozen=True)
class Kind:
    """A kind of object, and its place in the API."""

    name: str
    version: str
    plural: str
    namespaced: bool = False

    def path(self, namespace: str | None) -> str:
        """Return the path of all objects of this kind; `namespace` if they live in one."""
        root = "/api/v1" if self.version == "v1" else f"/apis/{self.version}"
        if self.namespaced and namespace is not None:
            return f"{root}/namespaces/{namespace}/{self.plural}"
        return f"{root}/{self.plural}"

    def manifest(self, name: str, **parts: Any) -> Json:
        """Return an object of this kind; `parts` are what it has beside its name."""
        return {
            "apiVersion": self.version,
            "kind": self.name,
            "metadata": {"name": name},
            **parts,
        }


_STORAGE = "storage.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io/v1"

NAMESPACE = Kind("Namespace", "v1", "namespaces")
NODE = Kind("Node", "v1", "nodes")
POD = Kind("Pod", "v1", "pods", namespaced=True)
EVENT = Kind("Event", "v1", "events", namespaced=True)
VOLUME = Kind("PersistentVolume", "v1", "persistentvolumes")
CLAIM = Kind("PersistentVolumeClaim", "v1", "persistentvolumeclaims", namespaced=True)
STORAGE_CLASS = Kind("StorageClass", _STORAGE, "storageclasses")
CSI_DRIVER = Kind("CSIDriver", _STORAGE, "csidrivers")
CSI_NODE = Kind("CSINode", _STORAGE, "csinodes")
ATTACHMENT = Kind("VolumeAttachment", _STORAGE, "volumeattachments")
CLUSTER_ROLE = Kind("ClusterRole", _RBAC, "clusterroles")
CLUSTER_ROLE_BINDING = Kind("ClusterRoleBinding", _RBAC, "clusterrolebindings")

KINDS = {
    kind.name: kind
    for kind in (
        *(NAMESPACE, NODE, POD, EVENT, VOLUME, CLAIM),
        *(STORAGE_CLASS, CSI_DRIVER, CSI_NODE, ATTACHMENT),
        *(CLUSTER_ROLE, CLUSTER_ROLE_BINDING),
    )
}

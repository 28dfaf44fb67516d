"""Who a program is to the API server, and what sidecars may do there.

Only the administrator has a token. All others are that administrator impersonating them: to the
API server they are who they say, with those rights and no more, and new ones need no restart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from e2e.objects.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Json

SIDECAR_NAMESPACE = "kube-system"


@dataclass(frozen=True)
class User:
    """A user by name, and the groups that give it rights beside those of its name."""

    name: str
    groups: tuple[str, ...] = ()


ADMINISTRATOR = User("admin", ("system:masters",))
CONTROLLER_MANAGER = User("system:kube-controller-manager")
SCHEDULER = User("system:kube-scheduler")


def kubelet(node: str) -> User:
    """Return the kubelet of a node: the node authorizer knows it by this name and group."""
    return User(f"system:node:{node}", ("system:nodes",))


def service_account(namespace: str, name: str) -> User:
    """Return a service account, as a pod of a sidecar would have it."""
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


@dataclass(frozen=True)
class Entrance:
    """How the API server is reached: its address, its certificate, the administrator's token."""

    server: str
    authority: Path
    token: str

    def write_kubeconfig(self, path: Path, user: User | None = None) -> Path:
        """Write a kubeconfig for a program that is to be `user`, or the administrator."""
        login: Json = {"token": self.token}
        if user is not None:
            login |= {"as": user.name, "as-groups": list(user.groups)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "e2e",
            "clusters": [
                {
                    "name": "e2e",
                    "cluster": {
                        "server": self.server,
                        "certificate-authority": str(self.authority),
                    },
                }
            ],
            "users": [{"name": "e2e", "user": login}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        }
        path.write_text(json.dumps(config, indent=1), encoding="utf-8")  # JSON is YAML too
        path.chmod(0o600)
        return path


def _rule(group: str, resources: str, verbs: str = "get list watch") -> Json:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}


SIDECAR_RULES: dict[str, list[Json]] = {
    "csi-attacher": [
        _rule("", "persistentvolumes", "get list watch patch"),
        _rule("storage.k8s.io", "csinodes"),
        _rule("storage.k8s.io", "volumeattachments", "get list watch patch"),
        _rule("storage.k8s.io", "volumeattachments/status", "patch"),
    ],
    "csi-provisioner": [
        _rule("", "persistentvolumes", "get list watch create patch delete"),
        _rule("", "persistentvolumeclaims", "get list watch update"),
        _rule("", "nodes"),
        _rule("", "events", "list watch create update patch"),
        _rule("storage.k8s.io", "storageclasses csinodes volumeattachments"),
    ],
}
"""What each sidecar may do: what it needs where it is alone and elects no leader, and no more."""


def sidecar_role(name: str) -> list[Json]:
    """Return the objects that give the rules of a sidecar to its service account."""
    account = {"kind": "ServiceAccount", "name": name, "namespace": SIDECAR_NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return [
        CLUSTER_ROLE.manifest(name, rules=SIDECAR_RULES[name]),
        CLUSTER_ROLE_BINDING.manifest(name, roleRef=role, subjects=[account]),
    ]

"""etcd, API server, controllers and scheduler, started as plain processes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster import users
from e2e.cluster.api import Api, ApiError
from e2e.cluster.held_port import LOOPBACK, held_port
from e2e.cluster.processes import Process, Processes
from e2e.cluster.programs import Programs
from e2e.cluster.waiting import wait_until
from e2e.objects.kinds import CLUSTER_ROLE, NAMESPACE

CONTROLLERS = (
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "node-lifecycle-controller",  # it takes the not-ready taint off new nodes
    "serviceaccount-controller",
    "garbage-collector-controller",
    "namespace-controller",
)

_START_SECONDS = 120


class ControlPlane:
    """What has been started of a control plane, and how to reach it."""

    def __init__(self, folder: Path, programs: Programs, processes: Processes, port: int) -> None:
        self._folder = folder
        self._programs = programs
        self._processes = processes
        self._port = port
        self._etcd = f"unix://{folder}/etcd.sock"
        self._certificates = folder / "certificates"
        self.entrance = users.Entrance(
            server=f"https://{LOOPBACK}:{port}",
            authority=self._certificates / "apiserver.crt",
            token=secrets.token_hex(16),
        )
        self.kubeconfig = folder / "admin.kubeconfig"

    def start_etcd(self) -> Process:
        """Start etcd; it listens on Unix sockets only."""
        peers = f"unix://{self._folder}/etcd-peers.sock"
        return self._start(
            "etcd",
            "--name=one",
            f"--data-dir={self._folder}/etcd",
            f"--listen-client-urls={self._etcd}",
            f"--advertise-client-urls={self._etcd}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=one={peers}",
            "--unsafe-no-fsync",  # nothing here has to survive a power cut
            "--log-level=warn",
        )

    def start_api_server(self) -> Api:
        """Start the API server, wait until it is ready, and return a client of it."""
        self._certificates.mkdir()
        tokens = self._folder / "tokens.csv"
        admin = users.ADMINISTRATOR
        groups = ",".join(admin.groups)
        tokens.write_text(f'{self.entrance.token},{admin.name},{admin.name},"{groups}"\n')
        tokens.chmod(0o600)
        # The server makes this key, and a certificate, before it reads the key of the accounts.
        key = self._certificates / "apiserver.key"
        self._start(
            "kube-apiserver",
            f"--etcd-servers={self._etcd}",
            f"--bind-address={LOOPBACK}",
            f"--secure-port={self._port}",
            "--permit-port-sharing=true",  # see held_port.py
            f"--cert-dir={self._certificates}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--disable-admission-plugins=ServiceAccount",  # so pods need no account
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            # Without these two it does not start on a machine that has no default route.
            "--endpoint-reconciler-type=none",
            "--advertise-address=192.0.2.1",
            "--v=2",
        )
        self._wait(self.entrance.authority.exists, "the API server's certificate")
        self.entrance.write_kubeconfig(self.kubeconfig)
        api = Api(self.entrance.server, self.entrance.token, self.entrance.authority)
        self._wait(lambda: _is_ready(api), "a ready API server")
        return api

    def start_controllers(self) -> Process:
        """Start the controllers that volumes and pods need; they open no port."""
        return self._start(
            "kube-controller-manager",
            f"--kubeconfig={self._kubeconfig('controllers', users.CONTROLLER_MANAGER)}",
            f"--controllers={','.join(CONTROLLERS)}",
            # The built-in rules are per controller.
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={self._certificates / 'apiserver.key'}",
            "--leader-elect=false",
            "--secure-port=0",
            "--v=2",
        )

    def start_scheduler(self) -> Process:
        """Start the scheduler; it opens no port."""
        return self._start(
            "kube-scheduler",
            f"--kubeconfig={self._kubeconfig('scheduler', users.SCHEDULER)}",
            "--leader-elect=false",
            "--secure-port=0",
            "--v=2",
        )

    def _start(self, name: str, *flags: str) -> Process:
        return self._processes.start(name, self._programs.command(name, *flags))

    def _kubeconfig(self, name: str, user: users.User) -> Path:
        return self.entrance.write_kubeconfig(self._folder / f"{name}.kubeconfig", user)

    def _wait(self, look: Callable[[], bool], what: str) -> None:
        def look_while_running() -> bool:
            self._processes.require_running()
            return look()

        wait_until(look_while_running, what, _START_SECONDS)


@contextmanager
def control_plane(folder: Path, programs: Programs, processes: Processes) -> Iterator[ControlPlane]:
    """Hold a port for a control plane while the block runs; nothing is started yet."""
    with held_port() as port:
        yield ControlPlane(folder, programs, processes, port)


def _is_ready(api: Api) -> bool:
    """Tell whether it is ready and has made the objects that all clusters have."""
    try:
        return (
            api.request("GET", "/readyz") == "ok"
            and api.find(NAMESPACE, "default") is not None
            and api.find(CLUSTER_ROLE, "system:kube-scheduler") is not None
        )
    except (ApiError, OSError):
        return False

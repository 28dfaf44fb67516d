"""A cluster for hand work: `python -m e2e.by_hand [SCENARIO]`, which is `make cluster`.

It runs until Ctrl-C, with a node for each of the first instances of the scenario, and prints what
to try. Everything is in a folder that goes with it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path

from e2e.cluster.bench import Bench
from e2e.cluster.cluster import Cluster, running_cluster
from e2e.cluster.hollow_node import HollowNode
from e2e.cluster.processes import EndedEarly
from e2e.cluster.programs import NoSuchProgram, Programs
from e2e.cluster.run_folder import RunFolder, run_folder
from e2e.cluster.signals import interrupt_at_ending_signals
from e2e.cluster.waiting import NotSeen
from e2e.objects.volumes import csi_driver, storage_class
from mockdriver.scenario import shipped
from mockdriver.scenario.load import LoadedScenario, load
from mockdriver.scenario.mistakes import ScenarioMistakes
from tools.go_programs import BINARIES

NODES = 5
"""How many nodes there are at most: each is a process of 100 MiB."""

BENCH = "mock"
PERIOD_SECONDS = 10
"""How often the kubelets ask for the limit; the least that the API server allows."""

_LOOK_EVERY_SECONDS = 0.5


def main(arguments: list[str]) -> int:
    """Run a cluster until a signal ends it; return the exit code of the program."""
    parser = argparse.ArgumentParser(prog="make cluster", description=__doc__)
    parser.add_argument("scenario", nargs="?", default=shipped.DEFAULT, metavar="SCENARIO")
    name = parser.parse_args(arguments).scenario
    interrupt_at_ending_signals()
    try:
        scenario = load(name, story=False)
        programs = Programs.from_environment()
        with run_folder() as folder:
            try:
                _run(name, scenario, programs, folder)
            except (EndedEarly, NotSeen):
                folder.keep_logs()
                print(f"logs of all programs: {folder.move_logs()}", file=sys.stderr)
                raise
    except (EndedEarly, NotSeen, NoSuchProgram, ScenarioMistakes) as problem:
        print(f"cluster: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    return 0


def _run(name: str, scenario: LoadedScenario, programs: Programs, folder: RunFolder) -> None:
    driver_name = scenario.driver.name
    with (
        running_cluster(folder, programs) as cluster,
        cluster.bench(BENCH, driver_name=driver_name) as bench,
    ):
        bench.start_driver(_scenario_argument(name))
        bench.start_sidecar("csi-attacher")
        bench.start_sidecar("csi-provisioner")
        bench.namespace.create(
            csi_driver(driver_name, nodeAllocatableUpdatePeriodSeconds=PERIOD_SECONDS)
        )
        bench.namespace.create(storage_class(BENCH, driver=driver_name))
        instances = [instance.id for instance in scenario.plan.instances]
        nodes = bench.start_nodes(instances[:NODES])
        print(_what_to_try(cluster, bench, nodes, scenario), flush=True)
        while True:
            cluster.processes.require_running()
            bench.processes.require_running()
            time.sleep(_LOOK_EVERY_SECONDS)


def _scenario_argument(name: str) -> Path | str:
    """Return the scenario as the driver is to be given it: it runs in our folder."""
    return Path(name).resolve() if Path(name).exists() else name


def _what_to_try(
    cluster: Cluster, bench: Bench, nodes: list[HollowNode], scenario: LoadedScenario
) -> str:
    kubectl = Path(cluster.programs.command("kubectl")[0])
    grpcurl = BINARIES / "grpcurl"
    machines = "\n".join(f"  {node.name} is instance {node.instance}" for node in nodes)
    left_out = len(scenario.plan.instances) - len(nodes)
    surprise = json.dumps({"instance": nodes[0].instance, "disk": "by-hand"}) if nodes else "{}"
    fault = json.dumps({"fault": FAULT})
    more = f"\n  (and {left_out} instances without a node)" if left_out > 0 else ""
    return f"""
A cluster is up, with the driver {bench.driver_name} on the scenario {scenario.name}.
Nodes:
{machines}{more}
Logs: {bench.processes.logs.parent}

Try in another terminal:

export KUBECONFIG={shlex.quote(str(cluster.kubeconfig))}
export PATH={shlex.quote(str(kubectl.parent))}:{shlex.quote(str(grpcurl.parent))}:$PATH
export SOCKET={shlex.quote(str(bench.driver.socket))}

kubectl get csinodes -o yaml
# A disk that Kubernetes knows nothing of: CSINode's limit falls within {PERIOD_SECONDS} seconds.
grpcurl -plaintext -unix -d {shlex.quote(surprise)} $SOCKET mockdriver.control.v1.Cloud/Attach
# The next two attaches fail.
grpcurl -plaintext -unix -d {shlex.quote(fault)} $SOCKET mockdriver.control.v1.Faults/CreateFault
kubectl apply -f - <<'END'
{FIRST_POD}END
kubectl wait --for=condition=Ready --timeout=60s pod/first
kubectl get volumeattachments,persistentvolumes

grpcurl -plaintext -unix $SOCKET csi.v1.Controller/ListVolumes

Ctrl-C here stops everything and removes its files."""


FAULT = {"rpc": "ControllerPublishVolume", "times": 2, "code": "UNAVAILABLE"}
"""What goes wrong, to be pasted."""

FIRST_POD = f"""\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: first}}
spec:
  storageClassName: {BENCH}
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 1Gi}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: first}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: none   # no container starts, so any name will do
      volumeMounts: [{{name: data, mountPath: /data}}]
  volumes:
    - name: data
      persistentVolumeClaim: {{claimName: first}}
"""
"""A pod with a claim, to be pasted."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

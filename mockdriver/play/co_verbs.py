"""The verbs of the CO: what it asks the driver, over the CSI sockets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from csi_spec import csi_pb2
from mockdriver.client import ControlError
from mockdriver.co import registration
from mockdriver.co.calling import Answer, Stub
from mockdriver.co.registration import Lookup
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
from mockdriver.scenario.story_model import (
    CreateVolume,
    DeleteVolume,
    NodeInfo,
    Publish,
    Refresh,
    Register,
    Unpublish,
)

_GIB = 1024**3
_Mode = csi_pb2.VolumeCapability.AccessMode.Mode


def register(stage: Stage, arguments: Register) -> Outcome:
    """Register a node by the flow that its capabilities allow; it alone retries."""
    return _lookup(
        registration.register(
            stage.node(arguments.node), stage.controller, stage.records, stage.call, stage.pause
        )
    )


def refresh(stage: Stage, arguments: Refresh) -> Outcome:
    """Ask the controller about a node."""
    return _lookup(
        registration.refresh(arguments.node, stage.controller, stage.records, stage.call)
    )


def node_info(stage: Stage, arguments: NodeInfo) -> Outcome:
    """Ask a node about itself, without the flag."""
    return _lookup(registration.plain_node_info(stage.node(arguments.node), stage.call))


def create_volume(stage: Stage, arguments: CreateVolume) -> Outcome:
    """Create one volume; later steps can name it by its CSI name."""
    topologies = [] if arguments.zone is None else [_topology_of_zone(stage, arguments.zone)]
    name = arguments.name if arguments.name is not None else stage.fresh_volume_name()
    request = _create_request(name, topologies, arguments.access_mode)
    required_bytes = arguments.required_bytes
    if arguments.size_gib is not None:
        required_bytes = arguments.size_gib * _GIB
    if required_bytes is not None or arguments.limit_bytes is not None:
        request.capacity_range.required_bytes = required_bytes or 0
        request.capacity_range.limit_bytes = arguments.limit_bytes or 0
    answer = stage.call(stage.controller.controller.CreateVolume, request)
    if not answer.ok:
        return _counted([answer])
    volume = answer.response.volume
    stage.volume_ids[name] = volume.volume_id
    fields: dict[str, Any] = {
        "volume_id": volume.volume_id,
        "capacity_bytes": volume.capacity_bytes,
    }
    if volume.accessible_topology:
        fields["accessible_topology"] = dict(volume.accessible_topology[0].segments)
    return _counted([answer], fields)


def delete_volume(stage: Stage, arguments: DeleteVolume) -> Outcome:
    """Delete one volume."""
    request = csi_pb2.DeleteVolumeRequest(volume_id=_volume_id(stage, arguments.volume))
    return _counted([stage.call(stage.controller.controller.DeleteVolume, request)])


@dataclass(frozen=True)
class Volumes:
    """The volumes that a publish step is about, and why others could not be made."""

    ids: list[str]
    unmade: tuple[str, ...] = ()


def made_volumes(stage: Stage, arguments: Publish) -> Volumes:
    """Return the volumes that a publish step is about, after making them if it gives a count.

    They are made in the node's zone. One that cannot be made does not keep the others back.
    """
    if arguments.count is None:
        assert arguments.volume is not None
        return Volumes([_volume_id(stage, arguments.volume)])
    topologies = _topologies_of(stage, arguments.node)
    create = stage.controller.controller.CreateVolume
    volume_ids, unmade = [], []
    for _ in range(arguments.count):
        request = _create_request(stage.fresh_volume_name(), topologies, arguments.access_mode)
        answer = stage.call(create, request)
        if answer.ok:
            volume_ids.append(answer.response.volume.volume_id)
        else:
            unmade.append(f"{answer.code}: {answer.message}")
    return Volumes(volume_ids, tuple(unmade))


def publish(stage: Stage, arguments: Publish, volumes: Volumes) -> Outcome:
    """Publish volumes on a node, one after the other or all at once."""

    def request_of(volume_id: str) -> csi_pb2.ControllerPublishVolumeRequest:
        return csi_pb2.ControllerPublishVolumeRequest(
            volume_id=volume_id,
            node_id=arguments.node,
            volume_capability=_capability(arguments.access_mode),
            readonly=arguments.readonly,
        )

    def before(volume_id: str) -> None:
        stage.records.remember(arguments.node, volume_id, published=False)

    def after(volume_id: str, answer: Answer) -> None:
        if answer.ok:
            stage.records.remember(arguments.node, volume_id, published=True)

    answers = _for_each(
        stage,
        stage.controller.controller.ControllerPublishVolume,
        [(volume_id, request_of(volume_id)) for volume_id in volumes.ids],
        concurrent=arguments.concurrent,
        before=before,
        after=after,
    )
    fields: dict[str, Any] = {}
    if len(answers) == 1 and answers[0].ok:
        fields = {"publish_context": dict(answers[0].response.publish_context)}
    outcome = _counted(answers, fields)
    messages = dict.fromkeys((*outcome.messages, *volumes.unmade))
    return replace(outcome, messages=tuple(messages), unmade=volumes.unmade)


def unpublish(stage: Stage, arguments: Unpublish) -> Outcome:
    """Unpublish volumes from a node, or one volume from every node."""
    node_id = arguments.node or ""
    if arguments.count is None:
        assert arguments.volume is not None
        volume_ids = [_volume_id(stage, arguments.volume)]
    else:
        volume_ids = stage.records.on_node(node_id)[: arguments.count]
        if len(volume_ids) < arguments.count:
            return Outcome(
                problem=f"the CO has a record of {len(volume_ids)} volumes on {node_id}, "
                f"cannot unpublish {arguments.count}"
            )

    def after(volume_id: str, answer: Answer) -> None:
        if answer.ok:
            for node in [node_id] if node_id else stage.records.nodes_with(volume_id):
                stage.records.forget(node, volume_id)

    return _counted(
        _for_each(
            stage,
            stage.controller.controller.ControllerUnpublishVolume,
            [
                (
                    volume_id,
                    csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume_id, node_id=node_id),
                )
                for volume_id in volume_ids
            ],
            concurrent=arguments.concurrent,
            before=lambda volume_id: None,
            after=after,
        )
    )


def _for_each(
    stage: Stage,
    method: Stub,
    calls: list[tuple[str, Any]],
    *,
    concurrent: bool,
    before: Any,
    after: Any,
) -> list[Answer]:
    """Make calls; `before(volume_id)` and `after(volume_id, answer)` keep the CO's records."""
    batches = [calls] if concurrent else [[item] for item in calls]
    answers: list[Answer] = []
    for batch in batches:
        for volume_id, _ in batch:
            before(volume_id)
        found = stage.call_all([(method, request) for _, request in batch])
        for (volume_id, _), answer in zip(batch, found, strict=True):
            after(volume_id, answer)
        answers += found
    return answers


def _volume_id(stage: Stage, name: str) -> str:
    """Return the id that a story means: a disk's, or that of a volume made under this name."""
    made = stage.volume_ids.get(name)
    return name if made is None or stage.has_disk(name) else made


def _topologies_of(stage: Stage, node_id: str) -> list[Mapping[str, str]]:
    """Return the topology of a node, as a list of one; of a node that is not there an empty one."""
    try:
        info = stage.control.cloud.node_info(node_id)
    except ControlError as error:
        if error.error != "InstanceNotFound":
            raise
        return []
    return [dict(info.accessible_topology)]


def _topology_of_zone(stage: Stage, wanted: str) -> Mapping[str, str]:
    """Return the topology of a zone, also of one that is not there: as another one's, renamed."""
    segments: Mapping[str, str] = {}
    for zone in stage.control.cloud.zones():
        renamed = {zone.name: wanted}
        segments = {key: renamed.get(text, text) for key, text in zone.accessible_topology.items()}
        if zone.name == wanted:
            break
    return segments


def _capability(access_mode: str) -> csi_pb2.VolumeCapability:
    return csi_pb2.VolumeCapability(
        mount=csi_pb2.VolumeCapability.MountVolume(),
        access_mode=csi_pb2.VolumeCapability.AccessMode(mode=_Mode.Value(access_mode)),
    )


def _create_request(
    name: str, topologies: Iterable[Any], access_mode: str
) -> csi_pb2.CreateVolumeRequest:
    request = csi_pb2.CreateVolumeRequest(name=name, volume_capabilities=[_capability(access_mode)])
    for segments in topologies:
        request.accessibility_requirements.requisite.add(segments=segments)
    return request


def _lookup(lookup: Lookup) -> Outcome:
    view = lookup.view
    if view is None:
        return _counted([lookup.answer])
    fields: dict[str, Any] = {
        "node_id": view.node_id,
        "max_volumes_per_node": view.max_volumes_per_node,
        "effective_limit": view.effective_limit,
        "accessible_topology": dict(view.accessible_topology),
    }
    if view.published_volume_ids is not None:
        fields["published_volume_ids"] = view.published_volume_ids
    return _counted([lookup.answer], fields)


def _counted(answers: list[Answer], fields: dict[str, Any] | None = None) -> Outcome:
    messages = dict.fromkeys(answer.message for answer in answers if answer.message)
    return Outcome(
        codes=Counter(answer.code for answer in answers),
        fields=fields or {},
        messages=tuple(messages),
    )

"""Which volumes the CO has a record of, by node: Kubernetes' VolumeAttachment objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class VolumeRecords:
    """The CO's memory of volumes on nodes.

    A volume is remembered from the moment that the CO tries to publish it, whatever the answer,
    until its Unpublish is OK.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, bool]] = {}
        self._recordings: dict[str, list[_Recording]] = {}

    def remember(self, node_id: str, volume_id: str, *, published: bool) -> None:
        """Note a volume that the CO tries to publish, or has `published`, on a node."""
        known = self._known.setdefault(node_id, {})
        known[volume_id] = published or known.get(volume_id, False)
        self._record(node_id, volume_id)

    def forget(self, node_id: str, volume_id: str) -> None:
        """Note that a volume's Unpublish was OK."""
        self._record(node_id, volume_id)
        self._known.get(node_id, {}).pop(volume_id, None)

    def on_node(self, node_id: str) -> list[str]:
        """Return the volumes that the CO has a record of on a node.

        Those whose Publish was OK come first, each kind oldest first.
        """
        known = self._known.get(node_id, {})
        return sorted(known, key=lambda volume_id: not known[volume_id])

    def nodes_with(self, volume_id: str) -> list[str]:
        """Return the nodes that the CO has a record of this volume on."""
        return [node_id for node_id, known in self._known.items() if volume_id in known]

    @contextmanager
    def recording(self, node_id: str) -> Iterator[set[str]]:
        """Yield the ids that count as CSI-managed for a lookup that runs inside the block.

        They are those known when it begins, and every one processed until it ends: an attach that
        completes in between is not misread as out of band (KEP-6011, "Race Condition Mitigation").
        """
        recording = _Recording()
        recordings = self._recordings.setdefault(node_id, [])
        # First the recording, then the list, in the KEP's order: a volume that another thread
        # publishes in between is in both and not in neither.
        recordings.append(recording)
        recording.volume_ids.update(self._known.get(node_id, ()))
        try:
            yield recording.volume_ids
        finally:
            recordings.remove(recording)

    def _record(self, node_id: str, volume_id: str) -> None:
        for recording in tuple(self._recordings.get(node_id, ())):
            recording.volume_ids.add(volume_id)


class _Recording:
    """The ids of one lookup. Not a bare set: two lookups can have equal ones and stay two."""

    def __init__(self) -> None:
        self.volume_ids: set[str] = set()

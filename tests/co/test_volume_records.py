"""What the CO remembers of volumes, and which of them count as its own during a lookup."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mockdriver.co.effective_limit import effective_limit
from mockdriver.co.volume_records import VolumeRecords


def publish(records: VolumeRecords, volume_id: str, node_id: str = "i-1") -> None:
    """Do to the records what a Publish with the answer OK does."""
    records.remember(node_id, volume_id, published=False)
    records.remember(node_id, volume_id, published=True)


# ---------------------------------------------------------------------------------------- memory


def test_a_volume_is_known_from_the_first_try_whatever_the_answer() -> None:
    records = VolumeRecords()
    records.remember("i-1", "vol-tried", published=False)
    assert records.on_node("i-1") == ["vol-tried"]


def test_a_volume_is_forgotten_by_an_unpublish() -> None:
    records = VolumeRecords()
    publish(records, "vol-1")
    records.forget("i-1", "vol-1")
    assert records.on_node("i-1") == []
    assert records.nodes_with("vol-1") == []


def test_forgetting_what_is_not_known_is_fine() -> None:
    records = VolumeRecords()
    records.forget("i-1", "vol-1")
    assert records.on_node("i-1") == []


def test_published_volumes_come_first_each_kind_oldest_first() -> None:
    records = VolumeRecords()
    records.remember("i-1", "vol-tried-1", published=False)
    publish(records, "vol-2")
    records.remember("i-1", "vol-tried-2", published=False)
    publish(records, "vol-1")
    assert records.on_node("i-1") == ["vol-2", "vol-1", "vol-tried-1", "vol-tried-2"]


def test_a_later_try_does_not_undo_that_a_volume_is_published() -> None:
    records = VolumeRecords()
    records.remember("i-1", "vol-tried", published=False)
    publish(records, "vol-1")
    records.remember("i-1", "vol-1", published=False)
    assert records.on_node("i-1") == ["vol-1", "vol-tried"]


def test_nodes_are_apart_and_a_volume_can_be_on_several() -> None:
    records = VolumeRecords()
    publish(records, "vol-shared", "i-1")
    publish(records, "vol-shared", "i-2")
    publish(records, "vol-1", "i-1")
    assert records.nodes_with("vol-shared") == ["i-1", "i-2"]
    records.forget("i-1", "vol-shared")
    assert records.on_node("i-1") == ["vol-1"]
    assert records.on_node("i-2") == ["vol-shared"]


# --------------------------------------------------------- KEP-6011, "Race Condition Mitigation"


def managed_after(records: VolumeRecords, during: Callable[[], None]) -> set[str]:
    """Return what counts as CSI-managed for a lookup during which something happens."""
    with records.recording("i-1") as managed:
        during()
    return managed


def test_what_was_known_before_the_lookup_counts() -> None:
    records = VolumeRecords()
    publish(records, "vol-1")
    records.remember("i-1", "vol-tried", published=False)
    assert managed_after(records, lambda: None) == {"vol-1", "vol-tried"}


def test_a_volume_published_during_the_lookup_counts() -> None:
    records = VolumeRecords()
    assert managed_after(records, lambda: publish(records, "vol-1")) == {"vol-1"}


def test_a_volume_unpublished_during_the_lookup_counts() -> None:
    records = VolumeRecords()
    publish(records, "vol-1")
    assert managed_after(records, lambda: records.forget("i-1", "vol-1")) == {"vol-1"}


def test_a_volume_attached_and_then_detached_during_the_lookup_counts() -> None:
    records = VolumeRecords()

    def attach_and_detach() -> None:
        publish(records, "vol-1")
        records.forget("i-1", "vol-1")

    assert managed_after(records, attach_and_detach) == {"vol-1"}
    assert records.on_node("i-1") == []


def test_a_volume_that_is_being_unpublished_counts_even_if_it_was_never_known() -> None:
    # The CO restarted and lost its memory, but finishes the unpublish that it finds.
    records = VolumeRecords()
    assert managed_after(records, lambda: records.forget("i-1", "vol-1")) == {"vol-1"}


def test_what_happens_on_another_node_does_not_count() -> None:
    records = VolumeRecords()
    assert managed_after(records, lambda: publish(records, "vol-1", "i-2")) == set()


def test_what_happens_after_the_lookup_does_not_count() -> None:
    records = VolumeRecords()
    managed = managed_after(records, lambda: None)
    publish(records, "vol-1")
    assert managed == set()


def test_what_was_unpublished_before_the_lookup_does_not_count() -> None:
    records = VolumeRecords()
    publish(records, "vol-1")
    records.forget("i-1", "vol-1")
    assert managed_after(records, lambda: None) == set()


def test_two_lookups_at_once_record_each_for_itself() -> None:
    records = VolumeRecords()
    with records.recording("i-1") as first:
        publish(records, "vol-1")
        with records.recording("i-1") as second:
            publish(records, "vol-2")
        publish(records, "vol-3")
    assert first == {"vol-1", "vol-2", "vol-3"}
    assert second == {"vol-1", "vol-2"}


def test_of_two_lookups_with_equal_records_the_one_that_ends_first_ends_alone() -> None:
    records = VolumeRecords()
    older, newer = records.recording("i-1"), records.recording("i-1")
    of_older, of_newer = older.__enter__(), newer.__enter__()
    newer.__exit__(None, None, None)
    publish(records, "vol-1")
    older.__exit__(None, None, None)
    assert (of_older, of_newer) == ({"vol-1"}, set())


def test_a_lookup_that_fails_ends_its_recording() -> None:
    records = VolumeRecords()
    managed: set[str] = set()

    def fail() -> None:
        raise RuntimeError("the driver is gone")

    try:
        with records.recording("i-1") as managed:
            fail()
    except RuntimeError:
        publish(records, "vol-1")
    assert managed == set()


class _PublishedWhileRead(dict[str, bool]):
    """A node's records, during whose reading another thread publishes a volume."""

    def __init__(self, records: VolumeRecords) -> None:
        super().__init__({"vol-known": True})
        self._records = records

    def __iter__(self) -> Iterator[str]:
        known = list(self.keys())
        publish(self._records, "vol-in-between")
        return iter(known)


def test_no_moment_is_lost_between_the_list_of_records_and_the_recording() -> None:
    records = VolumeRecords()
    records._known["i-1"] = _PublishedWhileRead(records)
    assert managed_after(records, lambda: None) == {"vol-known", "vol-in-between"}


def test_the_race_of_the_kep_does_not_lower_the_limit() -> None:
    """An attach completes after the CO's list was read and before the cloud is asked."""
    records = VolumeRecords()
    publish(records, "vol-1")
    with records.recording("i-1") as managed:
        publish(records, "vol-2")
        published_volume_ids = ["vol-boot", "vol-1", "vol-2"]
    assert effective_limit(23, published_volume_ids, managed) == 22

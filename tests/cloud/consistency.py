"""What must hold in a store, whatever was done to it, by force too: its indexes tell the truth."""

from __future__ import annotations

from collections import Counter

from mockdriver.cloud.store import Store


def check(store: Store) -> None:
    """Compare each index of a store with the records that it is about."""
    attachments = [
        attachment
        for id in store.instances
        for attachment in store.occupancy(id).attachments.values()
    ]
    for id in store.instances:
        occupancy = store.occupancy(id)
        for disk, attachment in occupancy.attachments.items():
            assert (attachment.disk, attachment.instance) == (disk, id)
            assert disk in store.disks
        assert occupancy.boot_disks == {
            disk for disk in occupancy.attachments if store.disks[disk].boot
        }
        assert occupancy.pending == {
            disk for disk, item in occupancy.attachments.items() if item.pending is not None
        }
        for interface in occupancy.network_interfaces.values():
            assert interface.instance == id
            assert store.has_network_interface(interface.id)
    numbers = [attachment.number for attachment in attachments]
    assert len(set(numbers)) == len(numbers)
    assert store.attachment_count == len(attachments)
    for id in store.disks:
        found = list(store.attachments_of_disk(id))
        assert sorted(found, key=lambda item: item.instance) == sorted(
            (item for item in attachments if item.disk == id), key=lambda item: item.instance
        )
        for tag, value in store.disks[id].tags.items():
            assert store.disks[id] in store.disks_tagged(tag, value)
    tagged = Counter(tag for disk in store.disks.values() for tag in disk.tags.items())
    for (tag, value), count in tagged.items():
        assert len(store.disks_tagged(tag, value)) == count
    zones = [*(item.zone for item in store.instances.values())]
    zones += [item.zone for item in store.disks.values()]
    types = Counter(item.type for item in store.instances.values())
    for zone in {*zones, *store.zones}:
        assert store.zone_users(zone) == zones.count(zone)
        in_zone = [disk.size_gib for disk in store.disks.values() if disk.zone == zone]
        assert store.gib_in_zone(zone) == sum(in_zone)
    for name in {*store.instance_types, *filter(None, types)}:
        assert store.type_users(name) == types[name]
    assert [id for _, disk in store.disk_places() for id in [disk.id]] == list(store.disks)
    assert [item.id for _, item in store.instance_places()] == list(store.instances)
    for places in (store.disk_places(), store.instance_places()):
        given = [place for place, _ in places]
        assert given == sorted(set(given))
    assert set(store.instances_under_way()) == {
        item.instance for item in attachments if item.pending is not None
    }

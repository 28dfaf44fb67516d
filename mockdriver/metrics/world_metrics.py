"""Gauges of the present state, looked at when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

import mockdriver
from mockdriver.cloud import InstanceView, Operator, slots
from mockdriver.control.world import World
from mockdriver.driver import node_info
from mockdriver.driver.attachment_tags import is_out_of_band
from mockdriver.metrics import names
from mockdriver.metrics.names import Metric

MAX_NODES = 1_000
"""How many instances have series of their own: six each. The others are in the sums."""

USERS = ("boot", "network_interface", "csi", "out_of_band")
"""Who can use a slot."""

_PAGE = 200
"""Instances looked at together: the cloud's lock is held so long."""


class WorldMetrics(Collector):
    """Gauges of a world. Asking counts as no read of the cloud and as no call of its API."""

    def __init__(self, world: World) -> None:
        self._world = world

    def describe(self) -> Iterable[Family]:
        """Describe nothing: registering must not look through the cloud."""
        return ()

    def collect(self) -> Iterator[Family]:
        """Look at the world."""
        world = self._world
        gauges = _Gauges(world.driver.config.name)
        gauges.set(names.INFO, 1, mockdriver.__version__, world.loaded.name)
        gauges.set(names.IN_FLIGHT, world.journal.in_flight())
        for barrier in world.faults.barriers():
            gauges.set(names.HELD, barrier.held, barrier.name)
        self._collect_nodes(gauges)
        return gauges.families()

    def _collect_nodes(self, gauges: _Gauges) -> None:
        nodes, all_slots, all_users = 0, 0, Counter(dict.fromkeys(USERS, 0))
        for nodes, view in enumerate(_views(self._world.cloud.operator), start=1):
            users = slot_users(view)
            all_users.update(users)
            all_slots += view.type.slots or 0
            if nodes > MAX_NODES:
                continue
            id = view.description.instance.id
            if view.type.slots is not None:
                gauges.set(names.NODE_SLOTS, view.type.slots, id)
            for user in USERS:
                gauges.set(names.NODE_SLOT_USERS, users[user], id, user)
            limit = node_info.controller_flow(view.description, view.type).max_volumes_per_node
            gauges.set(names.NODE_MAX_VOLUMES, limit, id)
        gauges.set(names.NODES, nodes)
        gauges.set(names.NODES_SHOWN, min(nodes, MAX_NODES))
        gauges.set(names.SLOTS, all_slots)
        for user in USERS:
            gauges.set(names.SLOT_USERS, all_users[user], user)


def slot_users(view: InstanceView) -> Mapping[str, int]:
    """Return how many slots of an instance each kind of user has."""
    description, type_ = view.description, view.type
    users = Counter(dict.fromkeys(USERS, 0))
    users["network_interface"] = slots.interfaces_using_slots(
        type_, len(description.network_interfaces)
    )
    for item in description.attachments_using_slots(type_):
        if description.is_boot(item):
            users["boot"] += 1
        else:
            users["out_of_band" if is_out_of_band(item.tags) else "csi"] += 1
    return users


def _views(operator: Operator) -> Iterator[InstanceView]:
    after: int | None = 0
    while after is not None:
        page = operator.find_instances(lambda _: True, after=after, limit=_PAGE)
        yield from page.instances
        after = page.next_place


class _Gauges:
    """The gauges of one scrape, in the order of their first values."""

    def __init__(self, driver_name: str) -> None:
        self._driver_name = driver_name
        self._families: dict[str, GaugeMetricFamily] = {}

    def set(self, metric: Metric, value: float, *labels: str) -> None:
        """Give a gauge a value."""
        family = self._families.get(metric.name)
        if family is None:
            family = GaugeMetricFamily(metric.name, metric.help, labels=metric.all_labels)
            self._families[metric.name] = family
        family.add_metric([self._driver_name, *labels], value)

    def families(self) -> Iterator[Family]:
        """Return them as prometheus-client takes them."""
        return iter(self._families.values())

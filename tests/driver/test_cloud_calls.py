"""The calls of the cloud's API that a CSI call causes stand with it in the journal."""

from __future__ import annotations

from mockdriver.cloud import Quota, Transition
from mockdriver.driver.cloud_client import CloudClient
from mockdriver.driver.rpc_caller import RpcCaller
from mockdriver.journal import CloudCall, Entry
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import Peer, SmallDriver


def driver_over(region: SmallRegion) -> SmallDriver:
    """Return a driver with `vol` to publish on `i-1`."""
    region.add_instance(slots=3)
    region.add_disk("vol")
    return SmallDriver(region)


def last_entry(driver: SmallDriver) -> Entry:
    return driver.journal.entries()[-1]


def named(entry: Entry) -> list[tuple[str, tuple[str, ...], str]]:
    """Return the cloud calls of an entry without their durations."""
    return [(call.api, call.ids, call.error) for call in entry.cloud_calls]


def test_a_call_that_asks_nothing_of_the_cloud_has_none() -> None:
    driver = driver_over(SmallRegion())
    driver.call("GetPluginInfo")
    assert last_entry(driver).cloud_calls == ()


def test_cloud_calls_stand_in_their_order_with_the_ids_they_name() -> None:
    driver = driver_over(SmallRegion())
    driver.get_controller_info()
    assert named(last_entry(driver)) == [
        ("describe_instances", ("i-1",), ""),
        ("describe_types", ("type-of-i-1",), ""),
    ]


def test_each_api_names_the_ids_that_it_was_given() -> None:
    driver = driver_over(SmallRegion())
    volume = driver.new_volume()
    assert named(last_entry(driver))[-1] == ("create_disk", (), "")
    driver.publish(volume)
    assert ("attach", (volume, "i-1"), "") in named(last_entry(driver))
    driver.unpublish(volume)
    assert ("detach", (volume, "i-1"), "") in named(last_entry(driver))
    driver.delete(volume)
    assert ("delete_disk", (volume,), "") in named(last_entry(driver))


def test_a_refusal_of_the_cloud_is_recorded_by_its_name() -> None:
    driver = driver_over(SmallRegion())
    driver.get_controller_info("i-none")
    assert named(last_entry(driver)) == [
        ("describe_instances", ("i-none",), "InstanceNotFound"),
    ]


def test_the_journal_has_as_many_cloud_calls_as_the_cloud_counted() -> None:
    driver = driver_over(SmallRegion(attach=Transition(after_reads=3)))
    driver.publish("vol")
    apis = [call.api for call in last_entry(driver).cloud_calls]
    assert {api: apis.count(api) for api in apis} == driver.cloud_calls()


def test_durations_are_those_of_the_clock_of_the_runtime() -> None:
    driver = driver_over(SmallRegion(quotas={"attach": Quota(delay_seconds=1.5)}))
    driver.publish("vol")
    durations = {call.api: call.duration_seconds for call in last_entry(driver).cloud_calls}
    assert durations == {"attach": 1.5}


def test_retries_of_a_throttled_call_are_recorded_too() -> None:
    quota = Quota(burst=1, per_second=1)
    driver = driver_over(SmallRegion(quotas={"describe_instances": quota}))
    driver.get_controller_info()
    driver.get_controller_info()
    calls = named(last_entry(driver))
    throttled = ("describe_instances", ("i-1",), "Throttled")
    assert calls[0] == throttled
    assert calls[-2:] == [
        ("describe_instances", ("i-1",), ""),
        ("describe_types", ("type-of-i-1",), ""),
    ]
    assert set(calls[:-2]) == {throttled}
    counted = driver.cloud_calls()
    # Two of them were the first call's.
    assert len(calls) == counted["describe_instances"] + counted["describe_types"] - 2


def test_a_caller_that_leaves_during_a_cloud_call_is_recorded() -> None:
    driver = RacingDriver(0, quotas={"describe_instances": Quota(delay_seconds=10)})
    driver.region.add_instance(slots=3)
    peer = Peer()
    driver.run(lambda: driver.get_controller_info(peer=peer), driver.silently(3, peer.hang_up))
    assert last_entry(driver).cloud_calls == (
        CloudCall("describe_instances", ("i-1",), 3.0, "CallerGone"),
    )


def test_calls_that_run_at_once_record_their_own_cloud_calls() -> None:
    driver = RacingDriver(3, quotas={"describe_instances": Quota(delay_seconds=1)})
    for name in ("i-1", "i-2", "i-3"):
        driver.region.add_instance(name, slots=3)
    driver.run(*[lambda name=name: driver.get_controller_info(name) for name in ("i-1", "i-2")])
    for entry in driver.journal.entries():
        node = entry.request()["node_id"]
        assert [call.ids for call in entry.cloud_calls] == [(node,), (f"type-of-{node}",)]


def test_a_caller_without_a_call_records_nothing() -> None:
    region = SmallRegion()
    region.add_instance()
    client = CloudClient(region.api, region.runtime)
    assert client.describe_instance("i-1", region.caller).instance.id == "i-1"


def test_a_service_method_is_called_with_the_entry_of_its_call() -> None:
    driver = driver_over(SmallRegion())
    seen: list[RpcCaller] = []
    api = driver.region.api
    original = api.describe_instances

    def spying(ids, caller):  # type: ignore[no-untyped-def]
        seen.append(caller)
        return original(ids, caller)

    api.describe_instances = spying  # type: ignore[method-assign]
    driver.get_controller_info()
    assert [caller.entry for caller in seen] == [last_entry(driver)]

"""Quotas of the cloud's APIs: burst, refill, ids per call, delay, and the count of calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.cloud import API_NAMES, Caller, Quota
from mockdriver.cloud.errors import CallerGone, CloudError, Throttled, TooManyIds
from mockdriver.cloud.token_bucket import TokenBucket
from mockdriver.runtime import SeededRuntime
from tests.cloud.small_region import ZONE, SmallRegion


def region_with(name: str, quota: Quota) -> SmallRegion:
    region = SmallRegion(quotas={name: quota})
    region.add_instance("i-1")
    region.add_disk("vol")
    return region


def allowed(region: SmallRegion, attempts: int) -> int:
    """Return how many of `attempts` describe calls are not throttled."""
    passed = 0
    for _ in range(attempts):
        try:
            region.describe()
        except Throttled:
            continue
        passed += 1
    return passed


# -------------------------------------------------------------------------------- burst and refill


def test_without_a_quota_no_call_is_throttled() -> None:
    region = SmallRegion()
    region.add_instance()
    assert allowed(region, 500) == 500


@pytest.mark.parametrize("burst", [1, 5, 20])
def test_a_burst_allows_as_many_calls_at_once_and_no_more(burst: int) -> None:
    assert allowed(region_with("describe_instances", Quota(burst=burst)), 50) == burst


def test_a_throttled_call_names_its_api() -> None:
    region = region_with("describe_instances", Quota(burst=0))
    with pytest.raises(Throttled) as refusal:
        region.describe()
    assert refusal.value.api == "describe_instances"


def test_tokens_come_back_at_a_steady_rate() -> None:
    region = region_with("describe_instances", Quota(burst=10, per_second=2))
    assert allowed(region, 20) == 10
    region.runtime.advance(0.4)
    assert allowed(region, 20) == 0
    region.runtime.advance(0.1)
    assert allowed(region, 20) == 1
    region.runtime.advance(3)
    assert allowed(region, 20) == 6


def test_tokens_never_exceed_the_burst() -> None:
    region = region_with("describe_instances", Quota(burst=3, per_second=10))
    region.runtime.advance(1_000)
    assert allowed(region, 20) == 3


def test_a_burst_without_a_rate_never_comes_back() -> None:
    region = region_with("describe_instances", Quota(burst=1))
    assert allowed(region, 5) == 1
    region.runtime.advance(1_000_000)
    assert allowed(region, 5) == 0


def test_throttled_calls_do_not_delay_the_next_token() -> None:
    region = region_with("describe_instances", Quota(burst=1, per_second=1))
    assert allowed(region, 1) == 1
    for _ in range(10):
        region.runtime.advance(0.1)
        passed = allowed(region, 1)
    assert passed == 1


def test_ten_tenths_of_a_token_are_a_whole_one() -> None:
    bucket = TokenBucket(Quota(burst=1, per_second=1), now_seconds=0.0)
    assert bucket.take(0.0)
    moments = [0.1 * step for step in range(1, 10)]
    assert [bucket.take(moment) for moment in moments] == [False] * 9
    # The sum of ten steps of 0.1 is less than 1 in binary fractions.
    assert bucket.take(sum([0.1] * 10))


def test_each_api_has_a_bucket_of_its_own() -> None:
    region = region_with("describe_instances", Quota(burst=1))
    assert allowed(region, 5) == 1
    region.api.describe_disks(["vol"], region.caller)
    region.publish("vol")


def test_a_new_quota_comes_with_a_full_bucket() -> None:
    region = region_with("describe_instances", Quota(burst=2))
    assert allowed(region, 5) == 2
    region.api.set_quota("describe_instances", Quota(burst=4))
    assert allowed(region, 9) == 4
    region.api.set_quota("describe_instances", Quota())
    assert allowed(region, 9) == 9


def test_the_operator_has_no_quota() -> None:
    region = SmallRegion(quotas=dict.fromkeys(API_NAMES, Quota(burst=0)))
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.detach("vol", "i-1")
    assert region.operator.attachments("i-1") == []


def test_a_throttled_attach_attaches_nothing() -> None:
    region = region_with("attach", Quota(burst=0))
    with pytest.raises(Throttled):
        region.publish("vol")
    assert region.attached() == []


CALLS: dict[str, Callable[[SmallRegion], object]] = {
    "describe_instances": lambda region: region.describe(),
    "describe_types": lambda region: region.api.describe_types(["type-of-i-1"], region.caller),
    "describe_disks": lambda region: region.api.describe_disks(["vol"], region.caller),
    "attach": lambda region: region.publish("vol"),
    "detach": lambda region: region.unpublish("vol"),
    "create_disk": lambda region: region.api.create_disk(ZONE, 10, region.caller),
    "delete_disk": lambda region: region.api.delete_disk("vol", region.caller),
}


def test_every_api_that_has_a_name_is_tried_here() -> None:
    assert tuple(CALLS) == API_NAMES


@pytest.mark.parametrize("name", API_NAMES)
def test_every_api_can_be_throttled(name: str) -> None:
    region = region_with(name, Quota(burst=0))
    with pytest.raises(Throttled) as refusal:
        CALLS[name](region)
    assert refusal.value.api == name


def test_a_search_by_tag_is_a_call_of_describe_disks() -> None:
    region = region_with("describe_disks", Quota(burst=1))
    region.api.find_disks("name", "a", region.caller)
    with pytest.raises(Throttled):
        region.api.find_disks("name", "a", region.caller)
    assert region.api.calls()["describe_disks"] == 2


# ------------------------------------------------------------------------------------ ids per call


def test_a_call_may_name_as_many_ids_as_the_quota_says_and_no_more() -> None:
    region = region_with("describe_instances", Quota(max_ids=2))
    assert len(region.api.describe_instances(["i-1", "i-1"], region.caller)) == 2
    with pytest.raises(TooManyIds) as refusal:
        region.api.describe_instances(["i-1"] * 3, region.caller)
    assert (refusal.value.api, refusal.value.given, refusal.value.max_ids) == (
        "describe_instances",
        3,
        2,
    )


def test_a_call_with_too_many_ids_is_counted_and_takes_a_token() -> None:
    region = region_with("describe_disks", Quota(burst=1, max_ids=1))
    with pytest.raises(TooManyIds):
        region.api.describe_disks(["vol", "vol"], region.caller)
    with pytest.raises(Throttled):
        region.api.describe_disks(["vol"], region.caller)
    assert region.api.calls()["describe_disks"] == 2


# ------------------------------------------------------------------------------------------ delay


@pytest.mark.parametrize("name", API_NAMES)
def test_every_call_takes_its_delay(name: str) -> None:
    region = region_with(name, Quota(delay_seconds=0.05))
    if name == "detach":
        region.operator.attach("vol", "i-1")
    CALLS[name](region)
    assert region.runtime.now() == pytest.approx(0.05)


def test_a_call_shows_the_state_at_the_end_of_its_delay() -> None:
    runtime = SeededRuntime(seed=1)
    region = SmallRegion(runtime=runtime, quotas={"describe_instances": Quota(delay_seconds=5)})
    region.add_instance()
    region.add_disk("vol")
    seen: list[int] = []

    def describe() -> None:
        seen.append(len(region.describe().attachments))

    def attach_in_the_middle() -> None:
        Caller(runtime).sleep_until(2)
        region.operator.attach("vol", "i-1")

    runtime.run(describe, attach_in_the_middle)
    assert seen == [1]
    assert runtime.now() == 5


def test_a_call_that_takes_long_keeps_no_other_from_happening() -> None:
    runtime = SeededRuntime(seed=1)
    region = SmallRegion(runtime=runtime, quotas={"attach": Quota(delay_seconds=60)})
    region.add_instance()
    region.add_disk("vol")
    described_at: list[float] = []

    def describe() -> None:
        region.api.describe_instances(["i-1"], Caller(runtime))
        described_at.append(runtime.now())

    def publish() -> None:
        region.publish("vol")

    runtime.run(publish, describe)
    assert described_at == [0]
    assert region.attached() == ["vol"]


def test_a_caller_that_leaves_during_the_delay_changes_nothing() -> None:
    runtime = SeededRuntime(seed=1)
    region = SmallRegion(runtime=runtime, quotas={"attach": Quota(delay_seconds=60)})
    region.add_instance()
    region.add_disk("vol")

    def publish() -> None:
        with pytest.raises(CallerGone):
            region.publish("vol")

    def leave() -> None:
        Caller(runtime).sleep_until(1)
        region.caller.leave()

    runtime.run(publish, leave)
    assert region.attached() == []
    assert runtime.now() == 1


# ---------------------------------------------------------------------------------- count of calls


def test_before_the_first_call_each_api_counts_zero() -> None:
    assert SmallRegion().api.calls() == dict.fromkeys(API_NAMES, 0)


@pytest.mark.parametrize("name", API_NAMES)
@pytest.mark.parametrize("quota", [None, Quota(burst=100)], ids=["no quota", "a quota"])
def test_each_call_counts_for_its_api_alone(name: str, quota: Quota | None) -> None:
    region = SmallRegion(quotas={} if quota is None else {name: quota})
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    if name == "delete_disk":
        region.operator.detach("vol", "i-1")
    CALLS[name](region)
    assert region.api.calls() == dict.fromkeys(API_NAMES, 0) | {name: 1}


def test_throttled_calls_are_counted() -> None:
    region = region_with("describe_instances", Quota(burst=2))
    assert allowed(region, 7) == 2
    assert region.api.calls()["describe_instances"] == 7


def test_refused_calls_are_counted() -> None:
    region = SmallRegion()
    for _ in range(3):
        with pytest.raises(CloudError):
            region.describe("i-unknown")
    assert region.api.calls()["describe_instances"] == 3


def test_what_the_operator_does_is_not_counted() -> None:
    region = SmallRegion()
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.attachments("i-1")
    region.operator.detach("vol", "i-1")
    assert region.api.calls() == dict.fromkeys(API_NAMES, 0)


def test_counts_that_were_handed_out_do_not_change_afterwards() -> None:
    region = SmallRegion()
    region.add_instance()
    before = region.api.calls()
    region.describe()
    assert before["describe_instances"] == 0

"""A wrong expectation is found, whatever it is about, and its mismatch tells both sides."""

from __future__ import annotations

import pytest

from tests.play.stories import goes_well, mismatches

BOOT_DISK_ONLY = "register: {node: i-1}"

WRONG = [
    (
        BOOT_DISK_ONLY,
        "{max_volumes_per_node: 5}",
        "max_volumes_per_node is 4, want 5",
    ),
    (BOOT_DISK_ONLY, "{effective_limit: 4}", "effective_limit is 3, want 4"),
    (BOOT_DISK_ONLY, "{effective_limit: null}", "effective_limit is 3, want unset"),
    (BOOT_DISK_ONLY, "{node_id: i-2}", "node_id is i-1, want i-2"),
    (
        BOOT_DISK_ONLY,
        "{published_volume_ids: 0}",
        "published_volume_ids are 1 [vol-boot], want 0",
    ),
    (
        BOOT_DISK_ONLY,
        "{published_volume_ids: []}",
        "published_volume_ids have besides 1 [vol-boot]",
    ),
    (
        BOOT_DISK_ONLY,
        "{published_volume_ids: [vol-boot, vol-2]}",
        "published_volume_ids lack 1 [vol-2]",
    ),
    (
        BOOT_DISK_ONLY,
        "{accessible_topology: {topology.mock.csi.example.com/zone: a}}",
        (
            "accessible_topology is {topology.mock.csi.example.com/region: region-1, "
            "topology.mock.csi.example.com/zone: a}, want {topology.mock.csi.example.com/zone: a}"
        ),
    ),
    (BOOT_DISK_ONLY, "{code: NOT_FOUND}", "codes are OK: 1, want NOT_FOUND: 1"),
    (BOOT_DISK_ONLY, "{OK: 0}", "codes are OK: 1, want none"),
    (BOOT_DISK_ONLY, "{OK: 2}", "codes are OK: 1, want OK: 2"),
    (BOOT_DISK_ONLY, "{UNAVAILABLE: 1}", "codes are OK: 1, want UNAVAILABLE: 1"),
    (
        BOOT_DISK_ONLY,
        "{cloud_calls: {describe_instances: 2}}",
        "1 calls of describe_instances, want == 2",
    ),
    (
        BOOT_DISK_ONLY,
        '{cloud_calls: {describe_types: "< 1"}}',
        "1 calls of describe_types, want < 1",
    ),
    (
        BOOT_DISK_ONLY,
        '{cloud_calls: {attach: "> 0"}}',
        "0 calls of attach, want > 0",
    ),
    (
        "refresh: {node: i-none}",
        "{}",
        "codes are NOT_FOUND: 1, want OK: 1 (no instance has the id 'i-none')",
    ),
    (
        "publish: {node: i-1, count: 4}",
        "{OK: 3}",
        (
            "codes are OK: 3, RESOURCE_EXHAUSTED: 1, want OK: 3 "
            "(instance 'i-1' has 4 slots and 4 slot users)"
        ),
    ),
    (
        "publish: {node: i-1, count: 4, concurrent: true}",
        "{OK: 4}",
        (
            "codes are OK: 3, RESOURCE_EXHAUSTED: 1, want OK: 4 "
            "(instance 'i-1' has 4 slots and 4 slot users)"
        ),
    ),
    (
        "publish: {node: i-1, count: 2}",
        "{code: OK}",
        "codes are OK: 2, want OK: 1",
    ),
    (
        "publish: {node: i-1, count: 1}",
        "{publish_context: {devicePath: /dev/xvda}}",
        "publish_context is {}, want {devicePath: /dev/xvda}",
    ),
    (
        "unpublish: {volume: vol-boot, node: i-1}",
        "{OK: 1}",
        (
            "codes are FAILED_PRECONDITION: 1, want OK: 1 "
            "(disk 'vol-boot' is the boot disk of its instance)"
        ),
    ),
    (
        "create_volume: {name: data}",
        "{volume_id: vol-7}",
        "volume_id is vol-00000001, want vol-7",
    ),
    (
        "create_volume: {name: data}",
        "{capacity_bytes: 1}",
        "capacity_bytes is 10737418240, want 1",
    ),
    (
        "attach: {instance: i-1, count: 1}",
        "{error: SlotsExhausted}",
        "the cloud's error is none, want SlotsExhausted",
    ),
    (
        "attach: {instance: i-1, count: 4}",
        "{error: AlreadyAttached}",
        (
            "the cloud's error is SlotsExhausted, want AlreadyAttached "
            "(instance 'i-1' has 4 slots and 4 slot users)"
        ),
    ),
    (
        "attach: {instance: i-1, count: 1}",
        "{RESOURCE_EXHAUSTED: 1}",
        "codes are OK: 1, want RESOURCE_EXHAUSTED: 1",
    ),
    (
        "attach: {instance: i-1, count: 4}",
        "{OK: 1}",
        (
            "codes are RESOURCE_EXHAUSTED: 1, want OK: 1 "
            "(instance 'i-1' has 4 slots and 4 slot users)"
        ),
    ),
]


@pytest.mark.parametrize(("step", "expect", "mismatch"), WRONG)
def test_a_wrong_expectation_is_a_mismatch_that_tells_both_sides(
    step: str, expect: str, mismatch: str
) -> None:
    assert mismatches(f"- {step}\n  expect: {expect}") == {1: [mismatch]}


def test_all_mismatches_of_a_step_are_told() -> None:
    steps = """
        - register: {node: i-1}
          expect: {code: OK, max_volumes_per_node: 1, effective_limit: 1, published_volume_ids: [x]}
    """

    assert mismatches(steps) == {
        1: [
            "max_volumes_per_node is 4, want 1",
            "published_volume_ids lack 1 [x]",
            "published_volume_ids have besides 1 [vol-boot]",
            "effective_limit is 3, want 1",
        ]
    }


def test_an_answer_that_failed_has_no_fields() -> None:
    steps = """
        - refresh: {node: i-none}
          expect: {code: NOT_FOUND, max_volumes_per_node: 0, effective_limit: null}
    """

    assert mismatches(steps) == {
        1: [
            "the answer has no max_volumes_per_node, want 0",
            "the answer has no effective_limit, want unset",
        ]
    }


def test_a_step_that_fails_does_not_end_the_story() -> None:
    steps = """
        - refresh: {node: i-none}
        - refresh: {node: i-1}
        - refresh: {node: i-none}
    """

    assert list(mismatches(steps)) == [1, 3]


def test_a_set_of_ids_has_no_order() -> None:
    goes_well("""
        - attach: {instance: i-1, disk: vol-a}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-boot, vol-a]}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-a, vol-boot]}
    """)


def test_a_count_of_nothing_is_an_expectation_too() -> None:
    goes_well("""
        - publish: {node: i-1, count: 4}
          expect: {OK: 3, RESOURCE_EXHAUSTED: 1, NOT_FOUND: 0}
        - refresh: {node: i-none}
          expect: {OK: 0, NOT_FOUND: 1}
    """)


def test_long_lists_are_cut_in_a_mismatch() -> None:
    found = mismatches(
        "- refresh: {node: i-1}\n  expect: {published_volume_ids: 1}",
        "{instances: [{id: i-1, attached: 500}]}",
    )

    assert found == {
        1: [
            (
                "published_volume_ids are 500 "
                "[i-1-attached-1, i-1-attached-10, i-1-attached-100, …], want 1"
            )
        ]
    }


def test_each_message_of_failed_calls_is_told_once() -> None:
    found = mismatches("- publish: {node: i-1, count: 50, concurrent: true}")

    assert found == {
        1: [
            (
                "codes are OK: 3, RESOURCE_EXHAUSTED: 47, want OK: 50 "
                "(instance 'i-1' has 4 slots and 4 slot users)"
            )
        ]
    }


@pytest.mark.parametrize("expect", ["{code: RESOURCE_EXHAUSTED}", "{RESOURCE_EXHAUSTED: 1}"])
def test_a_refusal_of_the_cloud_can_be_expected_by_the_code_that_it_becomes(expect: str) -> None:
    assert mismatches(f"- attach: {{instance: i-1, count: 4}}\n  expect: {expect}") == {}


@pytest.mark.parametrize("expect", ["{code: OK}", "{OK: 1}"])
def test_an_out_of_band_step_that_is_done_can_be_expected_as_ok(expect: str) -> None:
    assert mismatches(f"- attach: {{instance: i-1, count: 1}}\n  expect: {expect}") == {}


def test_an_empty_publish_context_can_be_expected() -> None:
    step = "- publish: {node: i-1, count: 1}\n  expect: {publish_context: {}}"
    assert mismatches(step) == {}

"""The verbs of the cloud, one by one: what happens without the CO and without the driver."""

from __future__ import annotations

import pytest

from tests.play.stories import goes_well, mismatches


def cloud(attach: str = "immediately", detach: str = "immediately") -> str:
    """Return a cloud in which attaching and detaching take this long."""
    return f"""
        instance_types: {{t: {{slots: 4}}}}
        instances: [{{id: i-1, type: t, attached: [vol-manual], published: 1}}, {{id: i-2}}]
        disks: [{{id: vol-spare}}]
        transitions: {{attach: {attach}, detach: {detach}}}
    """


def test_attach_puts_a_disk_there_out_of_band() -> None:
    goes_well(
        """
        - attach: {instance: i-1, disk: vol-spare}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 2}
        # A disk that was not there is made, in the instance's zone.
        - attach: {instance: i-2, disk: vol-new}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [vol-new]}
        """,
        cloud(),
    )


def test_attach_takes_a_count_of_new_disks() -> None:
    goes_well(
        """
        - attach: {instance: i-2, count: 2}
        - attach: {instance: i-2, count: 1}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [i-2-attached-1, i-2-attached-2, i-2-attached-3]}
        """,
        cloud(),
    )


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("attach: {instance: i-1, count: 3}", "SlotsExhausted"),
        ("attach: {instance: i-1, disk: vol-manual}", "AlreadyAttached"),
        ("attach: {instance: i-2, disk: vol-manual}", "TooManyAttachments"),
        ("attach: {instance: i-none, disk: vol-spare}", "InstanceNotFound"),
        ("detach: {instance: i-1, disk: vol-spare}", "NotAttached"),
        ("detach: {instance: i-1, disk: vol-none}", "DiskNotFound"),
        ("remove_network_interface: {instance: i-1, count: 2}", "NetworkInterfaceNotFound"),
        ("add_instance: {id: i-1}", "AlreadyExists"),
        ("terminate_instance: {instance: i-none}", "InstanceNotFound"),
        ("edit_instance_type: {instance: i-1, type: none}", "InstanceTypeNotFound"),
        ("edit_instance_type: {type: none, slots: 3}", "InstanceTypeNotFound"),
    ],
)
def test_what_the_cloud_refuses_can_be_expected(step: str, error: str) -> None:
    goes_well(f"- {step}\n  expect: {{error: {error}}}", cloud())


def test_a_refusal_that_nobody_expects_is_a_mismatch_with_the_clouds_words() -> None:
    assert mismatches("- attach: {instance: i-1, disk: vol-manual}", cloud()) == {
        1: [
            (
                "the cloud's error is AlreadyAttached, want none "
                "(disk 'vol-manual' is attached to instance 'i-1' already)"
            )
        ]
    }


def test_detach_takes_away_what_it_names_also_the_cos_own() -> None:
    goes_well(
        """
        - detach: {instance: i-1, disk: i-1-published-1}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-manual]}
        """,
        cloud(),
    )


def test_detach_counts_the_oldest_disks_that_the_co_did_not_publish() -> None:
    goes_well(
        """
        - attach: {instance: i-1, count: 2}
        - detach: {instance: i-1, count: 2}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [i-1-published-1, i-1-attached-2]}
        """,
        cloud(),
    )


def test_detach_of_more_than_there_are_is_no_pass() -> None:
    assert mismatches("- detach: {instance: i-1, count: 2}", cloud()) == {
        1: ["1 disks are attached to i-1 out of band, cannot detach 2"]
    }


def test_attach_and_detach_end_with_their_transition() -> None:
    # Reading is what ends no transition here: the clock has gone on by itself.
    goes_well(
        """
        - attach: {instance: i-1, disk: vol-spare}
        - detach: {instance: i-1, disk: vol-spare}
        - attach: {instance: i-2, disk: vol-spare}
        - detach: {instance: i-1, disk: vol-manual}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [i-1-published-1]}
        """,
        cloud("after 1h", "after 2h"),
    )


def test_without_waiting_a_transition_stays_under_way_until_its_time() -> None:
    goes_well(
        """
        - detach: {instance: i-1, disk: vol-manual, wait: false}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-manual, i-1-published-1]}
        - attach: {instance: i-1, disk: vol-manual}
          expect: {error: TransitionUnderWay}
        - advance: 119s
        - refresh: {node: i-1}
          expect: {published_volume_ids: 2}
        - advance: 1s
        - refresh: {node: i-1}
          expect: {published_volume_ids: 1}
        """,
        cloud(detach="after 2m"),
    )


def test_a_held_detach_ends_with_its_release() -> None:
    goes_well(
        """
        - detach: {instance: i-1, disk: vol-manual, wait: false}
        - advance: 1000h
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-manual, i-1-published-1]}
        - release: {}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [i-1-published-1]}
        """,
        cloud(detach="held"),
    )


def test_a_held_attach_ends_with_its_release() -> None:
    goes_well(
        """
        - attach: {instance: i-1, disk: vol-spare, wait: false}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3}
        - release: {instance: i-1, disk: vol-spare}
        # It would wait for ever if the disk were still on its way.
        - publish: {node: i-1, volume: vol-spare}
        """,
        cloud(attach="held"),
    )


def test_release_can_be_of_one_instance_or_one_disk() -> None:
    goes_well(
        """
        - attach: {instance: i-2, count: 2}
        - detach: {instance: i-1, disk: vol-manual, wait: false}
        - detach: {instance: i-2, count: 2, wait: false}
        - release: {disk: i-2-attached-1}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [i-2-attached-2]}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 2}
        - release: {instance: i-1}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 1}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 1}
        - release:
        - refresh: {node: i-2}
          expect: {published_volume_ids: 0}
        """,
        cloud(detach="held"),
    )


@pytest.mark.parametrize(("how", "needed"), [("held", "a release"), ("after 3 reads", "reads")])
def test_a_step_that_would_wait_for_ever_says_so(how: str, needed: str) -> None:
    steps = """
        - attach: {instance: i-2, disk: vol-spare}
        - detach: {instance: i-1, disk: vol-manual}
    """

    assert mismatches(steps, cloud(how, how)) == {
        number: [
            (
                f"disk {disk} stays {state} until {needed}, which cannot come while this step "
                "waits; say wait: false"
            )
        ]
        for number, disk, state in [(1, "vol-spare", "attaching"), (2, "vol-manual", "detaching")]
    }


def test_a_transition_can_end_with_reads() -> None:
    goes_well(
        """
        - detach: {instance: i-1, disk: vol-manual, wait: false}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 2}
        - node_info: {node: i-1}
          expect: {max_volumes_per_node: 3}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 1}
        """,
        cloud(detach="after 2 reads"),
    )


SHARING = """
    instance_types: {t: {slots: 6, network_interfaces_share_slots: true}}
    instances: [{id: i-1, type: t, network_interfaces: 2}]
"""


def test_interfaces_come_and_go() -> None:
    goes_well(
        """
        - add_network_interface: {instance: i-1}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 3}
        - add_network_interface: {instance: i-1, count: 10}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 1}
        - remove_network_interface: {instance: i-1, count: 12}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 5}
        - remove_network_interface: {instance: i-1}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 6}
        """,
        SHARING,
    )


def test_a_new_instance_comes_with_what_is_on_it_and_the_co_knows_what_it_published() -> None:
    goes_well(
        """
        - add_instance:
            id: i-new
            type: t
            network_interfaces: 2
            boot_disk: vol-boot
            attached: [vol-a]
            published: 2
        - register: {node: i-new}
          expect:
            max_volumes_per_node: 4
            published_volume_ids: [vol-boot, vol-a, i-new-published-1, i-new-published-2]
            effective_limit: 2
        - unpublish: {node: i-new, count: 2}
        - publish: {node: i-new, count: 3}
          expect: {OK: 2, RESOURCE_EXHAUSTED: 1}
        """,
        SHARING,
    )


def test_a_terminated_instance_is_gone_and_its_volumes_are_free() -> None:
    goes_well(
        """
        - create_volume: {name: data}
        - publish: {node: i-1, volume: data}
        - terminate_instance: {instance: i-1}
        - refresh: {node: i-1}
          expect: {code: NOT_FOUND}
        - publish: {node: i-1, volume: data}
          expect: {code: NOT_FOUND}
        - unpublish: {node: i-1, volume: data}
        - publish: {node: i-2, volume: data}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [vol-00000001]}
        """,
        cloud(),
    )


def test_a_type_can_be_changed_for_all_its_instances() -> None:
    goes_well(
        """
        - edit_instance_type: {type: t, slots: 10, network_interfaces_share_slots: false}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 10, effective_limit: 10}
        - edit_instance_type: {type: t, slots: null}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 0, effective_limit: null}
        - edit_instance_type: {type: t, network_interfaces_share_slots: true, slots: 7}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 5}
        """,
        SHARING,
    )


def test_an_instance_can_get_another_type() -> None:
    goes_well(
        """
        - edit_instance_type: {instance: i-1, type: large}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 9}
        - refresh: {node: i-2}
          expect: {max_volumes_per_node: 2}
        """,
        """
        instance_types: {small: {slots: 2}, large: {slots: 9}}
        instances: [{id: i-1, type: small}, {id: i-2, type: small}]
        """,
    )


def test_a_quota_can_be_set_and_lifted() -> None:
    goes_well(
        """
        - set_quota: {describe_instances: {burst: 0, per_second: 0}}
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - publish: {node: i-1, volume: vol-spare}
        - set_quota:
            attach: {burst: 1, per_second: 0.001}
            describe_instances: {burst: 9, per_second: 9}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3}
        - publish: {node: i-1, count: 2}
          expect: {OK: 1, UNAVAILABLE: 1}
        """,
        cloud(),
    )


def test_a_driver_that_starts_again_finds_its_cloud_as_it_was() -> None:
    goes_well(
        """
        - create_volume: {name: data}
        - publish: {node: i-1, volume: data, readonly: true}
        - detach: {instance: i-1, disk: vol-manual, wait: false}
        - restart_driver: {}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3, effective_limit: 3}
        - publish: {node: i-1, volume: data}
          expect: {code: ALREADY_EXISTS}
        - create_volume: {name: data}
          expect: {volume_id: vol-00000001}
        - release:
        - restart_driver: {state: keep}
        - register: {node: i-1}
          expect: {published_volume_ids: 2, effective_limit: 4}
        """,
        cloud(detach="held"),
    )


def test_a_driver_that_loses_its_state_starts_the_scenario_over() -> None:
    goes_well(
        """
        - create_volume: {name: data}
        - publish: {node: i-1, volume: data}
        - unpublish: {node: i-1, volume: i-1-published-1}
        - add_network_interface: {instance: i-1, count: 3}
        - restart_driver: {state: lose}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-manual, i-1-published-1], effective_limit: 3}
        - publish: {node: i-1, volume: data}
          expect: {code: NOT_FOUND}
        - create_volume: {name: data}
          expect: {volume_id: vol-00000001}
        """,
        cloud(),
    )


def test_calls_of_the_cloud_are_counted_from_the_steps_begin() -> None:
    goes_well(
        """
        - refresh: {node: i-1}
          expect: {cloud_calls: {describe_instances: 1, describe_types: "== 1", attach: 0}}
        - refresh: {node: i-1}
          expect: {cloud_calls: {describe_instances: "<= 1", describe_types: ">= 1"}}
        - publish: {node: i-1, count: 2}
          expect: {cloud_calls: {attach: "< 3", describe_disks: "<2", create_disk: 0}}
        # What an operator does is no call of the driver's.
        - detach: {instance: i-1, disk: vol-manual}
          expect: {cloud_calls: {detach: 0}}
        - restart_driver: {state: lose}
          expect: {cloud_calls: {describe_instances: 0, attach: 0}}
        """,
        cloud(),
    )


def test_the_id_of_a_terminated_instance_can_be_given_again() -> None:
    assert (
        mismatches(
            "- terminate_instance: {instance: i-1}\n"
            "- add_instance: {id: i-1}\n"
            "- refresh: {node: i-1}\n  expect: {published_volume_ids: 0, effective_limit: null}"
        )
        == {}
    )


def test_an_unknown_instance_can_be_expected_by_code() -> None:
    assert mismatches("- attach: {instance: i-none, disk: d}\n  expect: {code: NOT_FOUND}") == {}


def test_an_instance_that_was_refused_can_be_added_afterwards() -> None:
    goes_well(
        """
        - add_instance: {id: k, type: t, attached: 5}
          expect: {error: SlotsExhausted}
        - add_instance: {id: k, type: t, attached: 2}
        - refresh: {node: k}
          expect: {published_volume_ids: 2}
        """,
        cloud(),
    )


def test_an_instance_that_was_added_is_gone_when_the_scenario_starts_over() -> None:
    goes_well(
        """
        - add_instance: {id: k}
        - restart_driver: {state: lose}
        - add_instance: {id: k}
        """,
        cloud(),
    )

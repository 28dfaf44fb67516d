"""The verbs of the CO, one by one."""

from __future__ import annotations

from tests.play.stories import goes_well, mismatches

PLAIN = "{capabilities: {node: {NODE_INFO_FROM_CONTROLLER: false}}}"


def test_register_asks_node_and_controller() -> None:
    goes_well("""
        - register: {node: i-2}
          expect:
            node_id: i-2
            max_volumes_per_node: 4
            published_volume_ids: []
            effective_limit: 4
            accessible_topology:
              topology.mock.csi.example.com/zone: b
              topology.mock.csi.example.com/region: region-1
            cloud_calls: {describe_instances: 1, describe_types: 1}
    """)


def test_register_without_the_nodes_capability_goes_the_plain_way() -> None:
    goes_well(
        """
        - attach: {instance: i-1, count: 1}
        - publish: {node: i-1, count: 1}
        # 4 slots less boot disk and attached disk; the CO's own volume does not count.
        - register: {node: i-1}
          expect:
            node_id: i-1
            max_volumes_per_node: 2
            effective_limit: 2
            accessible_topology:
              topology.mock.csi.example.com/zone: a
              topology.mock.csi.example.com/region: region-1
        """,
        driver=PLAIN,
    )


def test_the_plain_way_lists_no_ids() -> None:
    steps = """
        - register: {node: i-1}
          expect: {published_volume_ids: 1}
    """

    assert mismatches(steps, driver=PLAIN) == {
        1: ["the answer has no published_volume_ids, want 1"]
    }


def test_register_on_a_driver_that_is_broken_on_purpose_is_unimplemented() -> None:
    goes_well(
        """
        - register: {node: i-1}
          expect: {code: UNIMPLEMENTED}
        """,
        driver="{capabilities: {controller: {GET_NODE_INFO: false}}}",
    )


THROTTLED = """
    instances: [{id: i-1}]
    api: {describe_instances: {burst: 1, per_second: 0.02}}
"""
"""One call, and then one every 50 seconds: longer than the driver's client waits."""


def test_register_comes_back_until_the_cloud_answers() -> None:
    goes_well(
        """
        - refresh: {node: i-1}
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - register: {node: i-1}
          expect: {OK: 1, node_id: i-1, cloud_calls: {describe_instances: "> 10"}}
        """,
        THROTTLED,
    )


def test_register_gives_up_after_ten_retries() -> None:
    goes_well(
        """
        - register: {node: i-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
          expect: {UNAVAILABLE: 1}
        """,
        "{instances: [{id: i-1}], api: {describe_instances: {burst: 0, per_second: 0}}}",
    )


def test_only_register_comes_back() -> None:
    goes_well(
        """
        - refresh: {node: i-1}
        - node_info: {node: i-1}
          expect: {code: UNAVAILABLE}
        """,
        THROTTLED,
    )


def test_refresh_of_an_unknown_node_is_not_found() -> None:
    goes_well("""
        - refresh: {node: i-none}
          expect: {code: NOT_FOUND}
        - refresh: {node: vol-boot}
          expect: {NOT_FOUND: 1}
    """)


def test_node_info_is_the_plain_flow_whatever_the_capabilities() -> None:
    goes_well("""
        - attach: {instance: i-1, count: 1}
        - node_info: {node: i-1}
          expect: {node_id: i-1, max_volumes_per_node: 2, effective_limit: 2}
        - refresh: {node: i-1}
          expect: {max_volumes_per_node: 4, effective_limit: 2}
    """)


def test_publish_makes_its_volumes_in_the_nodes_zone_before_it_counts() -> None:
    goes_well("""
        - publish: {node: i-2, count: 3}
          expect: {OK: 3, cloud_calls: {create_disk: 0, describe_disks: 0, attach: 3}}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [vol-00000001, vol-00000002, vol-00000003]}
    """)


def test_publish_goes_on_after_a_failure() -> None:
    goes_well("""
        - publish: {node: i-2, count: 6}
          expect: {OK: 4, RESOURCE_EXHAUSTED: 2}
        - publish: {node: i-1, count: 7, concurrent: true}
          expect: {OK: 3, RESOURCE_EXHAUSTED: 4}
    """)


def test_publish_takes_a_disk_or_the_name_of_a_volume() -> None:
    goes_well("""
        - create_volume: {name: data, zone: a}
          expect: {volume_id: vol-00000001}
        - publish: {node: i-1, volume: data}
        - publish: {node: i-1, volume: vol-00000001}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-boot, vol-00000001]}
        - publish: {node: i-1, volume: never-made}
          expect: {code: NOT_FOUND}
    """)


def test_a_publish_is_repeated_as_it_was_or_it_exists_already() -> None:
    goes_well("""
        - create_volume: {name: data, zone: a}
        - publish: {node: i-1, volume: data, readonly: true}
        - publish: {node: i-1, volume: data, readonly: true}
          expect: {code: OK}
        - publish: {node: i-1, volume: data}
          expect: {code: ALREADY_EXISTS}
        - publish: {node: i-1, volume: data, readonly: true, access_mode: SINGLE_NODE_READER_ONLY}
          expect: {code: ALREADY_EXISTS}
    """)


def test_an_access_mode_that_is_none_is_an_invalid_argument() -> None:
    goes_well("""
        - create_volume: {name: data, access_mode: UNKNOWN}
          expect: {code: INVALID_ARGUMENT}
        - create_volume: {name: data, zone: a}
        - publish: {node: i-1, volume: data, access_mode: UNKNOWN}
          expect: {code: INVALID_ARGUMENT}
    """)


def test_publish_says_why_there_is_no_volume_to_publish() -> None:
    steps = """
        - publish: {node: i-1, count: 2}
          expect: {OK: 2}
    """
    driver = "{capabilities: {controller: {CREATE_DELETE_VOLUME: false}}}"

    found = mismatches(steps, driver=driver)

    assert list(found) == [1]
    assert found[1][0].startswith("codes are none, want OK: 2 (UNIMPLEMENTED: CreateVolume needs")


SHARED = """
    instances: [{id: i-1}, {id: i-2}, {id: i-3}]
    disks: [{id: vol-shared, max_attachments: 2}]
"""


def test_unpublish_leaves_one_node_or_every_node() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
        - publish: {node: i-2, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
        - publish: {node: i-3, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
          expect: {code: FAILED_PRECONDITION}
        - unpublish: {node: i-1, volume: vol-shared}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 0}
        - refresh: {node: i-2}
          expect: {published_volume_ids: [vol-shared]}
        - publish: {node: i-3, volume: vol-shared, access_mode: MULTI_NODE_MULTI_WRITER}
        - unpublish: {volume: vol-shared}
          expect: {OK: 1}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 0}
        - refresh: {node: i-3}
          expect: {published_volume_ids: 0}
        """,
        SHARED,
    )


def test_what_is_not_published_is_unpublished() -> None:
    goes_well("""
        - create_volume: {name: data}
        - unpublish: {node: i-1, volume: data}
        - unpublish: {node: i-1, volume: never-made}
        - unpublish: {node: i-none, volume: data}
        - unpublish: {volume: never-made}
    """)


def test_unpublish_counts_volumes_that_the_co_has_a_record_of() -> None:
    goes_well("""
        - publish: {node: i-2, count: 4, concurrent: true}
        - unpublish: {node: i-2, count: 1}
        - unpublish: {node: i-2, count: 2, concurrent: true}
          expect: {OK: 2, cloud_calls: {detach: 2}}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 1}
    """)


def test_unpublish_of_more_than_there_are_is_no_pass() -> None:
    steps = """
        - publish: {node: i-2, count: 1}
        - unpublish: {node: i-2, count: 2}
    """

    assert mismatches(steps) == {2: ["the CO has a record of 1 volumes on i-2, cannot unpublish 2"]}


def test_unpublish_waits_until_the_volume_has_left() -> None:
    goes_well(
        """
        - publish: {node: i-1, count: 4, concurrent: true}
        - unpublish: {node: i-1, count: 1}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 3}
        - publish: {node: i-1, count: 1}
        """,
        """
        instance_types: {t: {slots: 4}}
        instances: [{id: i-1, type: t}]
        transitions: {attach: after 3 reads, detach: after 20m}
        """,
    )


def test_a_volume_of_the_same_name_is_the_same_volume() -> None:
    goes_well("""
        - create_volume: {name: data, size_gib: 3}
          expect: {volume_id: vol-00000001, capacity_bytes: 3221225472}
        - create_volume: {name: data, size_gib: 3}
          expect: {volume_id: vol-00000001, cloud_calls: {create_disk: 0}}
        - create_volume: {name: data, size_gib: 4}
          expect: {code: ALREADY_EXISTS}
        - create_volume: {name: data, zone: b}
          expect: {code: ALREADY_EXISTS}
        - create_volume: {name: other}
          expect: {volume_id: vol-00000002, capacity_bytes: 10737418240}
    """)


def test_a_volume_has_the_size_and_the_zone_that_are_asked_for() -> None:
    goes_well("""
        - create_volume: {name: rounded, required_bytes: 1073741825}
          expect: {capacity_bytes: 2147483648}
        - create_volume: {name: limited, limit_bytes: 1073741824}
          expect: {capacity_bytes: 1073741824}
        - create_volume: {name: between, required_bytes: 1073741825, limit_bytes: 2147483647}
          expect: {code: OUT_OF_RANGE}
        - create_volume: {name: below, required_bytes: -1}
          expect: {code: INVALID_ARGUMENT}
        - create_volume: {name: there, zone: b}
          expect:
            accessible_topology:
              topology.mock.csi.example.com/zone: b
              topology.mock.csi.example.com/region: region-1
        - create_volume: {name: nowhere, zone: c}
          expect: {code: RESOURCE_EXHAUSTED}
    """)


def test_a_volume_without_a_name_is_a_new_one_each_time() -> None:
    goes_well("""
        - create_volume: {}
          expect: {volume_id: vol-00000001}
        - create_volume: {}
          expect: {volume_id: vol-00000002}
    """)


def test_delete_takes_what_is_free_and_what_is_gone() -> None:
    goes_well("""
        - create_volume: {name: data, zone: a}
        - publish: {node: i-1, volume: data}
        - delete_volume: {volume: data}
          expect: {code: FAILED_PRECONDITION}
        - unpublish: {node: i-1, volume: data}
        - delete_volume: {volume: data}
        - delete_volume: {volume: data}
        - delete_volume: {volume: never-made}
        - publish: {node: i-1, volume: data}
          expect: {code: NOT_FOUND}
    """)


def test_a_volume_that_cannot_be_made_does_not_keep_the_others_back() -> None:
    found = mismatches(
        """
        - set_quota: {create_disk: {burst: 3, per_second: 0}}
        - publish: {node: i-1, count: 5}
          expect: {OK: 3}
        - publish: {node: i-1, count: 1}
        """,
        "instances: [{id: i-1}]",
    )
    assert list(found) == [3]
    assert found[3][0].startswith("1 volumes could not be made: UNAVAILABLE: ")

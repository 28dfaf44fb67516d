"""Files with mistakes, and the lines that tell of them: nothing is left out, nothing made up."""

from __future__ import annotations

import pytest

from mockdriver.scenario.capability_names import BUILT
from tests.scenario.samples import mistakes_of

ROOT_KEYS = "scenario, about, driver, cloud, faults, story"
INSTANCE_KEYS = "id, type, zone, network_interfaces, boot_disk, attached, published"
QUOTES = "text that looks like something else needs quotes"
ID = "text of 1 to 256 bytes without control characters"
DURATION = "a duration such as 50ms, 2s, 1m30s or 1h, at most 8760h"
TRANSITION = "immediately, held, after a duration (after 2s), after some reads (after 3 reads)"
APIS = (
    "describe_instances, describe_types, describe_disks, attach, detach, create_disk, delete_disk"
)

EXPECT_KEYS = (
    "OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, "
    "PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, "
    "UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED, code, error, "
    "max_volumes_per_node, published_volume_ids, effective_limit, node_id, accessible_topology, "
    "volume_id, capacity_bytes, publish_context, count, cloud_calls"
)


def check(text: str, *lines: str) -> None:
    assert mistakes_of(text) == list(lines)


class TestTheWholeFile:
    def test_an_empty_file(self) -> None:
        check(
            "", f"1:1: file: an empty file is not a scenario, allowed: a mapping with {ROOT_KEYS}"
        )

    @pytest.mark.parametrize(
        ("text", "given"),
        [("- a\n", "a list"), ("a\n", '"a"'), ("5", "5"), ("1.5", "1.5"), ("true", "true")],
    )
    def test_no_mapping(self, text: str, given: str) -> None:
        check(text, f"1:1: file: {given} is not a scenario, allowed: a mapping with {ROOT_KEYS}")

    def test_no_name(self) -> None:
        check("about: x\n", "1:1: scenario: this key is missing, needed: the scenario's name")

    def test_a_name_of_null(self) -> None:
        check("scenario:\n", "1:1: scenario: this key is missing, needed: the scenario's name")

    def test_an_empty_name(self) -> None:
        check(
            'scenario: ""\n', '1:11: scenario: "" is not allowed, allowed: text that is not empty'
        )

    def test_an_unknown_key_with_the_nearest_known_one(self) -> None:
        check(
            "scenario: x\nstories: []\n",
            f'2:1: stories: unknown key, allowed: {ROOT_KEYS}, did you mean "story"?',
        )

    def test_an_unknown_key_without_a_value_is_unknown_too(self) -> None:
        check(
            "scenario: x\nfalts:\nstory: [{add_falt: }, {release: , expect: {slots: }}]\n",
            f'2:1: falts: unknown key, allowed: {ROOT_KEYS}, did you mean "faults"?',
            f"3:10: story[0].add_falt: unknown key, allowed: {TestTheStory.VERBS}, expect, "
            'did you mean "add_fault"?',
            f"3:44: story[1].expect.slots: unknown key, allowed: {EXPECT_KEYS}",
        )

    def test_texts_that_are_something_else(self) -> None:
        check(
            "scenario: 1.5\nabout: true\n",
            f'1:11: scenario: 1.5 is not allowed, allowed: text that is not empty; {QUOTES}: "1.5"',
            f'2:8: about: true is not allowed, allowed: text; {QUOTES}: "True"',
        )

    def test_parts_that_are_no_mappings(self) -> None:
        check(
            "scenario: x\ndriver: [a]\ncloud: 7\nstory: {a: b}\n",
            "2:9: driver: a list is not allowed, allowed: a mapping with "
            "name, capabilities, node_info_reply, error_mapping",
            "3:8: cloud: 7 is not allowed, allowed: a mapping with "
            "provider, region, zones, zones_are_fixed, default_zone, capacity_gib, "
            "instance_types, instances, disks, attachments, transitions, api",
            "4:8: story: a mapping is not allowed, allowed: a list",
        )


class TestTheDriver:
    @pytest.mark.parametrize("name", ["-a", "a-", "a b", "a/b", "a" * 64, "å", ""])
    def test_a_name_that_csi_does_not_allow(self, name: str) -> None:
        check(
            f'scenario: x\ndriver: {{name: "{name}"}}\n',
            f'2:16: driver.name: "{name}" is not allowed, allowed: a CSI plugin name: at most 63 '
            "letters, digits, `-`, `_` and `.`, with a letter or a digit at both ends",
        )

    @pytest.mark.parametrize("name", ["a", "A.b-c_d.9", "a" * 63])
    def test_a_name_that_csi_allows(self, name: str) -> None:
        check(f"scenario: x\ndriver: {{name: {name}}}\n")

    def test_unknown_replies_and_mappings(self) -> None:
        check(
            "scenario: x\ndriver:\n  node_info_reply: none\n  error_mapping: aws\n",
            '3:20: driver.node_info_reply: unknown reply "none", allowed: omit, full, misleading',
            "4:18: driver.error_mapping: error mapping aws is not built yet, allowed: spec",
        )

    def test_an_error_mapping_that_nobody_plans(self) -> None:
        check(
            "scenario: x\ndriver: {error_mapping: specs}\n",
            '2:25: driver.error_mapping: unknown error mapping "specs", allowed: spec, '
            'did you mean "spec"?',
        )

    def test_capabilities(self) -> None:
        built = ", ".join(BUILT["controller"])
        check(
            "scenario: x\n"
            "driver:\n"
            "  capabilities:\n"
            "    controller: {GET_NODE_INF: true, LIST_SNAPSHOTS: true, CLONE_VOLUME: false}\n"
            "    node: {NODE_INFO_FROM_CONTROLLER: on}\n"
            "    plugin: [CONTROLLER_SERVICE]\n"
            "    plugins: {}\n"
            "    group_controller: {CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: true}\n",
            "4:18: driver.capabilities.controller.GET_NODE_INF: unknown capability "
            f'"GET_NODE_INF", allowed: {built}, did you mean "GET_NODE_INFO"?',
            "4:38: driver.capabilities.controller.LIST_SNAPSHOTS: LIST_SNAPSHOTS is not built "
            f"yet, built are: {built}",
            "5:12: driver.capabilities.node.NODE_INFO_FROM_CONTROLLER: "
            '"on" is not allowed, allowed: true or false',
            "6:13: driver.capabilities.plugin: a list is not allowed, allowed: a mapping with "
            "CONTROLLER_SERVICE, VOLUME_ACCESSIBILITY_CONSTRAINTS",
            "7:5: driver.capabilities.plugins: unknown key, allowed: plugin, controller, node, "
            'group_controller, did you mean "plugin"?',
            "8:24: driver.capabilities.group_controller.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT: "
            "CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT is not built yet, built are: none",
        )


class TestTheCloud:
    @pytest.mark.parametrize("provider", ["aws", "alibaba", "gcp", "azure"])
    def test_providers_that_come_later(self, provider: str) -> None:
        check(
            f"scenario: x\ncloud: {{provider: {provider}}}\n",
            f"2:19: cloud.provider: provider {provider} is not built yet, allowed: generic",
        )

    def test_an_unknown_provider(self) -> None:
        check(
            "scenario: x\ncloud: {provider: azur}\n",
            '2:19: cloud.provider: unknown provider "azur", allowed: '
            'generic, aws, alibaba, gcp, azure, did you mean "azure"?',
        )

    @pytest.mark.parametrize("given", ["-1", "4294967297", "1.5", "true", "x", "[1]"])
    def test_room_that_no_zone_has(self, given: str) -> None:
        (line,) = mistakes_of(f"scenario: x\ncloud: {{capacity_gib: {given}}}\n")
        assert line.startswith("2:23: cloud.capacity_gib: ")
        assert line.endswith("allowed: a whole number from 0 to 4294967296")

    @pytest.mark.parametrize("given", ["0", "4294967296"])
    def test_room_that_a_zone_may_have(self, given: str) -> None:
        check(f"scenario: x\ncloud: {{capacity_gib: {given}}}\n")

    def test_instance_types(self) -> None:
        check(
            "scenario: x\n"
            "cloud:\n"
            "  instance_types:\n"
            "    a: {slots: -1, network_interfaces_share_slots: 1}\n"
            "    b: {slots: 1000001, boot_disk_use_slot: true}\n"
            "    c: {slots: 2.0}\n"
            "    d: many\n"
            "    e: {slots: true}\n",
            "4:16: cloud.instance_types.a.slots: -1 is not allowed, "
            "allowed: a whole number from 0 to 1000000",
            "4:52: cloud.instance_types.a.network_interfaces_share_slots: 1 is not allowed, "
            "allowed: true or false",
            "5:16: cloud.instance_types.b.slots: 1000001 is not allowed, "
            "allowed: a whole number from 0 to 1000000",
            "5:25: cloud.instance_types.b.boot_disk_use_slot: unknown key, allowed: slots, "
            "network_interfaces_share_slots, boot_disk_uses_slot, "
            'did you mean "boot_disk_uses_slot"?',
            "6:16: cloud.instance_types.c.slots: 2.0 is not allowed, "
            "allowed: a whole number from 0 to 1000000",
            '7:8: cloud.instance_types.d: "many" is not allowed, allowed: a mapping with slots, '
            "network_interfaces_share_slots, boot_disk_uses_slot",
            "8:16: cloud.instance_types.e.slots: true is not allowed, "
            "allowed: a whole number from 0 to 1000000",
        )

    def test_instances(self) -> None:
        check(
            "scenario: x\n"
            "cloud:\n"
            "  instances:\n"
            "    - {id: 5, attached: -1}\n"
            '    - {id: "", attached: [a, a, 3, "b\\n"]}\n'
            "    - {ip: a, published: x, network_interfaces: 1.5}\n"
            "    - a\n"
            "    -\n",
            f'4:12: cloud.instances[0].id: 5 is not allowed, allowed: {ID}; {QUOTES}: "5"',
            "4:25: cloud.instances[0].attached: -1 is not allowed, "
            "allowed: a whole number from 0 to 100000, or a list of ids",
            f'5:12: cloud.instances[1].id: "" is not allowed, allowed: {ID}',
            '5:30: cloud.instances[1].attached[1]: "a" is listed twice, see [0]',
            f'5:33: cloud.instances[1].attached[2]: 3 is not allowed, allowed: {ID}; {QUOTES}: "3"',
            f'5:36: cloud.instances[1].attached[3]: "b\\x0a" is not allowed, allowed: {ID}',
            f"6:8: cloud.instances[2].ip: unknown key, allowed: {INSTANCE_KEYS}, count, count_from",
            '6:26: cloud.instances[2].published: "x" is not allowed, '
            "allowed: a whole number from 0 to 100000, or a list of ids",
            "6:49: cloud.instances[2].network_interfaces: 1.5 is not allowed, "
            "allowed: a whole number from 0 to 100000, or a list of ids",
            f'7:7: cloud.instances[3]: "a" is not allowed, allowed: a mapping with '
            f"{INSTANCE_KEYS}, count, count_from",
            "8:6: cloud.instances[4]: nothing is not allowed, allowed: a mapping with "
            f"{INSTANCE_KEYS}, count, count_from",
        )

    def test_instances_that_are_no_list(self) -> None:
        check(
            "scenario: x\ncloud: {instances: 5}\n",
            "2:20: cloud.instances: 5 is not allowed, allowed: a list",
        )

    def test_one_mapping_of_instances_has_paths_without_an_index(self) -> None:
        check(
            "scenario: x\ncloud: {instances: {count: 0, idd: x}}\n",
            "2:28: cloud.instances.count: 0 is not allowed, "
            "allowed: a whole number from 1 to 50000",
            f"2:31: cloud.instances.idd: unknown key, allowed: {INSTANCE_KEYS}, count, count_from, "
            'did you mean "id"?',
        )

    def test_a_template_without_a_place_for_the_number(self) -> None:
        check(
            "scenario: x\ncloud: {instances: {count: 3, id: i}}\n",
            '2:35: cloud.instances.id: "i" is the id of 3 instances, '
            'allowed: an id with {n} in it, such as "i-{n}"',
        )

    def test_disks(self) -> None:
        check(
            "scenario: x\n"
            "cloud:\n"
            "  disks:\n"
            "    - {size_gib: 0, max_attachments: 0}\n"
            "    - {id: a, size_gib: 65537, zone: 5}\n",
            "4:7: cloud.disks[0].id: this key is missing, "
            "needed: the id, which is also the CSI volume_id",
            "4:18: cloud.disks[0].size_gib: 0 is not allowed, "
            "allowed: a whole number from 1 to 65536",
            "4:38: cloud.disks[0].max_attachments: 0 is not allowed, "
            "allowed: a whole number from 1 to 1000000",
            "5:25: cloud.disks[1].size_gib: 65537 is not allowed, "
            "allowed: a whole number from 1 to 65536",
            f'5:38: cloud.disks[1].zone: 5 is not allowed, allowed: {ID}; {QUOTES}: "5"',
        )

    @pytest.mark.parametrize(
        "value", ["later", "after 2", "after", "after reads", "after 1.5 reads", "2s", "after 2s "]
    )
    def test_transitions(self, value: str) -> None:
        check(
            f'scenario: x\ncloud: {{transitions: {{attach: "{value}", detachh: held}}}}\n',
            f'2:31: cloud.transitions.attach: "{value}" is not allowed, allowed: {TRANSITION}',
            f"2:{35 + len(value)}: cloud.transitions.detachh: unknown key, "
            'allowed: attach, detach, did you mean "detach"?',
        )

    def test_quotas(self) -> None:
        check(
            "scenario: x\n"
            "cloud:\n"
            "  api:\n"
            "    describe_instance: {burst: 1}\n"
            "    attach: {burst: 50}\n"
            "    detach: {per_second: 1}\n"
            "    create_disk: {burst: 1.5, per_second: -0.5}\n"
            "    delete_disk: {delay: 5, max_ids: 0}\n"
            "    describe_disks: {delay: 5 s}\n",
            f"4:5: cloud.api.describe_instance: unknown key, allowed: {APIS}, "
            'did you mean "describe_instances"?',
            "5:13: cloud.api.attach: per_second is missing, burst and per_second come together",
            "6:13: cloud.api.detach: burst is missing, burst and per_second come together",
            "7:26: cloud.api.create_disk.burst: 1.5 is not allowed, "
            "allowed: a whole number from 0 to 1000000000",
            "7:43: cloud.api.create_disk.per_second: -0.5 is not allowed, "
            "allowed: a number from 0 to 1000000000",
            f"8:26: cloud.api.delete_disk.delay: 5 is not allowed, allowed: {DURATION}; "
            "a number needs a unit",
            "8:38: cloud.api.delete_disk.max_ids: 0 is not allowed, "
            "allowed: a whole number from 1 to 1000000000",
            f'9:29: cloud.api.describe_disks.delay: "5 s" is not allowed, allowed: {DURATION}',
        )

    def test_zones(self) -> None:
        check(
            "scenario: x\ncloud: {zones: [a, 5, a, {}]}\n",
            f'2:20: cloud.zones[1]: 5 is not allowed, allowed: {ID}; {QUOTES}: "5"',
            '2:23: cloud.zones[2]: zone "a" is listed twice',
            f"2:26: cloud.zones[3]: a mapping is not allowed, allowed: {ID}",
        )
        check(
            "scenario: x\ncloud: {zones: []}\n",
            "2:16: cloud.zones: an empty list, allowed: at least one zone",
        )


class TestTheStory:
    VERBS = (
        "register, refresh, node_info, create_volume, delete_volume, publish, unpublish, collect, "
        "attach, detach, add_network_interface, remove_network_interface, add_instance, "
        "terminate_instance, edit_instance_type, set_quota, release, add_fault, clear_faults, "
        "hold, wait_for_calls, calls, advance, restart_driver"
    )

    def test_steps_have_one_verb(self) -> None:
        check(
            "scenario: x\n"
            "story:\n"
            "  - {}\n"
            "  - expect: {OK: 1}\n"
            "  - {refresh: {node: a}, release: {}}\n"
            "  - refresh\n"
            "  - publsh: {node: a}\n",
            f"3:5: story[0]: a step without a verb, allowed: {self.VERBS}",
            f"4:5: story[1]: a step without a verb, allowed: {self.VERBS}",
            "5:5: story[2]: verbs refresh, release in one step, exactly one is allowed",
            f'6:5: story[3]: "refresh" is not allowed, allowed: a mapping with '
            f"{self.VERBS}, expect",
            f"7:5: story[4].publsh: unknown key, allowed: {self.VERBS}, expect, "
            'did you mean "publish"?',
        )

    def test_arguments_that_are_missing(self) -> None:
        check(
            "scenario: x\n"
            "story:\n"
            "  - register:\n"
            "  - publish: {volume: a}\n"
            "  - delete_volume: {}\n"
            "  - attach: {disk: a}\n"
            "  - add_instance: {type: a}\n"
            "  - edit_instance_type: {slots: 5}\n"
            "  - set_quota:\n",
            "3:5: story[0].register.node: this key is missing, "
            "needed: the instance whose node registers",
            "4:14: story[1].publish.node: this key is missing, needed: the node_id to publish on",
            "5:20: story[2].delete_volume.volume: this key is missing, "
            "needed: a volume_id, or a made volume's name",
            "6:13: story[3].attach.instance: this key is missing, needed: the instance",
            "7:19: story[4].add_instance: id is missing, a new instance needs one",
            "8:25: story[5].edit_instance_type.type: this key is missing, "
            "needed: the type to change, or the type that the instance gets",
            f"9:5: story[6].set_quota: no API is given, allowed: {APIS}",
        )

    def test_a_volume_or_a_count(self) -> None:
        check(
            "scenario: x\n"
            "story:\n"
            "  - publish: {node: a}\n"
            "  - publish: {node: a, volume: b, count: 1}\n"
            "  - unpublish: {count: 1}\n"
            "  - publish: {node: a, count: 0}\n"
            "  - detach: {instance: a}\n",
            "3:14: story[0].publish: neither is given, exactly one of volume and count is needed",
            "4:14: story[1].publish: both are given, exactly one of volume and count is needed",
            "5:16: story[2].unpublish: node is missing, count needs it",
            "6:31: story[3].publish.count: 0 is not allowed, "
            "allowed: a whole number from 1 to 100000",
            "7:13: story[4].detach: neither is given, exactly one of disk and count is needed",
        )

    def test_arguments_of_the_wrong_kind(self) -> None:
        check(
            "scenario: x\n"
            "story:\n"
            "  - publish: {node: 5, volume: a, access_mode: MULTI_NODE, readonly: no}\n"
            "  - advance: 30\n"
            "  - advance:\n"
            "  - restart_driver: {state: forget}\n"
            "  - create_volume: {size_gib: 1, required_bytes: 5}\n"
            "  - create_volume: {required_bytes: 1GiB}\n",
            f'3:21: story[0].publish.node: 5 is not allowed, allowed: text; {QUOTES}: "5"',
            '3:48: story[0].publish.access_mode: unknown access mode "MULTI_NODE", allowed: '
            "UNKNOWN, SINGLE_NODE_WRITER, SINGLE_NODE_READER_ONLY, MULTI_NODE_READER_ONLY, "
            "MULTI_NODE_SINGLE_WRITER, MULTI_NODE_MULTI_WRITER, SINGLE_NODE_SINGLE_WRITER, "
            'SINGLE_NODE_MULTI_WRITER, did you mean "MULTI_NODE_READER_ONLY"?',
            '3:70: story[0].publish.readonly: "no" is not allowed, allowed: true or false',
            f"4:14: story[1].advance: 30 is not allowed, allowed: {DURATION}; "
            "a number needs a unit",
            f'5:5: story[2].advance: "" is not allowed, allowed: {DURATION}',
            '6:29: story[3].restart_driver.state: unknown state "forget", allowed: keep, lose',
            "7:20: story[4].create_volume: both are given, "
            "only one of size_gib and required_bytes is allowed",
            '8:37: story[5].create_volume.required_bytes: "1GiB" is not allowed, '
            "allowed: a whole number",
        )

    def test_editing_has_one_meaning(self) -> None:
        check(
            "scenario: x\n"
            "cloud: {instance_types: {a: {}}, instances: [{id: i}]}\n"
            "story:\n"
            "  - edit_instance_type: {type: a}\n"
            "  - edit_instance_type: {type: a, instance: i, slots: 5}\n",
            "4:25: story[0].edit_instance_type: nothing to change, allowed: instance, slots, "
            "network_interfaces_share_slots, boot_disk_uses_slot",
            "5:25: story[1].edit_instance_type: slots is not allowed beside instance, "
            "allowed: type alone",
        )

    def test_expectations(self) -> None:
        check(
            "scenario: x\n"
            "story:\n"
            "  - refresh: {node: a}\n"
            "    expect:\n"
            "      OK: -1\n"
            "      code: NOTFOUND\n"
            "      max_volumes_per_node: lots\n"
            "      published_volume_ids: [a, a]\n"
            "      effective_limit: 1.5\n"
            "      accessible_topology: {zone: 5}\n"
            "      cloud_calls: {describe_instances: '=> 5', attach: -1, detatch: 1}\n"
            "  - refresh: {node: a}\n"
            "    expect: 5\n",
            "5:11: story[0].expect.OK: -1 is not allowed, allowed: a whole number of at least 0",
            '6:13: story[0].expect.code: unknown status code "NOTFOUND", allowed: OK, CANCELLED, '
            "UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, "
            "PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, "
            "UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED, "
            'did you mean "NOT_FOUND"?',
            '7:29: story[0].expect.max_volumes_per_node: "lots" is not allowed, '
            "allowed: a whole number",
            '8:33: story[0].expect.published_volume_ids[1]: "a" is listed twice, see [0]',
            "9:24: story[0].expect.effective_limit: 1.5 is not allowed, allowed: a whole number",
            f"10:35: story[0].expect.accessible_topology.zone: 5 is not allowed, "
            f'allowed: text; {QUOTES}: "5"',
            '11:41: story[0].expect.cloud_calls.describe_instances: "=> 5" is not allowed, '
            'allowed: a whole number, or a comparison such as "<= 5" with ==, <, <=, > or >=',
            "11:57: story[0].expect.cloud_calls.attach: -1 is not allowed, "
            'allowed: a whole number, or a comparison such as "<= 5" with ==, <, <=, > or >=',
            f'11:61: story[0].expect.cloud_calls.detatch: unknown cloud API "detatch", '
            f'allowed: {APIS}, did you mean "detach"?',
            "13:13: story[1].expect: 5 is not allowed, allowed: a mapping with " + EXPECT_KEYS,
        )

    def test_a_misspelt_expectation_has_the_nearest_known_one(self) -> None:
        text = "scenario: x\nstory: [{refresh: {node: a}, expect: {resource_exhausted: 1}}]\n"
        (line,) = mistakes_of(text)
        assert line.startswith("2:39: story[0].expect.resource_exhausted: unknown key, allowed: OK")
        assert line.endswith('did you mean "RESOURCE_EXHAUSTED"?')

    def test_a_code_or_counts(self) -> None:
        check(
            "scenario: x\nstory: [{refresh: {node: a}, expect: {code: OK, OK: 1, ABORTED: 0}}]\n",
            "2:38: story[0].expect: code and counts (OK, ABORTED) are both given, "
            "only one is allowed",
        )


class TestOneReport:
    """Whatever is wrong in one place does not hide what is wrong in another."""

    def test_what_cannot_be_read_what_is_no_model_and_what_does_not_fit_together(self) -> None:
        check(
            "scenaro: x\n"
            "about: !mine y\n"
            "cloud:\n"
            "  zones: [zone-a, zone-b]\n"
            "  instance_types:\n"
            "    small: {slots: 2, slot: 3}\n"
            "  instances:\n"
            "    - {id: i-1, type: smal, zone: zone-c, network_interface: 2}\n"
            "    - {id: i-1, type: small, published: [d, d]}\n"
            "  disks:\n"
            "    - {id: d, size_gib: .nan}\n"
            "    - {id: d}\n"
            "story:\n"
            "  - register: {node: i-2}\n"
            "  - publish: {node: i-1, cont: 3}\n",
            "1:1: scenario: this key is missing, needed: the scenario's name",
            f'1:1: scenaro: unknown key, allowed: {ROOT_KEYS}, did you mean "scenario"?',
            '2:8: about: unknown tag "!mine", allowed: '
            "!!str, !!int, !!float, !!bool, !!null, !!map, !!seq",
            "6:23: cloud.instance_types.small.slot: unknown key, allowed: slots, "
            'network_interfaces_share_slots, boot_disk_uses_slot, did you mean "slots"?',
            '8:23: cloud.instances[0].type: unknown instance type "smal", allowed: small, '
            'did you mean "small"?',
            '8:35: cloud.instances[0].zone: unknown zone "zone-c", allowed: zone-a, zone-b, '
            'did you mean "zone-a"?',
            f"8:43: cloud.instances[0].network_interface: unknown key, allowed: {INSTANCE_KEYS}, "
            'count, count_from, did you mean "network_interfaces"?',
            '9:7: cloud.instances[1]: instance "i-1" is there already, at 8:7; ids are given once',
            '9:45: cloud.instances[1].published[1]: "d" is listed twice, see [0]',
            "11:25: cloud.disks[0].size_gib: not a finite number, "
            "allowed: a finite number, or text in quotes",
            '12:12: cloud.disks[1].id: disk "d" is there already, at 11:12; ids are given once',
            '14:22: story[0].register.node: unknown instance "i-2", allowed: i-1, '
            'did you mean "i-1"?',
            "15:26: story[1].publish.cont: unknown key, allowed: "
            "volume, count, node, concurrent, access_mode, readonly, wait, as, "
            'did you mean "count"?',
        )

    def test_what_could_not_be_read_is_not_called_missing_too(self) -> None:
        check(
            "scenario: !!python/none x\nstory: [{register: {node: !x y}}, {advance: .inf}]\n",
            '1:11: scenario: unknown tag "!!python/none", allowed: '
            "!!str, !!int, !!float, !!bool, !!null, !!map, !!seq",
            '2:27: story[0].register.node: unknown tag "!x", allowed: '
            "!!str, !!int, !!float, !!bool, !!null, !!map, !!seq",
            "2:45: story[1].advance: not a finite number, "
            "allowed: a finite number, or text in quotes",
        )

    def test_a_type_that_is_wrong_itself_is_not_called_unknown(self) -> None:
        check(
            "scenario: x\ncloud: {instance_types: {a: {slots: x}}, instances: [{type: a}]}\n",
            '2:37: cloud.instance_types.a.slots: "x" is not allowed, '
            "allowed: a whole number from 0 to 1000000",
        )

    def test_types_that_are_wrong_all_together_make_no_type_unknown(self) -> None:
        check(
            "scenario: x\ncloud: {instance_types: [a], instances: [{type: a}]}\n",
            "2:25: cloud.instance_types: a list is not allowed, allowed: a mapping",
        )

    def test_an_instance_whose_id_is_wrong_makes_no_node_unknown(self) -> None:
        check(
            "scenario: x\ncloud: {instances: [{id: 5}]}\nstory: [{register: {node: '5'}}]\n",
            f'2:26: cloud.instances[0].id: 5 is not allowed, allowed: {ID}; {QUOTES}: "5"',
        )

    def test_an_instance_that_is_wrong_elsewhere_keeps_its_id(self) -> None:
        check(
            "scenario: x\n"
            "cloud: {instances: [{id: i-5, attached: x}]}\n"
            "story: [{register: {node: i-5}}, {register: {node: i-6}}]\n",
            '2:41: cloud.instances[0].attached: "x" is not allowed, '
            "allowed: a whole number from 0 to 100000, or a list of ids",
            '3:52: story[1].register.node: unknown instance "i-6", allowed: i-5, '
            'did you mean "i-5"?',
        )

    def test_items_after_a_wrong_one_keep_their_places(self) -> None:
        check(
            "scenario: x\ncloud:\n  zones: [z]\n  instances:\n    - 5\n    - {id: a, zone: y}\n",
            f"5:7: cloud.instances[0]: 5 is not allowed, allowed: a mapping with "
            f"{INSTANCE_KEYS}, count, count_from",
            '6:21: cloud.instances[1].zone: unknown zone "y", allowed: z',
        )

    def test_many_mistakes_are_given_up_at_a_thousand(self) -> None:
        lines = mistakes_of("scenario: x\nstory: [" + "5," * 5000 + "]\n")
        assert len(lines) == 101
        assert lines[-1] == " and at least 900 more"

    def test_a_hundred_slips_have_a_suggestion_each(self) -> None:
        keys = ",".join(f"atach{n}: {{}}" for n in range(100))
        lines = mistakes_of(f"scenario: x\ncloud: {{api: {{{keys}}}}}\n")
        assert sum('did you mean "attach"?' in line for line in lines) == 100

    def test_looking_for_suggestions_has_an_end(self) -> None:
        # comparing is quadratic, and worst for names like these
        types = ",".join(f"{'t' * 45}{n}: {{}}" for n in range(50))
        instances = ",".join(["{type: " + "t" * 47 + "}"] * 90)
        cloud = f"{{instance_types: {{{types}}}, instances: [{instances}]}}"
        lines = mistakes_of(f"scenario: x\ncloud: {cloud}\n")
        assert len(lines) == 90
        assert 1 <= sum("did you mean" in line for line in lines) <= 10

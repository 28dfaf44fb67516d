"""The scenario and story format by its example: every part of it, in one story."""

from __future__ import annotations

from mockdriver.play import play
from mockdriver.scenario.load import loads

EXAMPLE = """
scenario: kep-6011-worked-example
about: Two network interfaces and two disks that Kubernetes does not know leave 13 of 25 slots.
driver:
  name: mock.csi.example.com
  capabilities: {controller: {GET_NODE_INFO: true}, node: {NODE_INFO_FROM_CONTROLLER: true}}
  node_info_reply: omit            # omit | full | misleading: what a flagged NodeGetInfo answers
cloud:
  provider: generic
  region: region-1
  instance_types:
    shared-25: {slots: 25, network_interfaces_share_slots: true, boot_disk_uses_slot: true}
  instances:
    - id: i-worker-1
      type: shared-25
      zone: region-1a
      network_interfaces: 2        # a number, or a list of ids
      boot_disk: vol-boot
      attached: [vol-manual]       # out of band
      published: 8                 # by the CO, through this driver
  disks:                           # only what the lines above don't create with defaults
    - {id: vol-shared, size_gib: 100, zone: region-1a, max_attachments: 2}
  transitions: {attach: immediately, detach: after 2s}
  api:
    describe_instances: {burst: 100, per_second: 20, max_ids: 1000, delay: 50ms}
    attach: {burst: 50, per_second: 5}
story:
  - register: {node: i-worker-1}
    expect: {max_volumes_per_node: 23, published_volume_ids: 10, effective_limit: 21}
  - publish: {node: i-worker-1, count: 14, concurrent: true}
    expect: {OK: 13, RESOURCE_EXHAUSTED: 1}
  - detach: {instance: i-worker-1, disk: vol-manual}
  - refresh: {node: i-worker-1}
    expect: {effective_limit: 22, published_volume_ids: 22}
"""


def test_the_example_goes_well() -> None:
    results = list(play(loads(EXAMPLE, "example.yaml")))

    assert [(result.step.verb, result.mismatches) for result in results] == [
        ("register", ()),
        ("publish", ()),
        ("detach", ()),
        ("refresh", ()),
    ]


def test_every_default_of_the_format_is_as_it_is_written() -> None:
    text = """
scenario: defaults
cloud:
  instance_types: {t: {slots: 5}}
  instances: [{type: t, boot_disk: vol-boot}, {id: i-untyped}]
story:
  - register: {node: i-1}
    expect:
      # boot_disk_uses_slot true, network_interfaces_share_slots false
      max_volumes_per_node: 5
      published_volume_ids: [vol-boot]
      effective_limit: 4
      accessible_topology:
        topology.mock.csi.example.com/zone: region-1a
        topology.mock.csi.example.com/region: region-1
  - create_volume: {name: data}
    expect: {capacity_bytes: 10737418240}
  - publish: {node: i-1, volume: data}
    expect: {cloud_calls: {attach: 1}}
  # max_attachments 1
  - publish: {node: i-untyped, volume: data, access_mode: MULTI_NODE_MULTI_WRITER}
    expect: {code: FAILED_PRECONDITION}
  # The access mode is SINGLE_NODE_WRITER, readonly false.
  - publish: {node: i-1, volume: data, access_mode: SINGLE_NODE_WRITER, readonly: false}
    expect: {OK: 1}
  # No boot disk, and one network interface, which uses no slot: there is no type to say so.
  - register: {node: i-untyped}
    expect: {max_volumes_per_node: 0, published_volume_ids: 0, effective_limit: null}
  - remove_network_interface: {instance: i-untyped, count: 2}
    expect: {error: NetworkInterfaceNotFound}
  - remove_network_interface: {instance: i-untyped, count: 1}
"""
    assert [result.mismatches for result in play(loads(text)) if not result.passed] == []


def test_no_verb_needs_a_register_before_it() -> None:
    text = """
scenario: no-register
cloud: {instances: [{id: i-1, published: [vol-1]}]}
story:
  - unpublish: {node: i-1, volume: vol-1}
  - publish: {node: i-1, volume: vol-1}
  - node_info: {node: i-1}
  - refresh: {node: i-1}
    expect: {published_volume_ids: [vol-1]}
"""
    assert all(result.passed for result in play(loads(text)))

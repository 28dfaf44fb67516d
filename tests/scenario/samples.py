"""Texts of scenarios that several tests use, and the mistakes of a text."""

from __future__ import annotations

from mockdriver.scenario.load import loads
from mockdriver.scenario.mistakes import ScenarioMistakes

WORKED_EXAMPLE = """\
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
  api: {describe_instances: {burst: 100, per_second: 20, max_ids: 1000, delay: 50ms},
        attach: {burst: 50, per_second: 5}}
faults:
  - {name: flaky, rpc: ControllerGetNodeInfo, node_id: i-worker-1, times: 2, code: UNAVAILABLE}
story:
  - register: {node: i-worker-1}
    expect: {max_volumes_per_node: 23, published_volume_ids: 10, effective_limit: 21}
  - publish: {node: i-worker-1, count: 14, concurrent: true}
    expect: {OK: 13, RESOURCE_EXHAUSTED: 1}
  - detach: {instance: i-worker-1, disk: vol-manual}
  - refresh: {node: i-worker-1}
    expect: {effective_limit: 22, published_volume_ids: 22}
"""
"""The example of the format's description."""

EVERY_VERB = """\
scenario: every verb
cloud:
  zones: [zone-1, zone-2]
  instance_types:
    small: {slots: 4}
    unlimited: {}
  instances:
    - {id: i-a, type: small, network_interfaces: [eni-a], attached: 1, published: [vol-p]}
    - {id: "i-b-{n}", count: 2, type: small, zone: zone-2, boot_disk: "boot-{n}"}
  disks: [{id: vol-free, size_gib: 20, max_attachments: 2}, {id: vol-p}]
  transitions: {attach: held, detach: after 3 reads}
  api: {create_disk: {max_ids: 1}, delete_disk: {delay: 1m30s}}
faults:
  - {name: late, rpc: Controller*, request: {volume_id: "v*"}, calls: 3-5, when: after, delay: 2s}
  - {name: lie, rpc: ControllerGetNodeInfo, calls: 2, reply: {max_volumes_per_node: 7}}
  - {cloud_api: attach, request: {disk: "?*"}, error: Throttled, probability: 0.5, seed: 7}
  - name: refused
    rpc: CreateVolume
    request: {volume_capabilities.0.access_mode.mode: SINGLE_NODE_WRITER, parameters.type: fast}
    times: 1
    code: RESOURCE_EXHAUSTED
    message: no room left
    details: [{"@type": type.googleapis.com/google.rpc.RetryInfo, retryDelay: 1.5s}]
    lifetime: 1h
  - {name: mute, rpc: NodeGetInfo, node_id: i-a, no_answer: true, enabled: false}
  - {name: crash, rpc: NodeStageVolume, exit: 137}
story:
  - register: {node: i-a}
    expect: {accessible_topology: {zone: zone-1}, node_id: i-a, published_volume_ids: [vol-p]}
  - refresh: {node: i-b-1}
    expect: {effective_limit: null, cloud_calls: {describe_instances: "<= 5", attach: 0}}
  - node_info: {node: i-b-2}
    expect: {OK: 1}
  - create_volume: {name: made, size_gib: 3, limit_bytes: 5000000000, zone: zone-1}
    expect: {capacity_bytes: 3221225472}
  - publish: {node: i-a, volume: made, access_mode: MULTI_NODE_MULTI_WRITER, readonly: true}
    expect: {code: INVALID_ARGUMENT}
  - unpublish: {node: i-a, count: 1, concurrent: true}
  - unpublish: {volume: made}
  - delete_volume: {volume: made, wait: false, as: deletion}
  - refresh: {node: i-a, wait: false}
  - collect: {step: deletion}
  - collect:
    expect: {max_volumes_per_node: 1}
  - attach: {instance: i-a, disk: vol-free, wait: false}
  - release: {instance: i-a, disk: vol-free}
  - release:
  - release: {barrier: gate, calls: 2}
  - detach: {instance: i-a, count: 1}
    expect: {error: TransitionUnderWay}
  - add_fault: {name: slow, rpc: GetCapacity, delay: 1s, before: late}
  - hold: {rpc: ControllerPublishVolume, node_id: i-a, barrier: gate, times: 1, when: after}
  - wait_for_calls: {barrier: gate, count: 1, timeout: 5s}
  - wait_for_calls: {rpc: "Controller*", code: "!OK", arrived: true, request: {volume_id: v}}
  - calls: {service: Controller, code: RUNNING, response: {volume.volume_id: "*"}, message: no}
    expect: {count: "<= 5"}
  - calls: {in_this_order: [{rpc: CreateVolume}, {rpc: DeleteVolume, fault: slow}]}
  - clear_faults: {name: slow}
  - clear_faults:
  - add_network_interface: {instance: i-a, count: 2}
  - remove_network_interface: {instance: i-a}
  - edit_instance_type: {type: small, slots: null, boot_disk_uses_slot: false}
  - edit_instance_type: {type: unlimited, instance: i-a}
  - set_quota: {attach: {burst: 1, per_second: 0.5}}
  - add_instance: {id: i-c, type: small, zone: zone-2, published: 1}
  - register: {node: i-c}
  - terminate_instance: {instance: i-c}
  - advance: 30s
  - restart_driver: {state: lose}
  - restart_driver:
"""
"""A scenario with each verb, and with keys that the worked example lacks."""


def mistakes_of(text: str) -> list[str]:
    """Return the lines about a text, without the file's name; none if it has no mistakes."""
    try:
        loads(text, "f")
    except ScenarioMistakes as mistakes:
        return [line.removeprefix("f:") for line in str(mistakes).splitlines()]
    return []

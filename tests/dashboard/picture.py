"""The picture of docs/dashboard.md anew: `python -m tests.dashboard.picture`."""

from __future__ import annotations

import sys

from playwright.sync_api import ViewportSize, expect, sync_playwright

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from tests.dashboard.asking import site
from tests.docs.blocks import ROOT
from tests.requests import begin_publish, create, published_ids
from tests.waiting import wait_until
from tools import chromium

PICTURE = ROOT / "docs" / "dashboard.png"
SIZE: ViewportSize = {"width": 1180, "height": 730}

SCENARIO = """
scenario: kep-6011-example
cloud:
  region: region-1
  instance_types:
    shared-25: {slots: 25, network_interfaces_share_slots: true, boot_disk_uses_slot: true}
    dedicated-8: {slots: 8, boot_disk_uses_slot: false}
    large: {slots: 128}
  instances:
    - {id: i-worker-1, type: shared-25, network_interfaces: 2, boot_disk: vol-boot,
       attached: [vol-manual], published: 8}
    - {id: i-worker-2, type: dedicated-8, boot_disk: vol-boot-2, attached: 3, published: 5}
    - {id: i-worker-3, type: shared-25, network_interfaces: 27, boot_disk: vol-boot-3}
    - {id: i-large, type: large, boot_disk: vol-boot-4, attached: 11, published: 40}
faults:
  - {name: flaky, rpc: ControllerGetNodeInfo, node_id: i-worker-2, code: UNAVAILABLE, times: 2}
"""


def main() -> None:
    """Serve the scenario, make some calls, and write the picture."""
    with site(scenario=SCENARIO) as shown, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.program(), args=chromium.flags()
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(shown.url)
        expect(page.locator("#live")).to_have_text("live")
        with shown.server.connect() as client:
            for node_id in ("i-worker-1", "i-worker-2"):
                request = csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id)
                call(client.controller.ControllerGetNodeInfo, request)
            call(client.controller.CreateVolume, create("pvc-1"))
            shown.call("Cloud/SetTransitions", {"attach": "held"})
            publishing = begin_publish(client, "vol-00000001", "i-worker-1")
            wait_until(lambda: "vol-00000001" in published_ids(client, "i-worker-1"), "the publish")
            expect(page.locator(".slot.attaching")).to_have_count(1)
            page.wait_for_timeout(1500)  # until what is new has stopped moving
            page.screenshot(path=PICTURE, animations="disabled")
            publishing.cancel()
        browser.close()
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()

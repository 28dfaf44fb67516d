"""The page in a browser: what one sees, and what one can do."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, expect

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.runtime import WallRuntime
from tests.dashboard.asking import site
from tests.dashboard.conftest import OpenTab, Tab
from tests.requests import answer as answer_of
from tests.requests import begin_publish, publish, published_ids
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

LARGE = """
scenario: large
cloud:
  instance_types: {m: {slots: 28}, c: {slots: 16}}
  instances:
    - {count: 3000, id: "m-{n}", type: m, zone: region-1a, attached: 2}
    - {count: 2000, id: "c-{n}", type: c, zone: region-1b, published: 1}
"""

ODD = """
scenario: odd
cloud:
  instance_types:
    apart: {slots: 8, boot_disk_uses_slot: false}
    shared: {slots: 3, network_interfaces_share_slots: true}
    many: {slots: 1000}
  instances:
    - {id: i-apart, type: apart, boot_disk: b, network_interfaces: 2}
    - {id: i-over, type: shared, network_interfaces: 5}
    - {id: i-many, type: many, attached: 3, published: 100}
    - {id: i-unlimited, attached: 1}
    - {id: "<img src=x onerror=alert(1)>", type: apart}
"""


def test_the_page_shows_each_instance_with_who_uses_its_slots(tab: Tab) -> None:
    expect(tab.slots("i-1")).to_have_attribute(
        "aria-label", "4 slots: 1 boot disk, 1 network interface, 1 CSI volume, 1 free"
    )
    expect(tab.slots("i-2")).to_have_attribute(
        "aria-label", "4 slots: 1 network interface, 1 out of band, 2 free"
    )
    expect(tab.card("i-1").locator(".slot")).to_have_text(["B", "N", "C", ""])
    expect(tab.card("i-1").locator(".used")).to_have_text("3 / 4")
    expect(tab.page.locator("#range")).to_have_text("1 to 2 of 2 instances")
    expect(tab.page.locator("#facts")).to_contain_text("instances2")


def test_the_page_shows_what_the_driver_would_answer(tab: Tab) -> None:
    expect(tab.card("i-1").locator(".info")).to_have_text("Node info:max 32 ids")

    info = tab.open("i-1").locator("#node-info")

    with tab.site.server.connect() as client:
        request = csi_pb2.ControllerGetNodeInfoRequest(node_id="i-1")
        answer = answer_of(client.controller.ControllerGetNodeInfo, request)
    expect(info).to_contain_text(f"max_volumes_per_node{answer.max_volumes_per_node}")
    for id in answer.published_volume_ids:
        expect(info.get_by_text(id, exact=True)).to_be_visible()
    for key, value in answer.accessible_topology.segments.items():
        expect(info).to_contain_text(f"{key}: {value}")


def test_odd_instances_are_drawn_too(open_tab: OpenTab) -> None:
    with site(scenario=ODD) as odd:
        tab = open_tab(odd)

        expect(tab.slots("i-apart")).to_have_attribute("aria-label", "8 slots: 8 free")
        expect(tab.card("i-apart")).to_contain_text("beside the slots: b, 2 interfaces")
        expect(tab.slots("i-over")).to_have_attribute(
            "aria-label", "3 slots: 5 network interfaces, 2 more than fit"
        )
        expect(tab.card("i-over").locator(".slot.over")).to_have_count(2)
        expect(tab.slots("i-unlimited")).to_have_attribute(
            "aria-label", "No limit of slots: 1 out of band"
        )
        expect(tab.card("i-unlimited")).to_contain_text("max unspecified")
        expect(tab.slots("i-many")).to_have_attribute(
            "aria-label", "1,000 slots: 100 CSI volumes, 3 out of band, 897 free"
        )
        expect(tab.card("i-many").locator(".part")).to_have_count(2)
        # An id is text, whatever is in it.
        expect(tab.page.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()


def test_a_publish_is_shown_as_it_happens(tab: Tab) -> None:
    tab.site.call("Cloud/SetTransitions", {"attach": "held"})
    with tab.site.server.connect() as client:
        publishing = begin_publish(client, "vol-free", "i-1")

        row = tab.page.locator("#call-list > li").filter(has_text="ControllerPublishVolume")
        expect(row.locator(".code")).to_have_text("in flight")
        expect(row.locator(".about")).to_have_text("vol-free · i-1")
        expect(tab.slots("i-1")).to_have_attribute("aria-label", re.compile("0 free, 1 in trans"))
        expect(tab.card("i-1").locator(".slot.attaching")).to_have_attribute(
            "title", "vol-free: CSI volume, attaching, waits for held"
        )
        expect(tab.card("i-1").locator(".used")).to_have_attribute("data-level", "full")

        dialog = tab.open("i-1")
        dialog.get_by_role("button", name="Release vol-free").click()

        publishing.result()
        expect(row.locator(".code")).to_have_text("OK")
        expect(row.locator(".took")).to_have_text(re.compile(r"^[\d.]+ m?s$"))
        expect(tab.card("i-1").locator(".slot.csi:not(.attaching)")).to_have_count(2)


def test_a_call_that_is_refused_is_shown_with_its_message_and_what_it_asked(tab: Tab) -> None:
    with tab.site.server.connect() as client:
        call(client.controller.ControllerPublishVolume, publish("vol-none", "i-1"))

    row = tab.page.locator("#call-list > li").filter(has_text="ControllerPublishVolume")
    expect(row.locator(".code")).to_have_text("NOT_FOUND")
    row.locator("summary").click()
    expect(row).to_contain_text('"volume_id": "vol-none"')
    expect(row).to_contain_text("no disk has the id 'vol-none'")
    expect(row).to_contain_text(re.compile(r"attach vol-none, i-1 .* ms DiskNotFound"))


def test_secrets_are_not_shown(tab: Tab) -> None:
    request = publish("vol-free", "i-1")
    request.secrets["password"] = "very-secret"
    with tab.site.server.connect() as client:
        call(client.controller.ControllerPublishVolume, request)

    row = tab.page.locator("#call-list > li").filter(has_text="ControllerPublishVolume")
    row.locator("summary").click()
    expect(row).to_contain_text('"password": "***stripped***"')
    assert "very-secret" not in tab.page.content()


def test_calls_can_be_filtered_paused_and_cleared(tab: Tab) -> None:
    rows = tab.page.locator("#call-list > li")
    with tab.site.server.connect() as client:
        for node_id in ("i-1", "none"):
            request = csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id)
            call(client.controller.ControllerGetNodeInfo, request)
        expect(rows).to_have_count(3)  # and the Probe of the server's start

        tab.page.get_by_label("hide Probe").check()
        expect(rows).to_have_count(2)
        tab.page.locator("#calls-code").select_option("errors")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("NOT_FOUND")
        tab.page.locator("#calls-code").select_option("")
        tab.page.locator("#calls-rpc").fill("createvol")
        expect(tab.page.locator("#no-calls")).to_have_text("No call is like that.")
        tab.page.locator("#calls-rpc").fill("")

        tab.page.get_by_role("button", name="Pause").click()
        published_ids(client, "i-1")
        expect(tab.page.locator("#calls-count")).to_have_text("3 calls, paused")
        expect(rows).to_have_count(2)
        tab.page.get_by_role("button", name="Pause").click()
        expect(rows).to_have_count(3)

    tab.page.locator("#clear-calls").click()
    expect(rows).to_have_count(0)
    assert tab.site.call("Journal/CountCalls").json["count"] == "0"


def test_calls_from_before_are_listed(open_tab: OpenTab) -> None:
    with site() as shown, shown.server.connect() as client:
        published_ids(client, "i-1")

        tab = open_tab(shown)

        expect(tab.page.locator("#call-list .rpc")).to_have_text(["ControllerGetNodeInfo", "Probe"])


def test_a_disk_is_attached_by_the_form_and_detached_again(tab: Tab) -> None:
    dialog = tab.open("i-1")
    dialog.get_by_role("textbox", name="Disk").fill("vol-new")
    dialog.get_by_role("button", name="Attach", exact=True).click()

    expect(dialog.get_by_role("status")).to_have_text("vol-new: attached.")
    expect(tab.card("i-1").locator(".slot.out-of-band")).to_have_count(1)
    with tab.site.server.connect() as client:
        assert "vol-new" in published_ids(client, "i-1")

        dialog.get_by_role("button", name="Detach vol-new").click()

        expect(dialog.get_by_role("status")).to_have_text("vol-new: detached.")
        expect(dialog.get_by_role("button", name="Detach vol-new")).to_have_count(0)
        assert "vol-new" not in published_ids(client, "i-1")


def test_what_the_cloud_refuses_is_told_and_can_be_forced(tab: Tab) -> None:
    dialog = tab.open("i-1")
    for disk in ("vol-4", "vol-5"):
        dialog.get_by_role("textbox", name="Disk").fill(disk)
        dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text(
        "SlotsExhausted: instance 'i-1' has 4 slots and 4 slot users"
    )

    dialog.get_by_label("even if refused").check()
    dialog.get_by_role("button", name="Attach", exact=True).click()

    expect(dialog.get_by_role("status")).to_have_text("vol-5: attached.")
    expect(tab.card("i-1").locator(".used")).to_have_attribute("data-level", "over")


def test_a_disk_can_be_attached_as_the_co_would(tab: Tab) -> None:
    dialog = tab.open("i-2")
    dialog.get_by_role("textbox", name="Disk").fill("vol-csi")
    dialog.get_by_label("as the CO would").check()
    dialog.get_by_role("button", name="Attach", exact=True).click()

    expect(tab.card("i-2").locator(".slot.csi")).to_have_count(1)


def test_interfaces_are_added_and_removed(tab: Tab) -> None:
    dialog = tab.open("i-2")
    dialog.get_by_role("button", name="Add an interface").click()

    expect(tab.card("i-2").locator(".slot.interface")).to_have_count(2)
    expect(dialog.locator("#node-info")).to_contain_text("max_volumes_per_node2")

    dialog.get_by_role("button", name="Remove i-2-eni-1").click()
    expect(dialog.get_by_role("button", name="Remove i-2-eni-1")).to_have_count(0)
    dialog.get_by_role("button", name="Remove the newest").click()
    expect(tab.card("i-2").locator(".slot.interface")).to_have_count(0)


def test_a_change_that_somebody_else_makes_is_seen(tab: Tab) -> None:
    tab.site.call("Cloud/Attach", {"instance": "i-2", "disk": "vol-free"})

    expect(tab.card("i-2").locator(".slot.out-of-band")).to_have_count(2)


def test_faults_are_shown_with_counters_and_switched(tab: Tab) -> None:
    fault = tab.page.locator("#fault-list > li").filter(has_text="flaky")
    switch = tab.page.get_by_role("switch", name="Fault flaky")
    expect(switch).to_be_checked()
    expect(fault).to_contain_text("ControllerGetNodeInfo, on i-2")
    expect(fault).to_contain_text("answers UNAVAILABLE")
    expect(fault).to_contain_text("acted 0 of 2, matched 0")
    with tab.site.server.connect() as client:
        request = csi_pb2.ControllerGetNodeInfoRequest(node_id="i-2")
        assert call(client.controller.ControllerGetNodeInfo, request).code == "UNAVAILABLE"
        expect(fault).to_contain_text("acted 1 of 2, matched 1")
        expect(tab.page.locator("#call-list > li").first).to_contain_text("fault flaky")

        switch.click()

        expect(switch).not_to_be_checked()
        assert call(client.controller.ControllerGetNodeInfo, request).code == "OK"
        switch.press("Enter")
        expect(switch).to_be_checked()
        assert call(client.controller.ControllerGetNodeInfo, request).code == "UNAVAILABLE"


def test_calls_that_are_held_are_shown_and_released(tab: Tab) -> None:
    barrier = tab.page.locator("#barriers > li")
    expect(barrier).to_have_text("barrier lookup holds 0 calls")
    tab.page.get_by_role("switch", name="Fault gate").click()
    with tab.site.server.connect() as client:
        request = csi_pb2.ControllerGetNodeInfoRequest(node_id="i-1")
        held = client.controller.ControllerGetNodeInfo.future(request)
        expect(barrier).to_contain_text("holds 1 call")

        tab.page.get_by_role("button", name="Release barrier lookup").click()

        assert held.result().max_volumes_per_node == 3
        expect(barrier).to_have_text("barrier lookup holds 0 calls")


def test_a_fault_is_added_and_removed_by_the_page(tab: Tab) -> None:
    tab.page.get_by_text("Add a fault").click()
    form = tab.page.locator("#fault-form")
    form.get_by_label("RPC").fill("DeleteVolume")
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_role("alert")).to_contain_text("FaultMistakes: ")

    form.get_by_label("Code").select_option("INTERNAL")
    form.get_by_label("Times").fill("3")
    form.get_by_role("button", name="Add").click()

    fault = tab.page.locator("#fault-list > li").filter(has_text="DeleteVolume")
    expect(fault).to_contain_text("acted 0 of 3")
    fault.get_by_role("button", name=re.compile("Remove fault")).click()
    expect(fault).to_have_count(0)


def test_one_can_start_over(tab: Tab) -> None:
    tab.site.call("Cloud/Attach", {"instance": "i-2", "disk": "vol-free"})
    tab.site.call("Faults/ClearFaults")
    expect(tab.card("i-2").locator(".slot.out-of-band")).to_have_count(2)
    expect(tab.page.locator("#fault-list > li")).to_have_count(0)
    tab.page.once("dialog", lambda dialog: dialog.dismiss())
    tab.page.get_by_role("button", name="Start over").click()
    expect(tab.page.locator("#fault-list > li")).to_have_count(0)

    tab.page.once("dialog", lambda dialog: dialog.accept())
    tab.page.get_by_role("button", name="Start over").click()

    expect(tab.card("i-2").locator(".slot.out-of-band")).to_have_count(1)
    expect(tab.page.locator("#fault-list > li")).to_have_count(2)
    expect(tab.page.locator("#call-list > li")).to_have_count(0)


def test_another_scenario_that_is_loaded_is_shown(tab: Tab) -> None:
    expect(tab.page.locator("#facts")).to_contain_text("scenariosmall")
    expect(tab.page).to_have_title("mock.csi.example.com · mockdriver")

    tab.site.call("State/LoadScenario", {"name": "three-zones"})

    expect(tab.card("i-c")).to_be_visible()
    expect(tab.card("i-1")).to_have_count(0)
    expect(tab.page.locator("#facts")).to_contain_text("scenariothree-zones")


def test_a_cloud_of_5000_is_searched_and_paged(open_tab: OpenTab) -> None:
    with site(scenario=LARGE) as large:
        tab = open_tab(large)
        page, cards, where = tab.page, tab.page.locator("li.card"), tab.page.locator("#range")
        expect(where).to_have_text("1 to 24 of 5,000 instances")
        expect(cards).to_have_count(24)

        page.get_by_role("button", name="Next").click()
        expect(where).to_have_text("25 to 48 of 5,000 instances")
        expect(cards.first.get_by_role("button")).to_have_text("m-25")
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Previous").click()
        expect(where).to_have_text("25 to 48 of 5,000 instances")
        page.get_by_role("button", name="First").click()
        expect(where).to_have_text("1 to 24 of 5,000 instances")
        expect(page.get_by_role("button", name="Previous")).to_have_attribute(
            "aria-disabled", "true"
        )

        page.get_by_role("searchbox", name="Find").fill("c-1999")
        expect(where).to_have_text("1 to 1 of 1 instance")
        expect(tab.slots("c-1999")).to_have_attribute(
            "aria-label", "16 slots: 1 CSI volume, 15 free"
        )
        page.get_by_role("searchbox", name="Find").fill("m-200?")
        expect(where).to_have_text("1 to 10 of 10 instances")
        page.get_by_role("searchbox", name="Find").fill("nothing-like-that")
        expect(where).to_have_text("0 instances")
        expect(page.locator("#no-instances")).to_have_text("No instance is like that.")

        page.get_by_role("searchbox", name="Find").fill("")
        page.get_by_label("On a page").select_option("96")
        expect(cards).to_have_count(96)
        page.get_by_label("Type").select_option("c")
        expect(where).to_have_text("1 to 96 of 2,000 instances")
        page.get_by_label("Type").select_option("")
        page.get_by_label("Zone").select_option("region-1a")
        expect(where).to_have_text("1 to 96 of 3,000 instances")


def test_everything_can_be_done_by_keyboard(tab: Tab) -> None:
    page = tab.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the cloud")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Find")).to_be_focused()
    page.keyboard.type("i-2")
    expect(page.locator("li.card")).to_have_count(1)

    card = page.get_by_role("button", name="i-2", exact=True)
    _tab_until(tab, lambda: _is_focused(card))
    page.keyboard.press("Enter")
    disk = tab.dialog().get_by_role("textbox", name="Disk")
    _tab_until(tab, lambda: _is_focused(disk))
    page.keyboard.type("vol-typed")
    page.keyboard.press("Enter")
    expect(tab.dialog().get_by_role("status")).to_have_text("vol-typed: attached.")
    expect(disk).to_be_focused()
    detach = tab.dialog().get_by_role("button", name="Detach vol-typed")
    _tab_until(tab, lambda: _is_focused(detach))
    page.keyboard.press("Enter")
    expect(detach).to_have_count(0)
    # The focus stays in the dialog, in the place of what has gone.
    assert tab.dialog().evaluate("dialog => dialog.contains(document.activeElement)")
    assert page.evaluate("() => document.activeElement !== document.body")

    page.keyboard.press("Escape")
    expect(tab.dialog()).to_have_count(0)
    expect(card).to_be_focused()

    switch = page.get_by_role("switch", name="Fault flaky")
    _tab_until(tab, lambda: _is_focused(switch))
    page.keyboard.press("Space")
    expect(switch).not_to_be_checked()


def _is_focused(element: object) -> bool:
    return bool(element.evaluate("one => one === document.activeElement"))  # type: ignore[attr-defined]


def _tab_until(tab: Tab, arrived: object) -> None:
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        if arrived():  # type: ignore[operator]
            return
    raise AssertionError("the Tab key does not lead there")


def test_every_control_has_a_name(tab: Tab) -> None:
    tab.open("i-1")
    expect(tab.dialog().get_by_role("button", name="Detach i-1-published-1")).to_be_visible()

    nameless = tab.page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, [role=switch], summary")]
            .filter((one) => !one.ariaLabel && !one.labels?.length && !one.textContent.trim())
            .map((one) => one.outerHTML)"""
    )

    assert nameless == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_system_and_the_button(scheme: str, open_tab: OpenTab) -> None:
    tab = open_tab(color_scheme=scheme)
    button = tab.page.get_by_role("button", name="Theme")

    def is_dark() -> bool:
        ground = tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", ground)[:3])) < 384

    assert is_dark() == (scheme == "dark")
    button.click()
    expect(button).to_have_text("Theme: light")
    assert not is_dark()
    button.click()
    expect(button).to_have_text("Theme: dark")
    assert is_dark()
    tab.page.reload()
    expect(button).to_have_text("Theme: dark")
    assert is_dark()


def test_a_narrow_window_needs_no_scrolling_sideways(open_tab: OpenTab) -> None:
    with site(scenario=ODD) as odd:
        tab = open_tab(odd, viewport={"width": 340, "height": 700})
        expect(tab.page.locator("li.card")).to_have_count(5)

        def overflow() -> int:
            width: int = tab.page.evaluate(
                "() => document.documentElement.scrollWidth - window.innerWidth"
            )
            return width

        assert overflow() <= 0
        tab.page.get_by_role("link", name="Faults").click()
        tab.page.get_by_text("Add a fault").click()
        assert overflow() <= 0
        tab.open("i-many")
        expect(tab.dialog().locator("#users tr")).to_have_count(104)
        assert overflow() <= 0


def test_a_server_that_goes_away_and_comes_back_is_noticed(open_tab: OpenTab) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    flags = ("--dashboard", f"127.0.0.1:{port}")
    with site(*flags) as first:
        tab = open_tab(first)
        expect(tab.page.locator("#live")).to_have_text("live")
        assert first.server.stop() == 0
        expect(tab.page.locator("#live")).to_contain_text("does not answer")

    with site(*flags, scenario="{scenario: s, cloud: {instances: [{id: i-new}]}}"):
        expect(tab.page.locator("#live")).to_have_text("live")
        expect(tab.card("i-new")).to_be_visible()
        expect(tab.card("i-1")).to_have_count(0)
    tab.errors.clear()  # the stream that was cut


def test_a_token_is_asked_for_once(open_tab: OpenTab) -> None:
    token = "0123456789abcdef"
    with site(variables={"MOCKDRIVER_DASHBOARD_TOKEN": token}) as guarded:
        tab = open_tab(guarded)
        field = tab.page.get_by_label("Token")
        field.fill("a wrong one that is long")
        tab.page.get_by_role("button", name="Open").click()
        expect(tab.page.get_by_role("alert")).to_have_text("This is not the token.")

        field.fill(token)
        field.press("Enter")

        expect(tab.page.locator("li.card")).to_have_count(2)
        expect(tab.page.locator("#live")).to_have_text("live")
        assert token not in tab.page.url
        tab.page.reload()
        expect(tab.page.locator("li.card")).to_have_count(2)


EVIL = """<!doctype html><title>evil</title><script>
const url = "{url}api/mockdriver.control.v1.Cloud/Attach";
const body = JSON.stringify({{instance: "i-2", disk: "vol-evil"}});
const tries = [
  {{method: "POST", body, mode: "no-cors"}},
  {{method: "POST", body, mode: "no-cors", headers: {{"Content-Type": "text/plain"}}}},
  {{method: "POST", body, mode: "cors", headers: {{"Content-Type": "application/json"}}}},
];
const read = async (options) => (await fetch(url, options)).text();
Promise.allSettled([...tries.map(read), fetch("{url}").then((answer) => answer.text())])
  .then((results) => {{
    const seen = results.filter((one) => one.status === "fulfilled" && one.value);
    document.title = `done, saw ${{seen.length}}`;
  }});
</script><iframe src="{url}"></iframe>"""


@pytest.fixture
def evil_site() -> Iterator[ThreadingHTTPServer]:
    """Serve a page that attacks; its text is set by the test."""

    class Handler(BaseHTTPRequestHandler):
        text = ""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(self.text.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = WallRuntime().start(server.serve_forever, "evil")
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_of_another_site_can_neither_change_nor_read(
    browser: Browser, evil_site: ThreadingHTTPServer
) -> None:
    with site() as shown, closing(browser.new_context()) as context:
        evil_site.RequestHandlerClass.text = EVIL.format(url=shown.url)  # type: ignore[attr-defined]
        page = context.new_page()
        page.goto(f"http://localhost:{evil_site.server_address[1]}/")

        expect(page).to_have_title("done, saw 0")
        frame = page.frames[1]
        wait_until(lambda: frame.url.startswith("chrome-error"), "the frame to be refused")
        instance = shown.call("Cloud/GetInstance", {"id": "i-2"}).json
        assert [item["disk"] for item in instance["attachments"]] == ["vol-2"]


def test_the_stream_keeps_up_when_calls_are_quick(tab: Tab) -> None:
    with tab.site.server.connect() as client:
        for _ in range(500):
            published_ids(client, "i-1")

    expect(tab.page.locator("#calls-count")).to_have_text("the newest 200 of 501 calls")
    expect(tab.page.locator("#call-list > li")).to_have_count(200)
    expect(tab.page.locator("#call-list .code[data-kind=running]")).to_have_count(0)

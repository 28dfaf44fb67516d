"""The fixtures for pytest, in projects of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

ATTACHING = """
    scenario: attaching
    cloud:
      instance_types: {t: {slots: 4}}
      instances: [{id: i-1, type: t, attached: [vol-1]}]
"""

Pytester = pytest.Pytester


def passes(pytester: Pytester, count: int, *options: str) -> pytest.RunResult:
    """Run the project's tests, all of which pass."""
    result = pytester.runpytest("-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=count)
    return result


def fails(pytester: Pytester, *options: str) -> str:
    """Run the project's one test, which fails; return what is printed."""
    result = pytester.runpytest("-p", "no:cacheprovider", *options)
    assert result.parseoutcomes().get("failed", 0) + result.parseoutcomes().get("errors", 0) == 1
    return result.stdout.str()


def test_a_test_finds_a_driver_that_answers(pytester: Pytester) -> None:
    pytester.makepyfile("""
        def test_it(mockdriver):
            info = mockdriver.csi.controller.ControllerGetNodeInfo(node_id="i-worker-1")
            assert info.max_volumes_per_node == 23
            assert mockdriver.calls("ControllerGetNodeInfo").count == 1
    """)

    passes(pytester, 1)


def test_the_next_test_finds_the_same_driver_as_new(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        pids = set()

        @pytest.mark.parametrize("nth", [1, 2, 3])
        def test_it(mockdriver, nth):
            pids.add(mockdriver.pid)
            control = mockdriver.control
            assert len(control.cloud.node_info("i-worker-1").published_volume_ids) == 10
            assert control.faults.list() == []
            assert control.calls.count() == 0
            assert not control.clock.reading().stopped
            assert control.state.server().scenario == "kep-6011-example"
            assert len(control.state.snapshots()) == 1

            mockdriver.cloud.attach("i-worker-1", "vol-by-hand")
            mockdriver.fail("Probe", code="UNAVAILABLE")
            mockdriver.csi.node.NodeGetInfo()
            control.clock.stop()
            control.clock.advance("1h")
            control.state.snapshot("mine")
            if nth == 2:
                control.state.load(name="three-zones")

        def test_one_process_was_enough():
            assert len(pids) == 1
    """)

    passes(pytester, 4)


def test_a_marker_says_which_scenario(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pathlib
        import pytest

        pids = set()
        pytestmark = pytest.mark.mockdriver("csi-sanity")

        def nodes(driver):
            pids.add(driver.pid)
            return [instance.id for instance in driver.cloud.instances()]

        def test_of_the_module(mockdriver):
            assert nodes(mockdriver) == ["i-sanity"]

        @pytest.mark.mockdriver(scenario="three-zones")
        class TestOfTheClass:
            def test_it(self, mockdriver):
                assert nodes(mockdriver) == ["i-a", "i-b", "i-c"]

            @pytest.mark.mockdriver(scenario="scenario: x\\ncloud: {instances: [{id: i-text}]}")
            def test_of_its_own(self, mockdriver):
                assert nodes(mockdriver) == ["i-text"]

        @pytest.mark.mockdriver({"scenario": "x", "cloud": {"instances": [{"id": "i-dict"}]}})
        def test_a_dict(mockdriver):
            assert nodes(mockdriver) == ["i-dict"]

        @pytest.mark.mockdriver(pathlib.Path("beside.yaml"))
        def test_a_path(mockdriver):
            assert nodes(mockdriver) == ["i-file"]

        @pytest.mark.mockdriver(scenario="beside.yaml")
        def test_a_file_beside_the_test(mockdriver):
            assert nodes(mockdriver) == ["i-file"]

        def test_one_process_was_enough():
            assert len(pids) == 1
    """)
    pytester.makefile(".yaml", beside="scenario: beside\ncloud: {instances: [{id: i-file}]}")
    pytester.mkdir("elsewhere")

    passes(pytester, 7, "--strict-markers")


def test_a_marker_says_with_which_options(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.mockdriver(driver_name="a.example.com")
        class TestNamed:
            def test_it(self, mockdriver):
                assert mockdriver.csi.identity.GetPluginInfo().name == "a.example.com"

            @pytest.mark.mockdriver(scenario="three-zones", nodes="*")
            def test_with_nodes_too(self, mockdriver):
                assert mockdriver.csi.identity.GetPluginInfo().name == "a.example.com"
                assert mockdriver.csi.node_of("i-b").NodeGetInfo().node_id == "i-b"

        @pytest.mark.mockdriver(capabilities={"GET_NODE_INFO": False})
        def test_without_a_capability(mockdriver):
            enabled = mockdriver.control.state.server().capabilities
            assert "controller.GET_NODE_INFO" not in enabled
            assert "controller.PUBLISH_UNPUBLISH_VOLUME" in enabled
    """)

    passes(pytester, 3)


def test_a_mistake_in_a_marker_is_told_with_what_is_allowed(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.mockdriver(nodez="*")
        def test_it(mockdriver):
            pass
    """)

    assert "no option nodez; there are: scenario, capabilities, " in fails(pytester)


def test_a_scenario_with_mistakes_is_told_and_the_driver_goes_on(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        def test_before(mockdriver):
            pass

        @pytest.mark.mockdriver(scenario="{scenario: x, clowd: {}}")
        def test_with_a_mistake(mockdriver):
            pass

        def test_after(mockdriver):
            assert mockdriver.control.state.server().scenario == "kep-6011-example"
    """)

    result = pytester.runpytest("-p", "no:cacheprovider")

    result.assert_outcomes(passed=2, errors=1)
    assert "clowd" in result.stdout.str()


def test_a_factory_gives_as_many_drivers_as_are_asked_for(pytester: Pytester) -> None:
    pytester.makepyfile("""
        pids = []

        def test_two(mockdriver_factory, mockdriver):
            a = mockdriver_factory(driver_name="a.example.com")
            b = mockdriver_factory("beside.yaml", driver_name="b.example.com")
            names = [driver.csi.identity.GetPluginInfo().name for driver in (a, b, mockdriver)]
            assert names == ["a.example.com", "b.example.com", "mock.csi.example.com"]
            assert len({a.pid, b.pid, mockdriver.pid}) == 3
            assert b.csi.node.NodeGetInfo().node_id == "i-file"
            a.cloud.attach("i-worker-1", "vol-by-hand")
            pids.extend([a.pid, b.pid])

        def test_the_same_again_as_new(mockdriver_factory):
            a = mockdriver_factory(driver_name="a.example.com")
            same = mockdriver_factory(driver_name="a.example.com")
            assert a.pid in pids
            assert same.pid not in pids
            assert len(a.cloud.node_info("i-worker-1").published_volume_ids) == 10
    """)
    pytester.makefile(".yaml", beside="scenario: beside\ncloud: {instances: [{id: i-file}]}")

    passes(pytester, 2)


def test_calls_and_log_of_the_drivers_are_in_the_report_of_a_failure(pytester: Pytester) -> None:
    pytester.makepyfile("""
        def test_before(mockdriver):
            mockdriver.csi.identity.GetPluginInfo()

        def test_it(mockdriver, mockdriver_factory):
            other = mockdriver_factory(driver_name="other.example.com")
            other.csi.identity.GetPluginCapabilities()
            mockdriver.csi.node.NodeGetInfo()
            # So the line is in the log too, which is written a moment later.
            while "NodeGetInfo OK" not in mockdriver.log:
                pass
            assert False
    """)

    printed = fails(pytester)

    assert printed.count("- calls of <mockdriver kep-6011-example at unix:") == 2
    assert printed.count("- log of <mockdriver kep-6011-example at unix:") == 2
    assert 'NodeGetInfo at node i-worker-1 {} -> OK {"accessible' in printed
    assert "NodeGetInfo OK" in printed
    assert "GetPluginCapabilities {} -> OK" in printed
    # Of another test. (Log lines are written a moment later, so one of them may be here.)
    assert "GetPluginInfo {} ->" not in printed


def test_a_test_that_passes_has_no_such_report(pytester: Pytester) -> None:
    pytester.makepyfile("def test_it(mockdriver): mockdriver.csi.node.NodeGetInfo()")

    assert "calls of" not in passes(pytester, 1, "-rA").stdout.str()


def test_a_fixture_that_fails_after_the_test_has_the_report_too(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.fixture
        def published(mockdriver):
            yield
            mockdriver.csi.node.NodeGetInfo()
            assert False

        def test_it(published):
            pass
    """)

    assert "NodeGetInfo at node i-worker-1 {} -> OK" in fails(pytester)


def test_a_driver_that_has_died_is_told_with_its_log(pytester: Pytester) -> None:
    pytester.makepyfile("""
        def test_it(mockdriver):
            mockdriver.csi.node.NodeGetInfo()
            while "NodeGetInfo OK" not in mockdriver.log:
                pass
            mockdriver.kill()
            assert False
    """)

    printed = fails(pytester)

    assert "not there any more: it ended with exit code -9" in printed
    assert "NodeGetInfo OK" in printed


def test_a_driver_of_ones_own_fixture_is_in_the_report(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        import mockdriver.testing

        @pytest.fixture(scope="module")
        def driver():
            with mockdriver.testing.start() as driver:
                yield driver

        def test_it(driver):
            driver.csi.node.NodeGetInfo()
            assert False
    """)

    assert "NodeGetInfo at node i-worker-1 {} -> OK" in fails(pytester)


def test_a_driver_that_a_test_has_killed_is_replaced(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("nth", [1, 2])
        def test_it(mockdriver, nth):
            assert mockdriver.csi.node.NodeGetInfo().node_id == "i-worker-1"
            mockdriver.kill()
    """)

    passes(pytester, 2)


def test_calls_that_a_failed_test_leaves_held_do_not_hold_up_the_next(pytester: Pytester) -> None:
    pytester.makepyfile("""
        calls = []

        def test_it(mockdriver):
            held = mockdriver.hold("NodeGetInfo")
            calls.append(mockdriver.csi.node.NodeGetInfo.begin())
            held.wait_for(1)
            assert False

        def test_after(mockdriver):
            assert calls[0].result().node_id == "i-worker-1"
            assert mockdriver.csi.node.NodeGetInfo().node_id == "i-worker-1"
    """)

    result = pytester.runpytest("-p", "no:cacheprovider")

    result.assert_outcomes(passed=1, failed=1)


def test_workers_of_xdist_have_drivers_of_their_own(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pathlib
        import pytest

        @pytest.mark.parametrize("nth", range(6))
        def test_it(mockdriver, nth, worker_id):
            assert mockdriver.calls().count == 0
            mockdriver.cloud.attach("i-worker-1", f"vol-{nth}")
            ids = mockdriver.csi.controller.ControllerGetNodeInfo(node_id="i-worker-1")
            assert len(ids.published_volume_ids) == 11
            with pathlib.Path("pids").open("a") as file:
                file.write(f"{worker_id} {mockdriver.pid}\\n")
            assert nth != 5
    """)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2")

    result.assert_outcomes(passed=5, failed=1)
    assert "- calls of <mockdriver kep-6011-example" in result.stdout.str()
    pairs = {tuple(line.split()) for line in (pytester.path / "pids").read_text().splitlines()}
    workers, pids = zip(*pairs, strict=True)
    assert len(set(pids)) == len(set(workers)) == len(pairs)


def test_who_uses_no_fixture_pays_nothing(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import sys

        def test_it():
            assert "mockdriver.pytest_plugin" in sys.modules
            for name in ("grpc", "google.protobuf", "mockdriver.testing"):
                assert name not in sys.modules
    """)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--strict-markers")

    result.assert_outcomes(passed=1)


def test_loading_the_plugin_imports_nothing_else() -> None:
    program = (
        "import sys, pytest, contextlib, pathlib\n"
        "before = set(sys.modules)\n"
        "import mockdriver.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["mockdriver", "mockdriver.pytest_plugin"]


def test_the_plugin_can_be_left_out(pytester: Pytester) -> None:
    pytester.makepyfile("""
        def test_other():
            pass

        def test_it(mockdriver):
            pass
    """)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:mockdriver")

    result.assert_outcomes(passed=1, errors=1)
    assert "fixture 'mockdriver' not found" in result.stdout.str()


def test_the_marker_is_explained(pytester: Pytester) -> None:
    result = pytester.runpytest_subprocess("--markers")

    result.stdout.fnmatch_lines(["@pytest.mark.mockdriver(scenario, capabilities=...*"])


def test_a_project_with_csi_stubs_of_its_own_can_use_all_but_ours(pytester: Pytester) -> None:
    pytester.makepyfile("""
        import pytest
        from google.protobuf import descriptor_pb2, descriptor_pool

        file = descriptor_pb2.FileDescriptorProto(name="csi.proto", package="csi.v1")
        descriptor_pool.Default().AddSerializedFile(file.SerializeToString())

        def test_it(mockdriver):
            from mockdriver.testing import CsiStubsCollide

            mockdriver.cloud.attach("i-worker-1", "vol-by-hand")
            ask = mockdriver.channel().unary_unary("/csi.v1.Identity/Probe")
            ask(b"", timeout=60)
            assert mockdriver.calls("Probe").count == 1
            with pytest.raises(CsiStubsCollide):
                mockdriver.csi
    """)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    result.assert_outcomes(passed=1)

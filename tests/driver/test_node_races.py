"""Calls on a node that run at once: one at a time by volume and path, nothing half done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockdriver.co.calling import Answer
from tests.driver.racing_driver import Action, RacingDriver
from tests.driver.small_driver import Mode, capability, of
from tests.driver.small_node import SmallNode

SEEDS = range(20)
CODES = {"OK", "ABORTED"}


def racing_node(folder: Path, seed: int) -> tuple[SmallNode, RacingDriver]:
    driver = RacingDriver(seed)
    driver.region.add_instance("i-1")
    driver.region.add_instance("i-2")
    return SmallNode(folder, driver=driver), driver


def codes_of(driver: RacingDriver, *actions: Action) -> list[str]:
    """Run actions at once; return their codes. Nothing must be left in flight."""
    codes = driver.run_for_codes(*actions)
    driver.assert_at_rest()
    return codes


# ------------------------------------------------------------------------ in the midst of another


class Meanwhile:
    """Makes calls while a method of the node's files runs, and keeps their answers."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        node: SmallNode,
        method: str,
        *calls: Callable[[], Answer],
    ) -> None:
        self.answers: list[Answer] = []
        files = node.driver.driver._context.files
        original = getattr(files, method)

        def busy(*arguments: Any, **options: Any) -> Any:
            self.answers += [call() for call in calls]
            return original(*arguments, **options)

        monkeypatch.setattr(files, method, busy)

    @property
    def codes(self) -> list[str]:
        return [answer.code for answer in self.answers]


@pytest.mark.parametrize("written", ["{}", "{}/", "/{}", "{}/."])
def test_a_second_call_on_volume_and_target_is_aborted(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SmallNode(tmp_path)
    of(node.stage())
    path = written.format(node.target)
    calls = (lambda: node.publish(path=path), lambda: node.unpublish(path=path))
    meanwhile = Meanwhile(monkeypatch, node, "publish", *calls)
    assert node.publish().ok
    assert meanwhile.codes == ["ABORTED", "ABORTED"]
    assert meanwhile.answers[0].message == "another call on the volume 'vol-1' is in flight"
    assert node.driver.keys_in_flight() == 0


def test_a_second_call_on_volume_and_staging_path_is_aborted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SmallNode(tmp_path)
    meanwhile = Meanwhile(monkeypatch, node, "require_folder", node.stage, node.unstage)
    assert node.stage().ok
    assert meanwhile.codes == ["ABORTED", "ABORTED"]


def test_other_nodes_and_the_controller_are_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = SmallNode(tmp_path)
    node.attach("vol-both", "i-1", "i-2", max_attachments=2)
    of(node.stage("vol-both"))
    of(node.stage("vol-both", node="i-2"))
    calls = (
        lambda: node.unpublish("vol-both", node="i-2"),
        lambda: node.driver.publish("vol-both"),
    )
    meanwhile = Meanwhile(monkeypatch, node, "publish", *calls)
    assert node.publish("vol-both").ok
    assert meanwhile.codes == ["OK", "OK"]


def test_a_call_that_fails_gives_its_place_back(tmp_path: Path) -> None:
    node = SmallNode(tmp_path)
    assert [node.publish().code for _ in range(2)] == ["FAILED_PRECONDITION"] * 2
    assert node.driver.keys_in_flight() == 0


# --------------------------------------------------------------------- in an order that a seed has


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_publishing_many_times_at_once_is_one(seed: int, tmp_path: Path) -> None:
    node, driver = racing_node(tmp_path, seed)
    of(node.stage())
    codes = Counter(codes_of(driver, *[node.publish] * 6))
    assert set(codes) <= CODES
    assert codes["OK"] >= 1
    assert [path.name for path in node.pods.iterdir()] == ["target"]
    assert node.publish().ok


@pytest.mark.parametrize("seed", SEEDS)
def test_publishing_and_unpublishing_at_once_end_in_one_or_the_other(
    seed: int, tmp_path: Path
) -> None:
    node, driver = racing_node(tmp_path, seed)
    of(node.stage())
    codes = codes_of(driver, node.publish, node.unpublish, node.publish, node.unpublish)
    assert set(codes) <= CODES
    assert node.target.exists() == (node.stats().code == "OK")
    of(node.unpublish())
    assert not node.target.exists()


@pytest.mark.parametrize("seed", SEEDS)
def test_of_two_targets_for_one_writer_only_one_is_made(seed: int, tmp_path: Path) -> None:
    node, driver = racing_node(tmp_path, seed)
    of(node.stage())
    targets = [node.pods / str(number) for number in range(4)]
    codes = Counter(
        codes_of(driver, *[lambda path=path: node.publish(path=path) for path in targets])
    )
    assert codes == {"OK": 1, "FAILED_PRECONDITION": 3}
    assert sum(path.exists() for path in targets) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_targets_for_many_writers_are_all_made(seed: int, tmp_path: Path) -> None:
    node, driver = racing_node(tmp_path, seed)
    volume, wanted = node.attach_shared(), capability(Mode.SINGLE_NODE_MULTI_WRITER)
    of(node.stage(volume, wanted=wanted))
    targets = [node.pods / str(number) for number in range(4)]
    codes = codes_of(
        driver, *[lambda path=path: node.publish(volume, path, wanted=wanted) for path in targets]
    )
    assert codes == ["OK"] * 4
    assert all(path.is_dir() for path in targets)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_two_volumes_at_one_target_only_one_gets_it(seed: int, tmp_path: Path) -> None:
    node, driver = racing_node(tmp_path, seed)
    volumes = ["vol-1", node.attach("vol-2")]
    for volume in volumes:
        of(node.stage(volume))
    codes = codes_of(driver, *[lambda volume=volume: node.publish(volume) for volume in volumes])
    assert sorted(codes) == ["ALREADY_EXISTS", "OK"]
    winner = volumes[codes.index("OK")]
    assert node.stats(winner).ok
    for volume in volumes:
        of(node.unpublish(volume))
    assert not node.target.exists()


@pytest.mark.parametrize("seed", SEEDS)
def test_staging_unstaging_and_publishing_at_once_leave_a_whole_state(
    seed: int, tmp_path: Path
) -> None:
    node, driver = racing_node(tmp_path, seed)
    codes = codes_of(driver, node.stage, node.publish, node.unstage, node.stage, node.unpublish)
    assert set(codes) <= {*CODES, "FAILED_PRECONDITION"}
    assert node.target.exists() == (node.stats().code == "OK")

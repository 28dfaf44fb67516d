"""Processes that are lent to one test after the other, each time as if they were new."""

from __future__ import annotations

from collections.abc import Hashable

import grpc

from mockdriver.client import ControlError
from mockdriver.testing.driver import Driver
from mockdriver.testing.options import ServeOptions, key_of
from mockdriver.testing.scenario_source import ScenarioSource

MAX_IDLE = 8
"""How many processes wait for another test that wants their options."""

_GONE = grpc.StatusCode.UNAVAILABLE

_WITNESS = "as lent to a test"
"""The name of a snapshot. It is gone when a test has loaded another scenario."""


class Pool:
    """Lends out drivers; close it to stop them."""

    def __init__(self) -> None:
        self._idle: list[tuple[Hashable, Driver]] = []

    def lend(self, source: ScenarioSource, options: ServeOptions) -> Driver:
        """Return a driver in the state in which this scenario and these options put a new one.

        One that was started with the options before is used again, and takes another scenario
        without a new process. Raises StartFailed; ControlError for a scenario that is not right.
        """
        key = _key(source, options)
        for entry in reversed(self._idle):
            if entry[0] == key:
                self._idle.remove(entry)
                try:
                    _prepare(entry[1], source)
                except ControlError as error:
                    # It has died, or cannot be reset: a new one does better.
                    entry[1].stop()
                    if error.rpc == "LoadScenario" and error.code is not _GONE:
                        raise
                else:
                    return entry[1]
        driver = Driver(source, options)
        _mark(driver)
        return driver

    def give_back(self, driver: Driver) -> None:
        """Take a driver back: calls that it still holds go on, its state stays to be looked at."""
        try:
            driver.control.faults.clear()
        except ControlError:
            driver.stop()
        else:
            self._idle.append((_key(driver.source, driver.options), driver))
        while len(self._idle) > MAX_IDLE:
            self._idle.pop(0)[1].stop()

    def close(self) -> None:
        """Stop all drivers that nobody uses."""
        while self._idle:
            self._idle.pop()[1].stop()


def _key(source: ScenarioSource, options: ServeOptions) -> Hashable:
    """Return what a process can not change any more: which nodes it serves is the scenario's."""
    serves_nodes = "nodes" in options or "node" in options or "serve_options" in options
    return key_of(options), source if serves_nodes else None


def _prepare(driver: Driver, source: ScenarioSource) -> None:
    """Put a driver back to the start of a scenario; raises ControlError."""
    state = driver.control.state
    state.reset()
    snapshots = [snapshot.name for snapshot in state.snapshots()]
    if _WITNESS in snapshots and driver.loaded == source.content:
        for name in snapshots:
            if name != _WITNESS:
                state.delete_snapshot(name)
    else:
        driver.load(source)
        _mark(driver)


def _mark(driver: Driver) -> None:
    driver.control.state.snapshot(_WITNESS)

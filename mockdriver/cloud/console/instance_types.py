"""The operator's console: instance types."""

from __future__ import annotations

from collections.abc import Callable

from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.errors import AlreadyExists, InstanceTypeInUse
from mockdriver.cloud.resources import InstanceType
from mockdriver.cloud.store import Store


class InstanceTypesPart(ConsolePart):
    """Instance types come, change and go. A base of Operator."""

    def put_instance_type(self, type_: InstanceType) -> None:
        """Add an instance type or change it. Never refused for slots in use."""
        with self._core.lock:
            self._core.store.put_instance_type(type_)

    def add_instance_type(self, type_: InstanceType) -> None:
        """Add an instance type; raises AlreadyExists."""

        def change(store: Store, now_seconds: float) -> None:
            if type_.name in store.instance_types:
                raise AlreadyExists("instance type", type_.name)
            store.put_instance_type(type_)

        self._change(change)

    def change_type(
        self, name: str, changed: Callable[[InstanceType], InstanceType]
    ) -> InstanceType:
        """Put `changed` of a type in its place, in one step; raises InstanceTypeNotFound.

        Never refused for slots in use.
        """

        def change(store: Store, now_seconds: float) -> InstanceType:
            type_ = changed(store.instance_type(name))
            store.put_instance_type(type_)
            return type_

        return self._change(change)

    def remove_instance_type(self, name: str, *, force: bool = False) -> None:
        """Remove a type; raises InstanceTypeNotFound, and unless forced InstanceTypeInUse.

        With `force` instances keep its name. The cloud then knows of no limit for them, and
        whoever asks it for their type is told that there is none.
        """

        def change(store: Store, now_seconds: float) -> None:
            store.instance_type(name)
            users = store.type_users(name)
            if users and not force:
                raise InstanceTypeInUse(name, users)
            store.remove_instance_type(name)

        self._change(change)

    def instance_type(self, name: str) -> InstanceType:
        """Return a type; raises InstanceTypeNotFound."""
        with self._core.lock:
            return self._core.store.instance_type(name)

    def instance_types(self) -> list[InstanceType]:
        """Return all types, in the order in which they were added."""
        with self._core.lock:
            return list(self._core.store.instance_types.values())

"""The operator's console: network interfaces."""

from __future__ import annotations

from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.errors import NetworkInterfaceNotFound
from mockdriver.cloud.resources import NetworkInterface
from mockdriver.cloud.store import Store


class NetworkInterfacesPart(ConsolePart):
    """Network interfaces come and go. A base of Operator."""

    def network_interfaces(self, instance: str | None = None) -> list[NetworkInterface]:
        """Return the interfaces of an instance or of all, oldest first; raises InstanceNotFound."""

        def look(store: Store, now_seconds: float) -> list[NetworkInterface]:
            ids = list(store.instances) if instance is None else [store.instance(instance).id]
            return [
                interface
                for id in ids
                for interface in store.occupancy(id).network_interfaces.values()
            ]

        return self._change(look)

    def add_network_interface(self, instance: str, id: str | None = None) -> NetworkInterface:
        """Add an interface, whether or not a slot is left for it.

        Raises InstanceNotFound, AlreadyExists. Without an id it gets `<instance>-eni-<n>`, n being
        the first that is free.
        """
        if id is None:
            return self.add_network_interfaces(instance, 1)[0]
        interface = NetworkInterface(id=id, instance=instance)

        def change(store: Store, now_seconds: float) -> NetworkInterface:
            store.instance(instance)
            store.add_network_interface(interface)
            return interface

        return self._change(change)

    def add_network_interfaces(self, instance: str, count: int) -> list[NetworkInterface]:
        """Add `count` interfaces with names of their own; raises InstanceNotFound."""

        def change(store: Store, now_seconds: float) -> list[NetworkInterface]:
            n = len(store.occupancy(store.instance(instance).id).network_interfaces)
            added: list[NetworkInterface] = []
            while len(added) < count:
                n += 1
                id = f"{instance}-eni-{n}"
                if not store.has_network_interface(id):
                    added.append(NetworkInterface(id=id, instance=instance))
                    store.add_network_interface(added[-1])
            return added

        return self._change(change)

    def remove_network_interface(self, instance: str, id: str) -> None:
        """Remove one interface; raises InstanceNotFound, NetworkInterfaceNotFound."""

        def change(store: Store, now_seconds: float) -> None:
            interfaces = store.occupancy(store.instance(instance).id).network_interfaces
            if id not in interfaces:
                raise NetworkInterfaceNotFound(instance, id, len(interfaces))
            store.remove_network_interface(interfaces[id])

        self._change(change)

    def remove_network_interfaces(self, instance: str, count: int = 1) -> None:
        """Remove the newest `count` interfaces.

        Raises NetworkInterfaceNotFound if there are fewer.
        """

        def change(store: Store, now_seconds: float) -> None:
            interfaces = store.occupancy(store.instance(instance).id).network_interfaces
            if count > len(interfaces):
                raise NetworkInterfaceNotFound(instance, count, len(interfaces))
            for interface in list(interfaces.values())[len(interfaces) - count :]:
                store.remove_network_interface(interface)

        self._change(change)

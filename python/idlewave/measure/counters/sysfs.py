"""Counters that Linux has in /sys: of network interfaces, of InfiniBand (RoCE, EFA, …), and of Slingshot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .source import Counter, folders_in, number_in, numbers_in

SYS = Path("/sys")
RUN = Path("/run")


def interface_numbers(place: Path) -> dict[str, object]:
    """The kernel's number of each interface in /sys/class/net."""
    return {interface.name: number_in(interface / "ifindex") for interface in folders_in(place)}


_BYTES = {"rx_bytes": "bytes received", "tx_bytes": "bytes sent"}


class NetworkInterfaces:
    """/sys/class/net/*/statistics: what the kernel counts for each interface, by `interface.counter`."""

    name = "net"

    def __init__(self, root: Path = SYS) -> None:
        self._place = root / "class/net"

    def discover(self) -> dict[str, Counter]:
        """All of them; the kernel's are of 64 bits."""
        return {name: self._counter(name.rpartition(".")[2]) for name in self.read()}

    def read(self) -> dict[str, int]:
        """The counters of all interfaces."""
        return {
            f"{interface.name}.{name}": number
            for interface in folders_in(self._place)
            for name, number in numbers_in(interface / "statistics")
        }

    def identities(self) -> dict[str, object]:
        """The number that the kernel gave each interface, which no other gets."""
        return interface_numbers(self._place)

    @staticmethod
    def _counter(name: str) -> Counter:
        what = _BYTES.get(name, name.replace("_", " ").replace("rx", "received:", 1).replace("tx", "sent:", 1))
        return Counter(what, "bytes" if name in _BYTES else "events", 64)


_IB_BITS = {
    "symbol_error": 16,
    "link_error_recovery": 8,
    "link_downed": 8,
    "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16,
    "port_rcv_switch_relay_errors": 16,
    "port_xmit_discards": 16,
    "port_xmit_constraint_errors": 8,
    "port_rcv_constraint_errors": 8,
    "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4,
    "VL15_dropped": 16,
    "port_xmit_wait": 32,
    "port_xmit_data": 32,
    "port_rcv_data": 32,
    "port_xmit_packets": 32,
    "port_rcv_packets": 32,
}
"""The width of InfiniBand's PortCounters, which stay at their end. Newer devices have wider ones under some of these
names: a number beyond the end is one of 64 bits, which wraps around."""
_IB_WORDS = {
    "port_xmit_data": ("data sent, in words of 4 bytes", "4 bytes"),
    "port_rcv_data": ("data received, in words of 4 bytes", "4 bytes"),
    "port_xmit_wait": ("ticks for which there was data to send and no credit: congestion", "ticks"),
    "port_xmit_discards": ("packets discarded at sending, as the port was down or congested", "packets"),
}


class InfiniBand:
    """/sys/class/infiniband/*/ports/*/{counters,hw_counters}, by `device.port.counter`."""

    name = "ib"

    def __init__(self, root: Path = SYS) -> None:
        self._place = root / "class/infiniband"

    def discover(self) -> dict[str, Counter]:
        """All of them."""
        return {name: self._counter(name, number) for name, number in self.read().items()}

    def read(self) -> dict[str, int]:
        """The counters of all ports."""
        return {
            f"{device.name}.{port.name}.{name}": number
            for device, port in self._ports()
            for folder in ("counters", "hw_counters")
            for name, number in numbers_in(port / folder)
            if name != "lifespan"  # how long the driver stores hw_counters
        }

    def _ports(self) -> Iterator[tuple[Path, Path]]:
        for device in folders_in(self._place):
            for port in folders_in(device / "ports"):
                yield device, port

    @staticmethod
    def _counter(name: str, number: int) -> Counter:
        own = name.rpartition(".")[2]
        what, unit = _IB_WORDS.get(own, (own.replace("_", " "), "events"))
        bits = _IB_BITS.get(own)
        if bits is None or number >= 2**bits:
            return Counter(what, unit, None if bits is None else 64)
        return Counter(what, unit, bits, saturates=True)


class Slingshot:
    """/sys/class/cxi/*/device/telemetry of Slingshot's network cards, and what their retry handler says in /run/cxi, by
    `device.counter`; both only where this user may read them."""

    name = "cxi"

    def __init__(self, root: Path = SYS, run: Path = RUN) -> None:
        self._place, self._run = root / "class/cxi", run / "cxi"

    def discover(self) -> dict[str, Counter]:
        """All of them."""
        return {name: Counter(self._what(name.rpartition(".")[2])) for name in self.read()}

    def read(self) -> dict[str, int]:
        """The counters of all cards."""
        found = {
            f"{card.name}.{name}": number
            for card in folders_in(self._place)
            for name, number in numbers_in(card / "device/telemetry")
        }
        for card in folders_in(self._run):
            found |= {f"{card.name}.rh:{name}": number for name, number in numbers_in(card)}
        return found

    @staticmethod
    def _what(name: str) -> str:
        return f"of the retry handler: {name[3:]}" if name.startswith("rh:") else name.replace("_", " ")

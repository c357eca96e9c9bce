"""What Linux counts for TCP and UDP: retransmissions, timeouts and losses, of this network namespace."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from .source import Counter, text_in

PROC = Path("/proc")
_SNMP = {
    "Tcp.InSegs": "segments received",
    "Tcp.OutSegs": "segments sent",
    "Tcp.RetransSegs": "segments sent again",
    "Tcp.InErrs": "segments received with errors",
    "Tcp.OutRsts": "resets sent",
    "Udp.InDatagrams": "datagrams received",
    "Udp.OutDatagrams": "datagrams sent",
    "Udp.InErrors": "datagrams received with errors",
    "Udp.RcvbufErrors": "datagrams lost for a full receive buffer",
    "Udp.SndbufErrors": "datagrams lost for a full send buffer",
}
_NETSTAT = re.compile(
    r"TcpExt\.TCP(\w*Retrans\w*|\w*Timeouts|\w*Lost\w*|\w*Loss\w*|\w*Undo\w*|\w*Reorder\w*|\w*Drop\w*|SpuriousRTOs|"
    r"SackRecovery|RenoRecovery)|TcpExt\.(Listen\w+|PruneCalled|RcvPruned|TCPRcvQDrop|SyncookiesSent)"
)
"""The names in /proc/net/netstat about what was lost or sent again."""


class Retransmissions:
    """/proc/net/snmp and /proc/net/netstat, by `Protocol.Counter`."""

    name = "tcp"

    def __init__(self, root: Path = PROC) -> None:
        self._snmp, self._netstat = root / "net/snmp", root / "net/netstat"

    def discover(self) -> dict[str, Counter]:
        """All of them."""
        return {name: Counter(_SNMP.get(name, name.partition(".")[2])) for name in self.read()}

    def read(self) -> dict[str, int]:
        """The counters of both files."""
        found = {name: number for name, number in _table(text_in(self._snmp)).items() if name in _SNMP}
        found |= {n: number for n, number in _table(text_in(self._netstat)).items() if _NETSTAT.fullmatch(n)}
        return found


def _table(text: str | None) -> dict[str, int]:
    """Pairs of lines: names behind a protocol, and numbers behind the same."""
    lines = (text or "").splitlines()
    found = {}
    for title, values in pairwise(lines):
        protocol, _, names = title.partition(":")
        same, _, numbers = values.partition(":")
        if protocol != same or len(names.split()) != len(numbers.split()):
            continue
        for name, number in zip(names.split(), numbers.split(), strict=True):
            if number.isdecimal() and not name.isdecimal():
                found[f"{protocol}.{name}"] = int(number)
    return found

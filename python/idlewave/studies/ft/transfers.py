"""Single transfers and floods of them on a machine, beside what was published for Blue Gene/P (docs/studies/ft.md)."""

from __future__ import annotations

from dataclasses import dataclass

from ...machine import Machine
from ...schedule import Schedule
from ...simulation import simulate
from .settings import with_links

FLOOD = 64
"""Transfers in a row."""
SHORT, MIDDLE, LONG = 32, 8192, 2 << 20
PUBLISHED_LINK = 748e6
"""What a transfer over DCMF can reach on one link, bytes/s (Kumar and others, ICS 2008, as the talk cites it)."""


@dataclass(frozen=True)
class Beside:
    """A published statement, and what the simulated machine does."""

    what: str
    published: str
    here: str
    holds: bool


def round_trip_s(machine: Machine, size: int, *, one_sided: bool) -> float:
    """A put and its acknowledgement, or a message and an empty answer, s."""
    if one_sided:
        return _finish(f"num_ranks 2\nrank 0 {{\np: put {size}b to 1\n}}\nrank 1 {{\n}}\n", machine)
    goal = (
        f"num_ranks 2\nrank 0 {{\ns: send {size}b to 1\nr: recv 0b from 1\nr requires s\n}}\n"
        f"rank 1 {{\nr: recv {size}b from 0\ns: send 0b to 0\ns requires r\n}}\n"
    )
    return _finish(goal, machine)


def flood_bandwidth(machine: Machine, size: int, links: int, *, one_sided: bool) -> float:
    """Bytes a second of a flood of nonblocking transfers of `size` bytes over so many links."""
    op = "put" if one_sided else "send"
    ops = "\n".join(f"t{i}: {op} {size}b to 1" for i in range(FLOOD))
    receives = "" if one_sided else "\n".join(f"r{i}: recv {size}b from 0" for i in range(FLOOD))
    goal = f"num_ranks 2\nrank 0 {{\n{ops}\n}}\nrank 1 {{\n{receives}\n}}\n"
    return FLOOD * size / _finish(goal, with_links(machine, links))


def beside_published(machine: Machine, most_links: int) -> list[Beside]:
    """The statements of the talk, and the machine of the study."""
    ratio = _ratio(machine, SHORT)
    rows = [
        Beside(
            f"round trip of a put of up to {SHORT} B, by that of a message",
            "almost a half",
            f"{ratio:.2f}",
            0.45 <= ratio <= 0.65,
        )
    ]
    for links in (1, most_links):
        put, sent = (flood_bandwidth(machine, LONG, links, one_sided=way) for way in (True, False))
        reachable = PUBLISHED_LINK * links
        rows.append(
            Beside(
                f"flood of 2 MiB over {links} link{'s' if links > 1 else ''}, puts and messages",
                f"the same; up to {reachable / 1e6:,.0f} MB/s are reachable",
                f"{put / 1e6:,.0f} and {sent / 1e6:,.0f} MB/s",
                abs(put / sent - 1) < 0.05 and 0.9 < put / reachable <= 1.001,
            )
        )
    put, sent = (flood_bandwidth(machine, MIDDLE, most_links, one_sided=way) for way in (True, False))
    rows.append(
        Beside(
            f"flood of 8 KiB over {most_links} links, puts and messages",
            "puts ahead",
            f"{put / 1e6:,.0f} and {sent / 1e6:,.0f} MB/s",
            put > sent,
        )
    )
    return rows


def _ratio(machine: Machine, size: int) -> float:
    return round_trip_s(machine, size, one_sided=True) / round_trip_s(machine, size, one_sided=False)


def _finish(goal: str, machine: Machine) -> float:
    return simulate(Schedule.from_goal(goal), machine).max_finish / 1e12

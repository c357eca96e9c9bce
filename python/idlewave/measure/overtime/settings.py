"""What is measured over time, and what two runs of one recording have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import UsageError
from ...formatting import join_words
from ...mpi import Mpi

TESTS = ("latency", "bandwidth", "allreduce")
HIGHER_IS_BETTER = ("bandwidth",)
"""Tests whose value is a rate in bytes per second; of the others it is a time in s."""
IDLE = "idle"
GAP = 0.01
"""Seconds between phases, in which counters are read."""


@dataclass(frozen=True)
class Settings:
    """The settings of a recording. `hosts`: a rank on each of them; none: wherever the MPI puts the ranks."""

    ranks: int
    phase: float
    idle: float
    sizes: tuple[int, ...]
    peers: int
    seed: int
    hosts: tuple[str, ...] = ()
    mpi: str = ""

    @classmethod
    def checked(cls, given: dict[str, Any], hosts: Sequence[str], mpi: Mpi | None) -> Settings:
        """Those of the parameters `given`. Raises UsageError for what cannot be measured."""
        sizes, ranks = tuple(given["sizes"]), len(hosts) or given["ranks"]
        if len(sizes) != len(TESTS):
            raise UsageError(f"expected three sizes, of {join_words(list(TESTS))}, found {len(sizes)}")
        for test, size, least in zip(TESTS, sizes, (0, 1, 8), strict=True):
            if not least <= size <= 2**30:
                raise UsageError(f"expected a size of {test} from {least} to {2**30} bytes, found {size}")
        if sizes[2] % 8:
            raise UsageError(f"expected a size of allreduce of whole numbers of 8 bytes, found {sizes[2]}")
        if ranks < 2:
            raise UsageError(f"expected at least 2 ranks, found {ranks}")
        if given["peers"] >= ranks:
            raise UsageError(f"expected fewer peers than the {ranks} ranks, found {given['peers']}")
        return cls(
            ranks=ranks,
            phase=given["phase"],
            idle=given["idle"],
            sizes=sizes,
            peers=given["peers"],
            seed=given["seed"],
            hosts=tuple(hosts),
            mpi=f"{mpi.vendor} {mpi.version}" if mpi else "",
        )

    @property
    def options(self) -> list[str]:
        """The options of the probe."""
        sizes = ",".join(map(str, self.sizes))
        numbers = {"phase": self.phase, "idle": self.idle, "gap": GAP, "peers": self.peers, "seed": self.seed}
        return [*(word for name, value in numbers.items() for word in (f"--{name}", str(value))), "--sizes", sizes]

    def as_json(self) -> dict[str, Any]:
        """The settings as overtime.json has them, by name."""
        return {
            "ranks": self.ranks,
            "phase": self.phase,
            "idle": self.idle,
            "sizes": list(self.sizes),
            "peers": self.peers,
            "seed": self.seed,
            "hosts": list(self.hosts),
            "mpi": self.mpi,
        }


def difference(recorded: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The settings in which a recording differs, in words; empty if in none."""
    words = [
        f"{name} {_words(recorded.get(name))} there, {_words(value)} here"
        for name, value in wanted.items()
        if recorded.get(name) != value
    ]
    return "; ".join(words)


def _words(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)

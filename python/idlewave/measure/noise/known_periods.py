"""What of a machine comes at a known frequency: the system's tick, work of the kernel, and daemons."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...host_environment import COLLECTORS
from .spectrum import Peak

TICK_RATES = (100, 250, 300, 1000)
"""The values of CONFIG_HZ that Linux allows."""


@dataclass(frozen=True)
class KnownPeriod:
    """Something of the machine that runs every `period_s` seconds."""

    period_s: float
    what: str


_WORK = {
    "writeback_s": "writeback (dirty_writeback_centisecs)",
    "vmstat_s": "vmstat (stat_interval)",
    "realtime_throttling_s": "real-time throttling (sched_rt_period_us)",
    "lockup_watchdog_s": "lockup watchdog (2/5 of watchdog_thresh)",
    "ksm_s": "ksmd (sleep_millisecs)",
    "khugepaged_s": "khugepaged (scan_sleep_millisecs)",
    "machine_check_s": "machine check polling (check_interval)",
    "clock_watchdog_s": "clock source watchdog",
}
"""What `periodic_work` of the environment says of the machine."""

_LOAD_AVERAGE_S = 5.004
"""LOAD_FREQ of Linux: 5 s and one hundredth of a tick at 250 Hz; within the tolerance for all tick rates."""

_GOVERNOR_S = 0.01
_SAMPLING_GOVERNORS = ("ondemand", "conservative", "schedutil")


def known_periods(environment: Mapping[str, Any]) -> list[KnownPeriod]:
    """What the machine of a recording has that runs at a known period, as far as its environment says."""
    work = environment.get("periodic_work") or {}
    found = [KnownPeriod(float(work[name]), what) for name, what in _WORK.items() if work.get(name)]
    if str(environment.get("system") or "").startswith("Linux"):
        found.append(KnownPeriod(_LOAD_AVERAGE_S, "load average (5 s)"))
    governor = str(environment.get("governor") or "")
    if any(name in governor for name in _SAMPLING_GOVERNORS):
        found.append(KnownPeriod(_GOVERNOR_S, f"frequency governor ({governor}, at 10 ms)"))
    limit, _, period = str(environment.get("cpu_limit") or "").partition(" ")
    if period.isdecimal() and limit != "max":
        found.append(KnownPeriod(int(period) * 1e-6, f"control group's CPU limit ({limit} of {period} us)"))
    for name in work.get("collectors") or []:
        if name in COLLECTORS:
            found.append(KnownPeriod(COLLECTORS[name], f"{name} (by default every {COLLECTORS[name]:g} s)"))
    return found


_NEAR = 1e-3
_TIMER_NEAR = 0.3  # relative difference of the timer interrupts' rate from that of the tick
_TIMER_MEANING = re.compile(r"timer interrupt", re.IGNORECASE)


def tick_rate(proc: Path = Path("/proc"), boot: Path = Path("/boot")) -> int | None:
    """CONFIG_HZ of the running kernel, from its configuration; None if that is not readable."""
    for text in _configurations(proc, boot):
        match = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
        if match:
            return int(match[1])
    return None


def _configurations(proc: Path, boot: Path) -> list[str]:
    texts = []
    with suppress(OSError, EOFError, zlib.error):
        texts.append(gzip.decompress((proc / "config.gz").read_bytes()).decode(errors="replace"))
    with suppress(OSError):
        release = (proc / "sys/kernel/osrelease").read_text().strip()
        texts.append((boot / f"config-{release}").read_text(errors="replace"))
    return texts


def timer_rate(interrupts: Mapping[str, tuple[float, str]], seconds: float) -> float | None:
    """Timer interrupts a second, from {name: (count, meaning)} over `seconds`: LOC, or those whose meaning is a
    timer."""
    for name, (count, meaning) in interrupts.items():
        if (name == "LOC" or _TIMER_MEANING.search(meaning)) and count > 0 and seconds > 0:
            return count / seconds
    return None


def name_peaks(
    peaks: Sequence[Peak], environment: Mapping[str, Any], tick_hz: int | None, timer_hz: float | None
) -> list[Peak]:
    """`peaks` with their probable sources.

    `environment`: of the recording. `tick_hz`: of the kernel's configuration. `timer_hz`: timer interrupts counted.
    """
    known = known_periods(environment)
    return [replace(peak, source=likely_source(peak, known, tick_hz, timer_hz)) for peak in peaks]


def likely_source(peak: Peak, known: Sequence[KnownPeriod], tick_hz: int | None, timer_hz: float | None) -> str:
    """The tick, something that the machine has with that period, the timer interrupts' rate, or "unknown"."""

    def near(frequency: float, relative: float = _NEAR) -> bool:
        return abs(peak.frequency - frequency) <= max(3 * peak.uncertainty, relative * frequency)

    if tick_hz is not None and near(tick_hz):
        return f"timer tick (CONFIG_HZ={tick_hz})"
    if tick_hz is None and timer_hz is not None:
        for rate in TICK_RATES:
            if near(rate) and abs(timer_hz / rate - 1) < _TIMER_NEAR:
                return f"timer tick (CONFIG_HZ={rate}, by its frequency and the interrupts counted)"
    found = [each.what for each in known if near(1 / each.period_s, 5 * _NEAR)]
    if found:
        return ", or ".join(found)
    if timer_hz is not None and near(timer_hz, 0.02):
        return f"timer interrupts ({timer_hz:.0f} a second)"
    return "unknown"

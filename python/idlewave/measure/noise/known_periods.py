"""Events that are known to come at a certain frequency: the system's tick, and daemons with default periods."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .spectrum import Peak

TICK_RATES = (100, 250, 300, 1000)
"""The values of CONFIG_HZ that Linux allows."""


@dataclass(frozen=True)
class KnownPeriod:
    """Something that runs every `period_s` seconds by default."""

    period_s: float
    what: str


# Defaults of Linux (the documents of /proc/sys/kernel, /proc/sys/vm, the scheduler and its drivers) and of collectors.
KNOWN_PERIODS = (
    KnownPeriod(0.01, "frequency governor (ondemand or schedutil at 10 ms)"),
    KnownPeriod(0.02, "ksmd (sleep_millisecs 20)"),
    KnownPeriod(0.1, "control group's CPU limit (cfs_period_us 100 ms)"),
    KnownPeriod(0.5, "clock source watchdog (0.5 s)"),
    KnownPeriod(1.0, "vmstat (stat_interval 1 s), real-time throttling (sched_rt_period 1 s), or a collector at 1 s"),
    KnownPeriod(2.0, "vmstat's shepherd (2 s on older kernels)"),
    KnownPeriod(4.0, "lockup watchdog (2/5 of watchdog_thresh 10 s)"),
    KnownPeriod(5.0, "writeback (dirty_writeback_centisecs 500), load average (5 s)"),
    KnownPeriod(10.0, "khugepaged (scan_sleep 10 s), or a collector at 10 s"),
    KnownPeriod(15.0, "a metrics collector at 15 s"),
    KnownPeriod(30.0, "a job accounting collector at 30 s"),
    KnownPeriod(60.0, "cron, or a metrics collector at 60 s"),
    KnownPeriod(300.0, "machine check polling (check_interval 5 min)"),
)

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


def name_peaks(peaks: Sequence[Peak], tick_hz: int | None, timer_hz: float | None) -> list[Peak]:
    """`peaks` with their probable sources. `tick_hz`: the kernel's configuration; `timer_hz`: interrupts counted."""
    return [replace(peak, source=likely_source(peak, tick_hz, timer_hz)) for peak in peaks]


def likely_source(peak: Peak, tick_hz: int | None, timer_hz: float | None) -> str:
    """The tick, a known period, the timer interrupts' rate, or "unknown"."""

    def near(frequency: float, relative: float = _NEAR) -> bool:
        return abs(peak.frequency - frequency) <= max(3 * peak.uncertainty, relative * frequency)

    if tick_hz is not None and near(tick_hz):
        return f"timer tick (CONFIG_HZ={tick_hz})"
    if tick_hz is None:
        for rate in TICK_RATES:
            if near(rate) and (timer_hz is None or abs(timer_hz / rate - 1) < _TIMER_NEAR):
                return f"timer tick (CONFIG_HZ={rate}, by its frequency)"
    known = [k.what for k in KNOWN_PERIODS if near(1 / k.period_s, 5 * _NEAR)]
    if known:
        return known[0]
    if timer_hz is not None and near(timer_hz, 0.02):
        return f"timer interrupts ({timer_hz:.0f} a second)"
    return "unknown"

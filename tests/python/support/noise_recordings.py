"""Recordings of noise that is known: detours of given sources, and folders as a probe writes them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
from idlewave.measure.noise.noise_recording import Detours
from idlewave.measure.noise.signature import queued
from idlewave.measure.noise.spectrum import binned_loss


def detours(seconds, periodic=(), random=(), *, seed=0, jitter_s=0.0, core=0, node="here"):
    """`periodic`: (frequency in Hz, length in s); `random`: (rate a second, mean of exponential lengths in s)."""
    draw = np.random.default_rng([seed, core])
    when, lengths = [], []
    for frequency, length in periodic:
        t = np.arange(draw.random() / frequency, seconds, 1 / frequency)
        when.append(t + draw.normal(0, jitter_s, len(t)))
        lengths.append(np.full(len(t), length))
    for rate, mean in random:
        count = draw.poisson(rate * seconds)
        when.append(draw.random(count) * seconds)
        lengths.append(draw.exponential(mean, count))
    duration = round(seconds * 1e12)
    arrivals = np.clip(np.concatenate([np.array([]), *when]) * 1e12, 0, duration - 1)
    starts, taken = queued(arrivals, np.concatenate([np.array([]), *lengths]) * 1e12, duration)
    return Detours(node, core, starts, taken, duration)


def summary(cpu, seconds, **changes):
    """What a probe says of one core."""
    said = {"cpu": cpu, "begin_ps": 0, "duration_ns": seconds * 1e9, "dropped": 0, "dropped_ns": 0.0}
    said |= {"resolution_ns": 10.0, "counter_cost_ns": 9.0, "threshold_ns": 90.0, "shortest_seen_ns": 9.0}
    said |= {"interrupts": {}, "voluntary_switches": 0, "involuntary_switches": 0, "throttled": {}}
    said |= {"own_cpu_s": seconds, "cpu_busy_s": seconds, "steal_s": 0.0}
    return said | changes


def write_recording(folder, probe, cores, columns, *, host="here", rank=0, ranks=1, **more):
    """`cores`: (cpu, rows, what the probe says of it)."""
    folder.mkdir(parents=True, exist_ok=True)
    said = {"probe": probe, "host": host, "rank": rank, "ranks": ranks, "counter": "rdtsc", "clock_source": "tsc"}
    said |= {"tick_ns": 0.4, "interrupted": False, "start_unix_ns": 1, **more, "cores": []}
    for cpu, rows, entry in cores:
        file = f"{probe}-cpu{cpu}.i64"
        table = np.asarray(rows, dtype="<i8").reshape(-1, len(columns))
        (folder / file).write_bytes(table.tobytes())
        said["cores"].append(entry | {"cpu": cpu, "file": file, "columns": list(columns), "rows": len(table)})
    (folder / f"{probe}.json").write_text(json.dumps(said))
    return folder


def write_detours(folder, cores, **more):
    """The same of `Detours`."""
    entries = [(c.core, np.column_stack([c.starts, c.lengths]), summary(c.core, c.duration / 1e12)) for c in cores]
    return write_recording(folder, "detour", entries, ("start_ps", "length_ps"), **more)


def write_ftq(folder, losses, quantum_s, full=10_000):
    """Work of `full` a quantum, less what is lost; one array of lost shares a core."""
    entries = [
        (cpu, np.maximum(np.round(full * (1 - loss)), 0), summary(cpu, len(loss) * quantum_s))
        for cpu, loss in enumerate(losses)
    ]
    return write_recording(folder, "ftq", entries, ("work",), quantum_ns=quantum_s * 1e9, unit="10 turns")


def write_fwq(folder, durations):
    """One array of durations (ps) a core."""
    entries = []
    for cpu, own in enumerate(durations):
        starts = np.cumsum(own) - own
        entries.append((cpu, np.column_stack([starts, own]), summary(cpu, float(own.sum()) / 1e12)))
    return write_recording(folder, "fwq", entries, ("start_ps", "duration_ps"), work=1000)


def events(rows):
    """Rows (begin_ns, end_ns, kind, name), and net_ns where the kernel told."""
    whole = [row if len(row) == 5 else (*row, np.nan) for row in rows]
    return pd.DataFrame(whole, columns=["begin_ns", "end_ns", "kind", "name", "net_ns"])


def detour_summary(cpu, seconds, **changes):
    """What the detour probe says of one core, without what `summary` adds."""
    said = {"cpu": cpu, "counter": "rdtsc", "clock_source": "tsc", "interrupts": {}, "interrupted": False}
    said |= {"resolution_ns": 10.0, "threshold_ns": 90.0, "duration_ns": seconds * 1e9}
    said |= {"dropped": 0, "dropped_ns": 0.0, "involuntary_switches": 0}
    said |= {"own_cpu_s": seconds, "cpu_busy_s": seconds, "steal_s": 0.0}
    return said | changes


def quanta(core, quantum_s, seed, scatter=0.002):
    """The shares that a core loses of each quantum, with a probe's own scatter."""
    loss = binned_loss(core, quantum_s)
    return loss + np.random.default_rng(seed).normal(0, scatter, len(loss)) * (1 - loss)

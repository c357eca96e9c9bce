"""Recordings of PRTT on a network whose times are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from emulated_samples import emulate
from idlewave.measure.network.files.network_recording import described
from idlewave.measure.network.transports import Transport
from known_networks import RENDEZVOUS

NETWORK = RENDEZVOUS["infiniband"]
FAST_NS, SLOW_NS = 500.0, 1000.0
REPETITIONS = 10


def record(folder: Path, seed: int, pilot_ns: float = FAST_NS, slower: float = 1.0, **changes: object) -> Path:
    """A part as the probe leaves it, on a machine whose calls all take `slower` times as long."""
    folder.mkdir(parents=True, exist_ok=True)
    samples = emulate(NETWORK, seed=seed, repetitions=REPETITIONS, new_series=True)
    pilots = pilot_ns * np.random.default_rng(seed).normal(1, 0.01, len(samples))
    times = {name: samples[name] * slower for name in ("value_ns", "delay_ns")}
    samples.assign(
        **times, start_ns=np.arange(len(samples)), disturbed=0, pilot_before_ns=pilots, pilot_after_ns=pilots
    ).to_csv(folder / "samples.csv", index=False)
    said = {"probe": "loggp", **described(Transport()), "ended": "seconds", "complete": True, "core_sizes": [1, 64]}
    said |= {"breaks": [257], "blocking_from": [12_289], "lost": 0, "samples": len(samples)}
    (folder / "loggp.json").write_text(json.dumps(said | changes))
    return folder

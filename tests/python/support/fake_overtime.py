"""A program that prints the lines of the probe of overtime, of a made clock, as fast as they are read.

It is started as `python fake_overtime.py JSON`, with the fields of `Fake`.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

START_NS = 1_700_000_000_000_000_000
LENGTH_NS = 1_000_000_000
ROUND = ("latency", "idle", "bandwidth", "idle", "allreduce", "idle")


@dataclass(frozen=True)
class Fake:
    """How many phases it prints, and what happens then: "time" or "signal" end it as it should, "die" with
    a complaint and status 3, "silent" with nothing, "hang" never, "half" within a line."""

    phases: int = 12
    end: str = "time"
    host: str = "here"
    now: bool = False
    """Phases of this clock, which last 20 ms each."""
    noise: tuple[str, ...] = ()
    """Lines of others before the first one."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(Path(__file__)), json.dumps(asdict(self))]


def phase(number: int) -> dict[str, object]:
    """What a phase of the fake has, without its run and phase."""
    test = ROUND[number % len(ROUND)]
    start = START_NS + number * LENGTH_NS
    if test == "idle":
        return {
            "test": "idle",
            "rank": -1,
            "peer": -1,
            "size": 0,
            "start_ns": start,
            "length_ns": LENGTH_NS,
            "samples": 0,
        }
    median = 1e-6 * (1 + 0.1 * math.sin(number))
    all_ranks = test == "allreduce"
    return {
        "test": test,
        "rank": -1 if all_ranks else 0,
        "peer": -1 if all_ranks else 1,
        "size": 1 << 20 if test == "bandwidth" else 8,
        "start_ns": start,
        "length_ns": LENGTH_NS,
        "samples": 1000,
        "least_s": 0.5 * median,
        "median_s": median,
        "mean_s": 1.1 * median,
        "most_s": 100 * median,
        "sd_s": 0.2 * median,
        "value": 1e10 if test == "bandwidth" else median,
    }


def put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def say(kind: str, **fields: object) -> None:
    put(json.dumps({"line": kind, **fields}) + "\n")


def main(fake: Fake) -> None:
    for line in fake.noise:
        put(line + "\n")
    say("begin", library="a made one", ranks=[{"host": fake.host, "cpu": i} for i in range(2)])
    if fake.now:
        time.sleep(0.3)
    for number in range(fake.phases):
        made = phase(number)
        if fake.now:
            made |= {"start_ns": time.time_ns(), "length_ns": 20_000_000}
            time.sleep(0.02)
        if fake.now or number % 4096 == 0:
            say("phase", **made)
        else:  # unflushed: the pipe is filled at once
            sys.stdout.write(json.dumps({"line": "phase", **made}) + "\n")
        if number % 6000 == 5999:
            say("load", active=0.9, idle=0.001, active_most=0.95, idle_most=0.002)
        if fake.now:
            time.sleep(0.02)
    sys.stdout.flush()
    if fake.end == "die":
        sys.stderr.write("rank 1 was killed\n")
        sys.stderr.flush()
        os._exit(3)
    if fake.end == "hang":
        time.sleep(1000)
    if fake.end == "half":
        put('{"line": "phase", "test": "la')
    if fake.end in ("time", "signal"):
        say("end", reason=fake.end)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    main(Fake(**{**given, "noise": tuple(given["noise"])}))

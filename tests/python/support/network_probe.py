"""The network probe without MPI, for its tests: emulated networks, and runs of the program.

The emulated network is no part of the product: `tests/emulated_network/loggp_emulated.cpp` is the probe with a
transport and a clock that follow the rules. It is compiled when a test first needs it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from idlewave.measure import FittedParameters, Network
from idlewave.measure.network import read_samples
from idlewave.mpi import package_data
from prtt_rules import prtt

PROGRAM = package_data() / "bin" / "idlewave-loggp-local"
ROOT = Path(__file__).parents[3]
COMPILER = shutil.which(os.environ.get("CXX", "c++"))


@cache
def emulated_program() -> Path:
    """The network probe over an emulated network, compiled once for each state of its sources."""
    assert COMPILER is not None
    sources = sorted(
        file
        for folder in ("probes/common", "probes/network", "tests/emulated_network")
        for file in (ROOT / folder).rglob("*.?pp")
    )
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()[:16]
    program = ROOT / "build" / "emulated" / f"loggp_emulated-{digest}"
    program.parent.mkdir(parents=True, exist_ok=True)
    with (program.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be compiling the same
        if not program.is_file():
            compile_emulated(program)
    return program


def compile_emulated(program: Path) -> None:
    """Compiled and linked one after the other, because a compile cache keeps objects only."""
    cached = shlex.split(os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER", ""))
    includes = [f"-I{ROOT / folder}" for folder in ("probes", "tests/emulated_network")]
    source = ROOT / "tests" / "emulated_network" / "loggp_emulated.cpp"
    compiled, unfinished = (program.with_suffix(ending) for ending in (".o", ".unfinished"))
    command = [*cached, COMPILER, "-std=c++20", "-O2", *includes, "-c", str(source), "-o", str(compiled)]
    subprocess.run(command, check=True)
    subprocess.run([COMPILER, str(compiled), "-o", str(unfinished)], check=True)
    unfinished.replace(program)


@dataclass(frozen=True)
class Run:
    summary: dict
    samples: pd.DataFrame

    def values(self, series, size):
        """The samples of one series and size."""
        chosen = self.samples
        return chosen[(chosen["series"] == series) & (chosen["size"] == size)]


def start(*options, **more):
    return subprocess.Popen(
        [str(PROGRAM), *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def run(*options, program=PROGRAM, **more):
    return subprocess.run(
        [str(program), *map(str, options)], capture_output=True, text=True, timeout=120, check=False, **more
    )


def run_ranks(installed, program, *options, ranks=2, **environment):
    """A probe that was built for an MPI, on its ranks."""
    command = [str(installed.mpiexec), "-n", str(ranks), str(program), *map(str, options)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=180, env=installed.environment() | environment
    )


def assess(folder: Path, *options, **more) -> Run:
    """One assessment into `folder`, which must succeed."""
    done = run(*options, "--output", folder, **more)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert json.loads((folder / "loggp.json").read_text()) == summary
    return Run(summary, read_samples(folder / "samples.csv"))


def write_network(network: Network, file: Path) -> Path:
    """A network as the emulated network is read from."""
    lines = ["inf" if network.S is None else str(network.S)]
    for first, p in network.ranges:
        times = (int(p.L), int(p.o_s), int(p.o_r), int(p.g))
        lines.append(" ".join(map(str, (first, *times, float(p.G), float(p.O)))))
    file.write_text("\n".join(lines) + "\n")
    return file


def emulate(network: Network, folder: Path, *options, seconds=1000) -> Run:
    """An assessment of an emulated network; its seconds are virtual and cost nothing."""
    folder.mkdir(exist_ok=True)
    file = write_network(network, folder / "network.txt")
    return assess(folder, "--network", file, "--seconds", seconds, *options, program=emulated_program())


def random_network(random: np.random.Generator, segments: int, rendezvous: bool = True) -> Network:
    """A network with so many changes at random sizes, each of which changes every parameter up to e-fold."""

    def sizes(count):
        return sorted({int(s) for s in np.exp(random.uniform(np.log(64), np.log(200_000), count))})

    def whole(low, high):
        return float(random.integers(low, high))

    base = FittedParameters(
        whole(200_000, 10_000_000), whole(50_000, 5_000_000), whole(50_000, 5_000_000), whole(50_000, 10_000_000),
        whole(30, 5000), whole(0, 1000),
    )  # fmt: skip
    ranges = [(1, base)]
    for first in sizes(segments):
        factors = np.exp(random.uniform(-1, 1, 6))
        values = (base.L, base.o_s, base.o_r, base.g, base.G, base.O)
        ranges.append((first, FittedParameters(*(float(round(v * f)) for v, f in zip(values, factors, strict=True)))))
    return Network(tuple(ranges), sizes(1)[0] if rendezvous else None)


def changes(network: Network) -> dict[int, float]:
    """The first size after each change, and how large the jump of a round trip or a train is there."""
    firsts = [first for first, _ in network.ranges[1:]] + ([network.S + 1] if network.S is not None else [])

    def jump(n, first):
        before, after = prtt(network, n, 0.0, first - 1), prtt(network, n, 0.0, first)
        return abs(after - before) / min(before, after)

    return {first: max(jump(1, first), jump(16, first)) for first in firsts}

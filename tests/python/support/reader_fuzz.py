"""All readers of files that Python has, valid samples for them, and what must hold whatever the samples become.

python reader_fuzz.py SEED SECONDS [READER …]     fuzzes them for so long, and prints what did not hold as JSON
python reader_fuzz.py SEED case=NUMBER READER     makes one case again, and shows what becomes of it
python reader_fuzz.py SEED executions=[FIRST+]NUMBER FOUND READER …
    executes each so often (reader_executions.py), the first time as number FIRST (0)
python reader_fuzz.py SEED execution=NUMBER READER
    makes the files of one execution again, and shows what becomes of them
"""

from __future__ import annotations

import json
import random
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from chakra_trace import rank_file as chakra_file
from chakra_trace import write_chakra
from clock_recordings import recorded as write_clocks
from collective_recordings import recorded as write_collectives
from dumpi_trace import rank_file, write_dumpi
from emulated_samples import emulate
from idlewave import InputError, Machine, Schedule
from idlewave.algorithm_choice import choice_named, rules_named
from idlewave.algorithm_rules import core_rules
from idlewave.checkpoint_parts import SampleCheckpoints
from idlewave.export import write_trace_otf2
from idlewave.importing import import_schedule, import_trace
from idlewave.importing.chakra import write_chakra as convert_chakra
from idlewave.importing.dumpi import import_dumpi
from idlewave.importing.liballprof import import_liballprof
from idlewave.measure import Measurement, NetworkMeasurement, describe, estimate, write_machine
from idlewave.measure.network.files.network_files import load_network, save_network
from idlewave.measure.network.files.network_recording import described, read_measurement
from idlewave.measure.network.job.clocks import read_clocks
from idlewave.measure.network.job.collectives import read_collectives
from idlewave.measure.network.job.pairs import read_pairs
from idlewave.measure.network.job.patterns import read_patterns
from idlewave.measure.network.transports import Transport
from idlewave.measure.noise import summarise
from idlewave.measure.noise.attribution import attribute
from idlewave.measure.noise.detour import measurement_of
from idlewave.measure.noise.ftq import analyse_ftq
from idlewave.measure.noise.fwq import analyse_fwq
from idlewave.measure.noise.length_laws import LengthLaw
from idlewave.measure.noise.noise_recording import detours_of, read_recording
from idlewave.measure.noise.replay import write_noise
from idlewave.measure.noise.signature import Goodness, Signature, Source
from idlewave.measure.one_sided import fit_one_sided, read_one_sided
from idlewave.measure.overtime import read_overtime
from idlewave.noise_models import Noise
from idlewave.output import write_json, write_table
from idlewave.placement_file import read_placement
from idlewave.random_noise import EmpiricalLength, MixedNoise, ParetoLength, PoissonNoise
from idlewave.studies.table import read_study
from idlewave.tolerance_samples import Sample
from idlewave.trace import Trace
from idlewave.validation import read_suite
from known_networks import RENDEZVOUS
from liballprof_trace import write_liballprof
from noise_recordings import detour_summary, detours, write_detours, write_ftq, write_fwq
from one_sided_recordings import recorded as write_one_sided
from otf2_archive import write_ring
from otf2_forks import ReaderInForks
from overtime_runs import write_overtime
from pair_recordings import HOSTS, synthetic
from pair_recordings import recorded as write_pairs
from pattern_recordings import recorded as write_patterns
from reader_attempts import Quick, Reader, complaint, limit_memory
from reader_executions import execute_again, executed
from reader_mutations import damage, restore
from scorep_archives import write_scorep
from small_dumpi import small_dumpi
from small_otf2 import small_otf2
from small_samples import small_chakra, small_liballprof, small_rule_tables, small_rules
from trace_files import INIT, RECV, SEND, Core, with_header


@cache
def _network() -> NetworkMeasurement:
    truth = RENDEZVOUS["infiniband"]
    samples = emulate(truth, seed=1, repetitions=6)
    samples = samples[samples["size"].isin(sorted(set(samples["size"]))[::3])].reset_index(drop=True)
    probe = described(Transport()) | {"same_node": True, "library": "Some MPI 1.0", "eager_limit": truth.S}
    probe |= {"ranks": [{"host": "a"}, {"host": "b"}], "foreign_load": {"client": [0.1], "server": [None]}}
    return NetworkMeasurement(samples, estimate(samples, truth.S), probe, describe())


def _write_probe(folder: Path) -> None:
    found = _network()
    found.samples.to_csv(folder / "samples.csv", index=False)
    write_json(folder / "loggp.json", found.probe | {"pages": {"size": 4096, "start": 64}, "dropped_sizes": [1 << 20]})
    write_json(folder / "environment.json", found.environment)


def _write_measurement(folder: Path) -> None:
    table = pd.DataFrame({"core": [0, 0, 1], "start_ps": [1_234, 50_000_000, 7], "length_ps": [10, 2_000_001, 20]})
    noise = summarise(table, [detour_summary(0, 1.0), detour_summary(1, 0.5)], describe())
    write_machine(folder, noise, _network(), "measured", _network(), 4)


def _write_machine(folder: Path) -> None:
    trace = Noise(np.array([0, 5_000_000]), np.array([1000, 20_000]), 10**9)
    random_ones = (
        PoissonNoise(1e10, ParetoLength(1e6, 2.5)),
        PoissonNoise(1e11, EmpiricalLength(np.array([1000, 2000], dtype=np.int64))),
    )
    write_noise(folder, MixedNoise(trace, random_ones), Machine.preset("infiniband-openmpi"))
    node = '[network.node]\nranks = 16\nL = "0.4us"\n[noise]\nreaches = ["o_s", "calc"]\n'
    text = (folder / "machine.toml").read_text()
    (folder / "machine.toml").write_text(text.replace("[noise]\n", node))


def _signature() -> Signature:
    laws = [("fixed", (1e6,)), ("lognormal", (1e6, 0.5)), ("pareto", (1e6, 2.0)), ("empirical", (1.0, 2.0))]
    sources = [Source(f"every {i}", i % 2, "periodic", 4e9, LengthLaw(*law), 1e6, 0.9) for i, law in enumerate(laws)]
    sources.append(Source("random", 0, "random", 1e10, LengthLaw("exponential", (1e5, 1e6))))
    return Signature("node", (0, 1), tuple(sources), (Goodness(0, 0.001, 0.0011, 0.02, float("nan")),))


def _write_study(file: Path) -> None:
    rows = [(n, noise, seed, 10**12 + seed * n, 5 * n, 0.1) for n in (4, 8) for noise, seed in ((False, 0), (True, 1))]
    write_table(file, pd.DataFrame(rows, columns=["ranks", "noise", "seed", "finish_ps", "messages", "seconds"]))


def _record(call: int, begin: int, end: int, *words: bytes) -> bytes:
    return struct.pack("<IHHqq", len(words), call, 0, begin, end) + b"".join(words)


def _write_trace(folder: Path) -> None:
    """Two ranks that exchange a message and leave, as docs/trace-format.md has it."""
    finalize, barrier = 2, 64
    world, size = struct.pack("<q", 1), struct.pack("<q", 100)
    for rank in range(2):
        clock = (5 * rank, 3, 1000, 6 * rank, 3, 90_000)
        peer = struct.pack("<ii", 1 - rank, 7)
        sent, received = (world, peer, size), (world, peer, size, peer, size)
        first, second = ((SEND, sent), (RECV, received)) if rank == 0 else ((RECV, received), (SEND, sent))
        records = (
            _record(INIT, 500, 1000),
            _record(first[0], 2000, 3000, *first[1]),
            _record(second[0], 4000, 9000, *second[1]),
            _record(barrier, 10_000, 20_000, world, struct.pack("<ii", -3, 0), bytes(8), bytes(8)),
            _record(finalize, 90_000, 91_000),
        )
        core = Core(cpu_ns=80_000, voluntary=1, involuntary=2)
        data = with_header(
            rank, 2, f"node{rank}", b"".join(records), 90_000, clock=clock, record_cost_ps=50_000, core=core
        )
        (folder / f"rank-{rank:07d}.iwtrace").write_bytes(data)
    write_json(folder / "trace.json", {"format": 1, "command": ["mpiexec", "-n", "2", "./a.out"], "host": "node0"})


def _read_trace(folder: Path) -> None:
    trace = Trace.load(folder)
    assert trace.command
    assert len(trace.clocks)
    assert len(trace.time())
    trace.communication()
    trace.totals()
    trace.check_complete()
    Schedule.from_trace(trace)


def _export_trace(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        write_trace_otf2(Trace.load(folder), Path(out) / "out")


def _write_exported(folder: Path) -> None:
    _write_trace(folder)
    write_trace_otf2(Trace.load(folder), folder / "in")
    for file in (*folder.glob("*.iwtrace"), folder / "trace.json"):
        file.unlink()


def _read_detours(folder: Path) -> None:
    found = read_recording(folder, "detour")
    detours_of(found)
    measurement_of(found, {})
    attribute(found)


def _import_liballprof(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        trace = import_trace(folder / "in/trace-0.txt", Path(out) / "out").trace
        with suppress(InputError):  # of the trace that was written: a run that was cut
            Schedule.from_trace(trace)


def _import_dumpi(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        trace = import_trace(rank_file(folder / "in", 0), Path(out) / "out").trace
        with suppress(InputError):  # of the trace that was written: what ranks say may not fit together
            Schedule.from_trace(trace)


def _import_otf2(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out, _otf2_reader().replacing_the_process():
        trace = import_trace(folder / "in", Path(out) / "out").trace
        with suppress(InputError):  # of the trace that was written: a run that was cut
            Schedule.from_trace(trace)


@cache
def _otf2_reader() -> ReaderInForks:
    """One for all archives, so that they share its forks."""
    return ReaderInForks()


def _import_chakra(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as out:
        Schedule.load(import_schedule(folder / "in/et.0.et", Path(out) / "out.goal").file)


def _write_rules(folder: Path) -> None:
    """The same rules as Open MPI and as we have them in a file."""
    first = "rule-file-version-2\n2 # collectives\n2 2 2 1\n0 3 0 0\n"
    (folder / "rules.conf").write_text(f"{first}5 2\n0 0 0 0 # open\n4096 4 0 0\n3 1 4 2 0 3 0 0 2\n1024 2 0 0\n")
    text = "collective,ranks,bytes,algorithm,segment\nallreduce,2,0,ring,0\nbcast,2,0,chain,4096\n"
    (folder / "rules.csv").write_text(text)


def _write_suite(folder: Path) -> None:
    networks = '[[network]]\nname = "a"\nmachine = "odin"\n[[network]]\nname = "b"\nmachine = "c"\nlaunch = ["srun"]\n'
    programs = '[[program]]\nname = "x"\ncommand = ["./x", "8"]\nranks = 4\n'
    (folder / "suite.toml").write_text(networks + programs)


def _read_signature(folder: Path) -> None:
    Signature.load(folder / "signature.toml").noise(0.01, 1)


def _write_samples(folder: Path) -> None:
    checkpoints = SampleCheckpoints({"checkpoint": folder, "restart": False}, "a search")
    for added in range(5):
        checkpoints.finished(Sample(added, 1000 + added, 1))


def _read_one_sided(folder: Path) -> None:
    found = read_one_sided(folder)
    for back_end in found.back_ends:
        fit_one_sided(found, back_end)


READERS = (
    Reader("machine", _write_machine, lambda f: Machine.load(f / "machine.toml")),
    Reader("signature", lambda f: (f / "signature.toml").write_text(_signature().to_toml()), _read_signature),
    Reader("detour", lambda f: write_detours(f, [detours(0.2, [(100, 1e-5)]), detours(0.1, core=1)]), _read_detours),
    Reader("ftq", lambda f: write_ftq(f, [np.full(200, 0.01)], 1e-4), lambda f: analyse_ftq(read_recording(f))),
    Reader("fwq", lambda f: write_fwq(f, [np.full(200, 10**6)]), lambda f: analyse_fwq(read_recording(f))),
    Reader("measurement", _write_measurement, Measurement.load),
    Reader("network", lambda f: save_network(f, _network(), "net"), load_network),
    Reader("probe", _write_probe, read_measurement),
    Reader("pairs", lambda f: write_pairs(f, synthetic(1, HOSTS), HOSTS), read_pairs),
    Reader("clocks", write_clocks, read_clocks),
    Reader("patterns", write_patterns, read_patterns),
    Reader("one-sided", write_one_sided, _read_one_sided),
    Reader("overtime", write_overtime, lambda f: read_overtime(f).table),
    Reader("collectives", write_collectives, read_collectives),
    Reader("study.csv", lambda f: _write_study(f / "study.csv"), lambda f: read_study(f / "study.csv")),
    Reader("study.parquet", lambda f: _write_study(f / "study.parquet"), lambda f: read_study(f / "study.parquet")),
    Reader(
        "liballprof",
        lambda f: write_liballprof(f / "in"),
        _import_liballprof,
        Quick(small_liballprof, lambda f, out: import_liballprof(f / "in/trace-0.txt", out)),
    ),
    Reader(
        "dumpi",
        lambda f: write_dumpi(f / "in"),
        _import_dumpi,
        Quick(small_dumpi, lambda f, out: import_dumpi(rank_file(f / "in", 0), out)),
    ),
    Reader(
        "chakra",
        lambda f: write_chakra(f / "in"),
        _import_chakra,
        Quick(small_chakra, lambda f, _: convert_chakra(chakra_file(f / "in", 0), BytesIO(), {})),
    ),
    Reader(
        "rules",
        _write_rules,
        lambda f: core_rules(rules_named(str(f / "rules.conf"))),
        Quick(small_rules, lambda f, _: choice_named(f"{f}/rules.conf")),
    ),
    Reader(
        "rules.csv",
        _write_rules,
        lambda f: core_rules(rules_named(str(f / "rules.csv"))),
        Quick(small_rule_tables, lambda f, _: choice_named(f"{f}/rules.csv")),
    ),
    Reader("suite", _write_suite, lambda f: read_suite(f / "suite.toml")),
    Reader("placement", lambda f: (f / "p").write_text("0 1 2\n3 0 1\n" * 20), lambda f: read_placement(f / "p")),
    Reader("samples", _write_samples, lambda f: SampleCheckpoints({"checkpoint": f, "restart": True}, "a search")),
    Reader("trace", _write_trace, _read_trace),
    Reader("trace for OTF2", _write_trace, _export_trace),
    Reader(
        "otf2",
        lambda f: write_ring(f / "in", 2),
        _import_otf2,
        Quick(small_otf2, lambda f, out: _otf2_reader().import_otf2(f / "in/traces.otf2", out)),
    ),
    Reader("otf2 of Score-P", lambda f: write_scorep(f / "in", "comms"), _import_otf2),
    Reader("otf2 of a trace", _write_exported, _import_otf2),
)
"""A new reader is fuzzed by a line here."""


def cases(reader: Reader, sample: Path, place: Path, seed: int, first: int = 0) -> Iterator[tuple[int, str]]:
    """Damage `place`, a copy of `sample`, in ever new ways: the case's number, and what was done."""
    number = first
    while True:
        restore(sample, place)
        yield number, damage(place, random.Random(f"{seed}-{reader.name}-{number}"))
        number += 1


def main(seed: int, seconds: float, names: list[str]) -> None:
    """Fuzz the readers of these names, each for its share of the time."""
    chosen = [reader for reader in READERS if not names or reader.name in names]
    found: dict[str, list[str]] = {}
    tried: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="idlewave-fuzz-") as made:
        for reader in chosen:
            sample = Path(made) / f"{reader.name}-sample"
            sample.mkdir()
            reader.write(sample)
            reader.read(sample)
        limit_memory()
        for reader in chosen:
            end = time.monotonic() + seconds / len(chosen)
            place = Path(made) / reader.name
            for number, done in cases(reader, Path(made) / f"{reader.name}-sample", place, seed):
                sys.stderr.write(f"at {seed} {number} {reader.name}\n")
                if said := complaint(reader, place):
                    found.setdefault(said.split(":")[0][:60], []).append(f"{reader.name} {number} ({done}): {said}")
                tried[reader.name] = number + 1
                if time.monotonic() > end:
                    break
    first = {kind: told[:5] for kind, told in found.items()}
    sys.stdout.write(json.dumps({"tried": tried, "found": first}, indent=1) + "\n")


def again(seed: int, number: int, name: str) -> None:
    """Make one case again: the folder stays, and what is raised is seen."""
    reader = next(reader for reader in READERS if reader.name == name)
    made = Path(tempfile.mkdtemp(prefix="idlewave-fuzz-"))
    (made / "sample").mkdir()
    reader.write(made / "sample")
    sys.stdout.write(f"{made / 'x'}: {next(cases(reader, made / 'sample', made / 'x', seed, number))[1]}\n")
    reader.read(made / "x")


def _named(names: list[str]) -> list[Reader]:
    """The readers of these names."""
    known = {reader.name: reader for reader in READERS}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no reader is called {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [known[name] for name in names]


if __name__ == "__main__":
    seed, (what, _, number), names = int(sys.argv[1]), sys.argv[2].partition("="), sys.argv[3:]
    if what == "executions":
        first, _, count = number.rpartition("+")
        numbers = range(int(first or 0), int(first or 0) + int(count))
        sys.exit(executed(_named(names[1:]), seed, numbers, Path(names[0])))
    elif what == "execution":
        execute_again(_named(names)[0], seed, int(number))
    elif what == "case":
        again(seed, int(number), names[0])
    else:
        main(seed, float(what), names)

"""Every command of the command line with words that make it do its work, once and quickly, on material made for that.

What walks all commands (faults, signals, JSON) walks these; a command without an example fails them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import pandas as pd
from command_runs import run_command
from emulated_samples import emulate
from idlewave import mpi
from idlewave.cli import cli
from idlewave.cli.named_studies import NAMED, named_study
from idlewave.cli.option_types import OutputFile, OutputFolder
from idlewave.contention.evaluation import learn
from idlewave.contention.forest import ForestSettings
from idlewave.measure import NetworkMeasurement, describe, estimate, write_machine
from idlewave.measure.network.files.network_files import save_network
from idlewave.measure.noise import summarise
from known_networks import RENDEZVOUS
from noise_recordings import detour_summary, detours, write_detours
from otf2_archive import write_ring
from overtime_recordings import recording_table, write_recording
from planted_contention import DRAM, contention_table
from trace_files import write_trace

PING = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\nb: recv 8b from 0\n}\n"
VARYING = """
[network]
L = "1us"
o = "0.4us"
g = "0.6us"
G = "0.2ns"
O = "0ns"
S = "inf"

[network.variation]
file = "variation.csv"
period = "1us"
"""


@dataclass(frozen=True)
class Example:
    """The words behind a command's name, in which {…} stands for a piece of `material`.

    `names`: of each option or argument that says where something is written, a name to write there. `measures`: it
    needs the machine's time (or an MPI), so that few faults are tried with it. `alone`: what is written without the
    others, and the words that it needs. `brief`: words that make it do less, where its work has long been looked at.
    """

    words: str
    names: dict[str, str] = field(default_factory=dict)
    measures: bool = False
    alone: dict[str, str] = field(default_factory=dict)
    brief: str = ""


_SMALL = "--programs halo1d --ranks 2 --iterations 1"
"""A small program of the studies that simulate programs."""
EXAMPLES = {
    "about": Example("{study}"),
    "algorithms": Example(""),
    "check-allocation": Example("--needs latency<1s,bandwidth>1MB/s --from {overtime}"),
    "computation": Example("{trace}", {"plot": "x.png"}),
    "contention learn": Example("{contention} --trees 2", {"target": "x.skops", "plot": "x.png"}),
    "contention scale": Example(
        "{contention} --source halo2d --compute-ns 1000 --ranks 4 -m odin --replicates 2",
        {"target": "x.parquet", "plot": "x.png"},
    ),
    "contention watch": Example("--for 100ms --interval 100ms {detector}", {"target": "x.jsonl"}, measures=True),
    "contention make": Example("--rate 1MB --for 100ms", measures=True),
    "contention measure": Example(
        "--victims stencil --rates 1MB --pairs 2 --iterations 2", {"folder": "impact", "plot": "x.png"}, measures=True
    ),
    "contention remedy": Example(
        "--victim stencil --rates 1MB --pairs 2 --iterations 2", {"folder": "remedy", "plot": "x.png"}, measures=True
    ),
    "convert": Example("{goal}", {"target": "x.idg"}),
    "demo": Example("--small", {"folder": "demo"}, measures=True),
    "doctor": Example(""),
    "explain": Example("{goal} -m odin", {"statistics": "x.json"}, alone={"statistics": "--scheduler check"}),
    "export": Example("{trace}", {"folder": "archive"}),
    "import": Example("{archive}", {"folder": "trace"}),
    "machines": Example(""),
    "measure": Example("--noise-seconds 0.01 --network-seconds 0.5", {"folder": "machine"}, measures=True),
    "measure clocks": Example("-n 2 --seconds 0.1", {"folder": "clocks", "plot": "x.png"}, measures=True),
    "measure collectives": Example(
        "-n 2 -m odin --seconds 0.1 --max-size 64",
        {"folder": "collectives", "plot": "x.png", "target": "x.toml"},
        measures=True,
    ),
    "measure network": Example("--from {network}", {"folder": "network", "plot": "x.png", "samples": "x.parquet"}),
    "measure noise": Example(
        "--seconds 0.01", {"folder": "noise", "plot": "x.png", "samples": "x.parquet"}, measures=True
    ),
    "measure one-sided": Example(
        "--back-ends mpi,rma --ranks 2 --epochs 1 --seconds 0.1 --max-size 64",
        {"folder": "one-sided", "plot": "x.png"},
        measures=True,
    ),
    "measure overtime": Example("--for 10ms --phase 10ms --counters none", {"folder": "overtime"}, measures=True),
    "measure patterns": Example("--seconds 0.1 --max-size 64", {"folder": "patterns", "plot": "x.png"}, measures=True),
    "measure pairs": Example(
        "-n 2 --seconds 0.1", {"folder": "pairs", "plot": "x.png", "machine": "x.toml"}, measures=True
    ),
    "noise compare": Example("{noise} {noise}", {"plot": "x.png"}),
    "noise nodes": Example("{noise}", {"plot": "x.png"}),
    "noise show": Example("{noise}", {"plot": "x.png"}),
    "noise signature": Example("{noise}", {"target": "x.toml", "folder": "machine"}),
    "overtime correlate": Example("{overtime} --lags 2", {"plot": "x.png", "file": "x.csv"}),
    "overtime predict": Example("{overtime}", {"plot": "x.png", "file": "x.csv"}),
    "overtime report": Example("{overtime}", {"page": "x.html"}),
    "overtime show": Example("{overtime}", {"plot": "x.png", "file": "x.csv"}),
    "pdes epidemic": Example("--persons 200 --days 3 --plot-runs 1", {"plot": "x.png", "statistics": "x.json"}),
    "pdes flood": Example("--end 0.01 --plot-runs 1", {"plot": "x.png", "statistics": "x.json"}),
    "pdes phold": Example("--lps 16 --end 1", {"plot": "x.png", "statistics": "x.json"}),
    "patterns": Example(""),
    "report": Example(
        "--machine {machine} --study {study} --overtime {overtime}", {"target": "report"}, brief="--study {study}"
    ),
    "schedule": Example("bcast --ranks 4", {"file": "x.goal"}),
    "simulate": Example(
        "{goal} -m odin", {"ops": "x.parquet", "statistics": "x.json"}, alone={"statistics": "--scheduler check"}
    ),
    "study": Example(
        "{goal} -m {machine} --seeds 2",
        {"file": "x.parquet", "statistics": "x.json"},
        alone={"statistics": "--scheduler check"},
    ),
    "study algorithms": Example("--ranks 2 --collectives scatter --bytes 8", {"folder": "study-algorithms"}),
    "study benchmark-error": Example("--ranks 2", {"folder": "study-benchmark-error"}),
    "study co-scheduling": Example(f"{_SMALL} --seeds 1", {"folder": "study-co-scheduling"}),
    "study collect": Example("{array}"),
    "study ft": Example("--problem S --ranks 4 --links 1 --exchanges put,two-sided", {"folder": "study-ft"}),
    "study network": Example(f"{_SMALL} --seeds 1 --factors 0.1", {"folder": "study-network"}),
    "study overlap": Example(_SMALL, {"folder": "study-overlap"}),
    "study sensitivity": Example(f"{_SMALL} --factors 10 --growths 0.1", {"folder": "study-sensitivity"}),
    "study idle-wave": Example(
        "--ranks 8 --iterations 4 --patterns nonblocking --partners 1 --noise-shares none",
        {"folder": "study-idle-wave"},
    ),
    "study machines": Example(
        "-m odin -m sci --set L=0.5x --programs allreduce --ranks 4 --iterations 1", {"folder": "study-machines"}
    ),
    "study noise": Example(
        "--ranks 4 --programs bcast --bytes 8 --noise jaguar --seeds 2 --no-published", {"folder": "study-noise"}
    ),
    "study thinning": Example("--ranks 4 --programs bcast --seeds 2", {"folder": "study-thinning"}),
    "study variation": Example("{goal} -m {varying} --runs 3", {"folder": "study-variation"}),
    "study verify": Example("--checks form,delay", {"folder": "study-verify"}),
    "study where": Example(f"{_SMALL} --seeds 1", {"folder": "study-where"}),
    "timeline": Example(
        "{goal} -m odin", {"file": "x.parquet", "statistics": "x.json"}, alone={"statistics": "--scheduler check"}
    ),
    "validate": Example("{suite} --runs 1", {"folder": "validation"}, measures=True),
    "trace": Example("-- {mpiexec} -n 2 {program} 8 1 1", {"folder": "trace"}, measures=True),
}


def commands() -> Iterator[tuple[str, click.Command]]:
    """All that can be called, by name, in a group the group's own work first."""
    yield from _commands("", cli)


def _commands(before: str, group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        full = f"{before}{name}"
        if not isinstance(command, click.Group):
            yield full, command
            if full == "study":
                yield from ((f"study {study}", named_study(study)) for study in NAMED)
            continue
        if command.invoke_without_command:
            yield full, command
        yield from _commands(f"{full} ", command)


def outputs_of(command: click.Command) -> dict[str, click.Parameter]:
    """The options and arguments of a command that say where something is written, by name."""
    return {
        str(parameter.name): parameter
        for parameter in command.params
        if isinstance(parameter.type, (OutputFile, OutputFolder)) and parameter.name != "checkpoint"
    }


def words_of(name: str, material: dict[str, str], outputs: dict[str, Path], *, brief: bool = False) -> list[str]:
    """The words of a command's example, with these outputs; `brief`: those that make it do less."""
    options = dict(commands())[name].params
    written = []
    for parameter in options:
        if parameter.name in outputs:
            path = str(outputs[parameter.name])
            written += [path] if parameter.param_type_name == "argument" else [max(parameter.opts, key=len), path]
    example = EXAMPLES[name]
    more = [words for output, words in example.alone.items() if output in outputs]
    words = example.brief if brief and example.brief else example.words
    given = " ".join([words.format(**material), *more]).split()
    before = given.index("--") if "--" in given else len(given)
    return [*name.split(), *given[:before], *written, *given[before:]]


def material_in(folder: Path) -> dict[str, str]:
    """What `make_material` has made in the folder, by the words that stand for it in examples."""
    names = {
        "goal": "ping.goal",
        "study": "study.parquet",
        "machine": "machine",
        "network": "network",
        "noise": "noise",
        "overtime": "overtime",
        "archive": "archive",
        "trace": "trace",
        "varying": "varying.toml",
        "contention": "contention.parquet",
        "detector": "detector.skops",
        "array": "array",
    }
    return {word: str(folder / name) for word, name in names.items()}


def make_material(folder: Path) -> None:
    """Make the files and folders that examples read."""
    (folder / "ping.goal").write_text(PING)
    (folder / "variation.csv").write_text("start_ns,L_factor,G_factor\n0,1,1\n500,3,2\n")
    (folder / "varying.toml").write_text(VARYING)
    write_ring(folder / "archive")
    write_trace(folder / "trace")
    samples = emulate(RENDEZVOUS["infiniband"], seed=1, repetitions=10)
    probe = {"same_node": True, "library": "Some MPI 1.0, of a test", "eager_limit": 12_288}
    network = NetworkMeasurement(samples, estimate(samples, RENDEZVOUS["infiniband"].S), probe, describe())
    rows = pd.DataFrame({"core": [0, 0, 1], "start_ps": [1_234, 50_000_000, 7], "length_ps": [10, 2_000_001, 20]})
    noise = summarise(rows, [detour_summary(0, 1.0), detour_summary(1, 0.5)], describe())
    write_machine(folder / "machine", noise, network, name="example")
    save_network(folder / "network", network, "example")
    write_detours(folder / "noise", [detours(1.0, [(250, 5e-6)], [(100, 2e-5)], core=core) for core in range(2)])
    traffic = contention_table({"stream": DRAM}, pairs=2, iterations=3)
    traffic.to_parquet(folder / "contention.parquet", index=False)
    learn(traffic, ForestSettings(trees=2))[0].save(folder / "detector.skops")
    write_recording(folder / "overtime", recording_table(70, counters=2))
    found = material_in(folder)
    made = run_command(["study", found["goal"], "-m", found["machine"], "--seeds", "2", "-o", found["study"]], folder)
    assert made.status == 0, made.complained
    for words in (["--array", "slurm", "--tasks", "1"], ["--share", "0/1"]):
        made = run_command(["study", "benchmark-error", "--ranks", "2", "-o", found["array"], *words], folder)
        assert made.status == 0, made.complained


def make_program(folder: Path) -> dict[str, str]:
    """The same for examples that need an MPI. Raises MpiError."""
    found = mpi.find()
    program = mpi.build_example(found, "halo2d", folder / "halo2d")
    suite = folder / "suite.toml"
    suite.write_text(
        f'[[network]]\nname = "here"\nmachine = "odin"\nlaunch = ["{found.mpiexec}"]\n'
        f'[[program]]\nname = "halo2d"\ncommand = ["{program}", "8", "1", "1"]\n'
    )
    return {"mpiexec": str(found.mpiexec), "program": str(program), "suite": str(suite)}

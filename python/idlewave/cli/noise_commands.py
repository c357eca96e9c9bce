"""``idlewave noise``: analysis of recordings, signatures, comparisons, and the nodes of a job."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import click
import pandas as pd

from ..digests import digest_of_file, digest_of_files
from ..errors import InputError, UsageError
from ..escaping import cut, quote
from ..formatting import plain_percent, plain_time
from ..machine import Machine
from ..measure.noise import noise_plots
from ..measure.noise.compare import Comparison, compare, maximum_table
from ..measure.noise.nodes import rank_cores, rank_nodes
from ..measure.noise.noise_recording import Detours, NoiseRecording, detours_of, read_nodes, read_recording
from ..measure.noise.recording_schemas import PROBES
from ..measure.noise.replay import write_noise
from ..measure.noise.signature import PERIODIC, Signature, end_to_end
from ..measure.noise.signature_fit import fit_signature
from ..measure.table_rows import records
from ..output import write_text
from ..provenance import Provenance
from ..provenance_in_files import comment
from ..units import parse_time
from .figure_files import Picture, save_figure
from .lazy_groups import Commands
from .noise_report import KINDS, NoiseReport, environment_of
from .noise_tables import MOST_ROWS
from .option_types import Count, OutputFile, OutputFolder, as_json, print_json, refuse_given
from .progress import doing
from .terminal import say, say_note, show_table

FOLDER = click.Path(exists=True, path_type=Path)
FILE = OutputFile()
plot_file = click.option("--plot", type=Picture(), help="Draw it: .png, .pdf or .svg.")


@click.group(cls=Commands)
def noise() -> None:
    """Recordings of noise: show them, make signatures of them, compare them, rank nodes.

    A recording is a folder that `idlewave measure noise -o DIR` or a probe wrote; under Slurm
    `srun --ntasks-per-node=1 idlewave-probe detour --seconds 10 --output DIR` makes one with a subfolder for each node.
    """


@noise.command()
@click.argument("recording", type=FOLDER)
@click.option("--method", type=click.Choice(PROBES), help="Whose recording, if the folder has several.")
@click.option("--kind", type=click.Choice(KINDS), help="Which plot (default: the method's).")
@plot_file
@as_json
def show(recording: Path, method: str | None, kind: str | None, plot: Path | None, as_json: bool) -> None:
    """Show what a recording says."""
    if kind is not None and plot is None:
        raise UsageError("--kind goes with --plot")
    with doing(f"reading {recording}"):
        found = read_recording(recording, method)
    report = NoiseReport(found, environment_of(found))
    if as_json:
        click.echo(report.to_json())
    else:
        report.show()
    if plot is not None:
        report.plot(plot, kind)


@noise.command()
@click.argument("recording", type=FOLDER)
@click.option("-o", "--output", "target", type=FILE, required=True, help="The signature (.toml).")
@click.option("--thin", type=click.FloatRange(0, 1), help="Keep only this part of the detours.")
@click.option("--scale", "lengths", type=click.FloatRange(0, min_open=True), help="Detours so many times as long.")
@click.option("--rates", type=click.FloatRange(0, min_open=True), help="So many times as often.")
@click.option("--move", "moves", multiple=True, metavar="SOURCE=PERIOD", help="A source at another period, as 4ms.")
@click.option("--drop", "drops", multiple=True, metavar="SOURCE", help="Without a source.")
@click.option("--replay", is_flag=True, help="With --noise: the recording itself, not the fit.")
@click.option("--noise", "folder", type=OutputFolder(), help="Write it as a machine's noise.")
@click.option("--machine", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Whose network it gets.")
@click.option(
    "--seconds", default=1.0, show_default=True, type=click.FloatRange(0.001), help="Of periodic noise, a core."
)
@click.option("--seed", default=1, show_default=True, type=Count(0), help="Of what is drawn.")
@as_json
@click.pass_context
def signature(
    context: click.Context,
    recording: Path,
    target: Path,
    thin: float | None,
    lengths: float | None,
    rates: float | None,
    moves: tuple[str, ...],
    drops: tuple[str, ...],
    replay: bool,
    folder: Path | None,
    machine: Path | None,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Fit a recording (or read a signature), change it, and write it.

    --noise FOLDER writes noise.csv and machine.toml with it (the network of --machine) for the simulator: what is
    periodic in so many seconds, what is random as laws of which each rank draws its own.
    """
    if (replay or machine) and folder is None:
        raise UsageError("--replay and --machine go with --noise FOLDER")
    if folder is None or replay:
        refuse_given(context, ("seconds",), "nothing is drawn" if replay else "no noise is written without --noise")
    if replay and _is_signature(recording):
        raise UsageError(f"--replay writes a recording as it was: expected one, found the signature {recording}")
    if replay and (drops or moves or any(change is not None for change in (thin, lengths, rates))):
        raise UsageError("--replay writes the recording itself: without --thin, --scale, --rates, --drop and --move")
    given = Machine.load(machine) if machine else None
    recorded, name = ([], "") if _is_signature(recording) else _recorded(recording)
    with doing(f"fitting {recording}"):
        made = fit_signature(recorded, name, seed) if recorded else Signature.load(recording)
    changes = {"thin": thin, "scale": lengths, "rates": rates, "move": moves, "drop": drops, "seed": seed}
    source_said = _source_of(recording)
    said = Provenance.made(
        "signature", made.name, by="idlewave noise signature", options=changes, sources=(source_said,)
    )
    for source in drops:
        _say_where(made, "--drop", source)
        made = made.drop(source)
    for entry in moves:
        source, period = _moved(entry)
        _say_where(made, "--move", source)
        made = made.move(source, period)
    if lengths is not None or rates is not None:
        made = made.scale(lengths or 1.0, rates or 1.0)
    if thin is not None:
        made = made.thin(thin)
    noise = None
    if folder is not None:
        noise = end_to_end(recorded) if replay else made.noise(seconds, seed)
        if not replay:
            _warn_of_rare(made, seconds)
    write_text(target, comment(said) + made.to_toml())
    written = [target]
    if folder is not None and noise is not None:
        drawn = source_said if replay else replace(said, options={**said.options, "seconds": seconds})
        written.append(write_noise(folder, noise, given, drawn))
    if as_json:
        print_json({"written": [str(file) for file in written]} | _signature_as_json(made))
        return
    _show_signature(made)
    for file in written:
        say(f"written: {file}")


def _signature_as_json(made: Signature) -> dict[str, object]:
    """The signature for JSON; times in ps, overheads as shares."""
    sources = [
        {
            "core": s.core,
            "source": s.name,
            "rate_per_s": s.rate_per_s,
            "jitter_ps": s.jitter_ps if s.kind == PERIODIC else None,
            "distribution": s.length.kind,
            "mean_ps": s.length.mean if math.isfinite(s.length.mean) else None,
            "overhead": s.overhead if math.isfinite(s.overhead) else None,
        }
        for s in made.sources
    ]
    overhead = made.overhead if math.isfinite(made.overhead) else None
    fits = records(pd.DataFrame([asdict(fit) for fit in made.goodness]))
    checks = [asdict(check) | {"doubt": check.doubt} for check in made.checks]
    said = {"name": made.name, "overhead": overhead, "sources": sources, "fit": fits, "checks": checks}
    return said | {"notes": list(made.notes)}


def _say_where(made: Signature, option: str, name: str) -> None:
    """Print on how many cores a change acts, and the sources of the others, if it is not all with noise by this
    name."""
    chosen = made.called(name)
    cores, noisy = ({source.core for source in sources} for sources in (chosen, made.sources))
    near = sorted({source.name for source in chosen} - {name})
    left = sorted({source.name for source in made.sources if source.core not in cores})
    if near or left:
        also = f", on some as {', '.join(near)}" if near else ""
        rest = f"; the others have {', '.join(left)}" if left else ""
        say_note(f"{option} {quote(name)} acts on {len(cores)} of {len(noisy)} cores with noise{also}{rest}")


def _warn_of_rare(made: Signature, seconds: float) -> None:
    """Print the periods that do not fit into the time that is drawn and repeated."""
    rare = sorted({s.name for s in made.sources if s.kind == PERIODIC and s.period_ps > seconds * 1e12})
    if rare:
        say_note(
            f"a core has {', '.join(rare)} once in its {seconds:g} s or never, since these are repeated: "
            "take --seconds of several periods"
        )


def _moved(entry: str) -> tuple[str, int]:
    name, _, period = entry.rpartition("=")
    try:
        return name, parse_time(period)
    except ValueError as error:
        raise UsageError(f"--move {entry}: expected SOURCE=PERIOD: {error}") from None


def _is_signature(path: Path) -> bool:
    """Whether the path is a signature: a file; a recording is a folder."""
    return path.is_file()


def _source_of(path: Path) -> Provenance:
    """The provenance of a recording or signature, with the digest of its files."""
    if _is_signature(path):
        found = Provenance.read(path) or Provenance("signature", str(path))
        return replace(found, digests={"content": digest_of_file(path)})
    found = Provenance.read(path) or Provenance("recording", str(path))
    files = [*path.rglob("detour.json"), *path.rglob("detour-*.i64")]
    return replace(found, digests={"content": digest_of_files(path, files)})


def _recorded(path: Path) -> tuple[list[Detours], str]:
    """The detours of all nodes of a recording, and its name."""
    found, problems = read_nodes(path, "detour")
    _warn(found, problems)
    return [core for part in found for core in detours_of(part)], found[0].node if len(found) == 1 else path.name


def _detours(path: Path, seconds: float, seed: int) -> list[Detours]:
    """The detours of a recording, or of one realisation of a signature."""
    if _is_signature(path):
        return Signature.load(path).detours(seconds, seed)
    return _recorded(path)[0]


def _warn(found: list[NoiseRecording], problems: list[str]) -> None:
    """Print the missing data: nodes that cannot be read, rows that are cut off, detours for which there was no room."""
    lost = [note for part in found for note in (*part.notes, *part.losses)]
    for note in [*(f"left out: {problem}" for problem in problems), *lost]:
        say_note(note)


def _show_signature(made: Signature) -> None:
    table = pd.DataFrame(
        [
            (
                s.core,
                s.name,
                f"{s.rate_per_s:.4g}",
                plain_time(s.jitter_ps, 2) if s.kind == PERIODIC else "",
                f"{s.length.kind} {plain_time(s.length.mean, 3) if math.isfinite(s.length.mean) else 'infinite'}",
                plain_percent(s.overhead),
            )
            for s in made.sources
        ],
        columns=["core", "source", "a second", "jitter", "length (mean)", "overhead"],
    )
    show_table(
        table, f"Signature of {cut(made.name)}: {plain_percent(made.overhead)} on average over {len(made.cores)} cores"
    )
    if made.goodness:
        fits = pd.DataFrame([asdict(fit) for fit in made.goodness])
        shown = pd.DataFrame({"core": fits["core"], "measured": fits["overhead"].map(plain_percent)})
        shown["as fitted"] = fits["fitted_overhead"].map(plain_percent)
        shown["lengths differ"] = fits["ks"].map("{:.3f}".format)
        shown["spectra differ"] = fits["spectrum_distance"].map(_distance)
        show_table(shown, "How good the fit is (0 the same, 1 wholly different)")
    for note in made.notes:
        say_note(note)


def _distance(apart: float) -> str:
    return "? (too short)" if math.isnan(apart) else f"{apart:.3f}"


@noise.command(name="compare")
@click.argument("a", type=FOLDER)
@click.argument("b", type=FOLDER)
@click.option("--seconds", default=10.0, show_default=True, type=click.FloatRange(0.01), help="Drawn of a signature.")
@click.option("--seed", default=1, show_default=True, type=Count(0), help="Of what is drawn.")
@plot_file
@as_json
@click.pass_context
def compare_command(
    context: click.Context, a: Path, b: Path, seconds: float, seed: int, plot: Path | None, as_json: bool
) -> None:
    """Compare two recordings or signatures: overhead, shape, and what decides at scale."""
    if not (_is_signature(a) or _is_signature(b)):
        refuse_given(context, ("seconds", "seed"), "nothing is drawn of recordings")
    first, second = _detours(a, seconds, seed), _detours(b, seconds, seed)
    with doing(f"comparing {a} and {b}"):
        found = compare(first, second)
    if as_json:
        apart = None if math.isnan(found.spectrum_distance) else found.spectrum_distance
        said = {"a": str(a), "b": str(b), "ks": found.ks, "spectrum_distance": apart}
        said |= {"figures": records(found.figures), "maxima": records(found.maxima)}
        click.echo(json.dumps(said, allow_nan=False))
    else:
        _show_comparison(found, str(a), str(b))
    if plot is not None:
        names = (str(a), str(b)) if a != b else (f"A: {a}", f"B: {b}")
        save_figure(noise_plots.plot_maximum({names[0]: maximum_table(first), names[1]: maximum_table(second)}), plot)


def _show_comparison(found: Comparison, a: str, b: str) -> None:
    say(f"A: {a}")
    say(f"B: {b}")
    figures = found.figures
    texts = {"overhead": plain_percent, "rate_per_s": "{:.4g}".format}
    shown = pd.DataFrame({"quantity": [q.removesuffix("_ps").replace("_", " ") for q in figures["quantity"]]})
    for side in ("a", "b"):
        shown[side.upper()] = [
            texts.get(q, lambda x: plain_time(x, 3))(x) for q, x in zip(figures["quantity"], figures[side], strict=True)
        ]
    shown["B / A"] = [f"{y / x:.3g}" if x else "" for x, y in zip(figures["a"], figures["b"], strict=True)]
    show_table(shown, "Two noises")
    say(f"lengths differ by {found.ks:.3f} (Kolmogorov and Smirnov: 0 the same, 1 apart)")
    say(f"spectra differ by {_distance(found.spectrum_distance)} (0 the same, 1 apart)")
    table = pd.DataFrame({"window": found.maxima["window_ps"].map(plain_time), "ranks": found.maxima["ranks"]})
    for side in ("a", "b"):
        table[side.upper()] = found.maxima[f"{side}_ps"].map(lambda x: plain_time(x, 3))
    table["B / A"] = [
        f"{y / x:.3g}" if x else "" for x, y in zip(found.maxima["a_ps"], found.maxima["b_ps"], strict=True)
    ]
    table[""] = found.maxima["beyond"].map({True: "at least", False: ""})
    show_table(table, "Expected worst loss of P ranks in a window")


@noise.command()
@click.argument("recordings", type=FOLDER)
@click.option("--cores", "by_core", is_flag=True, help="Rank the cores of one node.")
@plot_file
@as_json
def nodes(recordings: Path, by_core: bool, plot: Path | None, as_json: bool) -> None:
    """Rank the nodes of a job by their noise, and mark the outliers."""
    found, problems = read_nodes(recordings, "detour")
    _warn(found, problems)
    cores = [core for part in found for core in detours_of(part)]
    if by_core and len({core.node for core in cores}) > 1:
        raise InputError(f"{recordings}: --cores: expected the recording of one node, found {len(found)}")
    name = "core" if by_core else "node"
    table = rank_cores(cores) if by_core else rank_nodes(cores)
    if as_json:
        click.echo(json.dumps({name + "s": records(table), "left_out": problems}))
    else:
        _show_ranking(table, name)
    if plot is not None:
        save_figure(noise_plots.plot_nodes(table, name), plot)


def _show_ranking(table: pd.DataFrame, name: str) -> None:
    top = table.head(3 * MOST_ROWS)
    shown = pd.DataFrame({name: top[name], "overhead": top["overhead"].map(plain_percent)})
    for column, label in (("p999_ps", "99.9 %"), ("longest_ps", "longest"), ("maximum_ps", "worst of 1000")):
        shown[label] = top[column].map(lambda x: plain_time(x, 3))
    shown["outlier in"] = top["outlier"]
    show_table(shown, f"The {name}s, noisiest first (worst of 1000: ranks, expected, in a window of 1 ms)")
    if len(table) > len(top):
        say(f"and {len(table) - len(top)} more, quieter ones")
    marked = table[table["outlier"] != ""]
    say(f"{len(marked)} of {len(table)} are outliers" + (f": {', '.join(marked[name])}" if len(marked) else ""))

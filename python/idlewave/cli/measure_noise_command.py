"""``idlewave measure noise``: what takes this machine's cores away."""

from __future__ import annotations

from pathlib import Path

import click

from ..host_environment import describe_recording
from ..measure.noise.noise_run import chosen_cores, record
from ..measure.noise.recording_schemas import PROBES
from ..measure.probe_process import shown
from ..measurement_parameters import NOISE_SECONDS
from .figure_files import Picture
from .interrupted_measurement import recording_folder
from .noise_report import KINDS, NoiseReport, chosen_kind, write_environment, write_samples
from .option_types import FiniteRange, OutputFile, OutputFolder, as_json
from .parameter_options import option
from .terminal import progress_bar, say


@click.command()
@click.option("--method", type=click.Choice(PROBES), default="detour", show_default=True, help="Which benchmark.")
@option("seconds", float, NOISE_SECONDS)
@click.option(
    "--together/--one-by-one", default=True, show_default=True, help="All cores at once, or one after the other."
)
@click.option("--core", "cores", multiple=True, type=int, help="A core to measure (default: all); may be repeated.")
@click.option("--quantum", type=FiniteRange(1), help="ftq: µs a quantum (default 100). fwq: µs of work (100).")
@click.option("--attribute", is_flag=True, help="Record the kernel's events, and say what each detour was.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Keep all.")
@as_json
@click.option("--plot", type=Picture(), help="Draw it: .png, .pdf or .svg.")
@click.option("--kind", type=click.Choice(KINDS), help="Which plot (default: the method's).")
@click.option("--samples", type=OutputFile(), help="Write the table (Parquet).")
def noise(
    method: str,
    seconds: float,
    together: bool,
    cores: tuple[int, ...],
    quantum: float | None,
    attribute: bool,
    folder: Path | None,
    as_json: bool,
    plot: Path | None,
    kind: str | None,
    samples: Path | None,
) -> None:
    """Measure what takes each core away: detours, or work in fixed times (ftq), or times of fixed work (fwq).

    The folder given by -o has the probe's files, the tables as Parquet, and environment.json; `idlewave noise show`
    and the others read it.
    """
    if attribute and method != "detour":
        raise click.UsageError("--attribute goes with --method detour")
    if quantum is not None and method == "detour":
        raise click.UsageError("--quantum goes with --method ftq or fwq")
    if kind is not None and plot is None:
        raise click.UsageError("--kind goes with --plot")
    chosen_kind(method, kind)
    chosen = chosen_cores(cores or None)
    show = f"idlewave noise show --method {method}"
    with recording_folder(folder, {f"{method}.json": show, f"*/{method}.json": show}) as place:
        asked = {"method": method, "seconds": seconds, "together": together, "cores": chosen, "quantum": quantum}
        environment = describe_recording("noise", by="idlewave measure noise", options=asked)
        write_environment(place, environment)
        with progress_bar() as progress, shown(progress, f"noise, {method}") as advance:
            arguments = _arguments(method, quantum, attribute)
            recording = record(method, arguments, chosen, seconds, place, together=together, advance=advance)
        if recording.folder != place:
            write_environment(recording.folder, environment)
        if samples is not None:
            write_samples(recording, environment, samples)
        if folder is not None:
            write_samples(recording, environment)
        report = NoiseReport(recording, environment)
        click.echo(report.to_json()) if as_json else report.show()
        if plot is not None:
            report.plot(plot, kind)
        written = [file for file in (plot, samples, recording.folder if folder else None) if file is not None]
    for file in written if not as_json else ():
        say(f"written: {file}")


def _arguments(method: str, quantum: float | None, attribute: bool) -> list[str]:
    if method == "detour":
        return ["--trace-events", "--counts"] if attribute else []
    if quantum is None:
        return []
    return ["--quantum-us" if method == "ftq" else "--work-us", f"{quantum:g}"]

"""``idlewave measure one-sided``: one-sided against two-sided communication on the same pair of ranks."""

from __future__ import annotations

import platform
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from ..errors import MeasurementError
from ..formatting import percent_text, plain_time, si_text, size_text
from ..measure.one_sided.fit import OneSidedFit, fit_one_sided
from ..measure.one_sided.libraries import BACK_END_NAMES, BACK_ENDS
from ..measure.one_sided.machine_table import check_machine, one_sided_of, write_into_machine, write_new_machine
from ..measure.one_sided.samples import THERE_AND_BACK, OneSidedMeasurement, measure_one_sided, read_one_sided
from ..measure.table_rows import records
from ..measurement_parameters import OneSidedParameters
from ..output import check_output
from ..parameters import parameters_of
from .figure_files import Picture, save_figure
from .interrupted_measurement import recording_folder
from .option_types import OutputFolder, as_json, print_json, refuse_given
from .parameter_options import options_of
from .terminal import errors, progress_bar, say_note, show_table

if TYPE_CHECKING:
    import pandas as pd

    NamesType = click.ParamType[list[str]]
else:
    NamesType = click.ParamType  # which older versions of click cannot subscript

EXISTING = click.Path(file_okay=False, path_type=Path)
MACHINE = click.Path(dir_okay=False, exists=True, path_type=Path)


class _Names(NamesType):
    """Names of back ends with commas between them."""

    name = "names"

    def convert(self, value: str | list[str], _param: click.Parameter | None, _ctx: click.Context | None) -> list[str]:
        """A list of the names."""
        return value if isinstance(value, list) else [name.strip() for name in value.split(",")]


@click.command("one-sided")
@click.option(
    "--back-ends",
    type=_Names(),
    metavar="A,B,...",
    help=f"What is compared, of {', '.join(BACK_ENDS)}: {', '.join(BACK_END_NAMES.values())} (default: all that are "
    "there and run).",
)
@click.option(
    "--gasnet", type=EXISTING, help="The folder in which GASNet-EX is installed (default: that of IDLEWAVE_GASNET)."
)
@click.option("--hosts", metavar="A,B", help="Measure between two nodes: one rank on each.")
@options_of(OneSidedParameters)
@click.option("--from", "recorded", type=EXISTING, help="Show a recording instead: the folder of idlewave-one-sided.")
@click.option("-o", "--output", "folder", type=OutputFolder(), help="Write machine.toml and the samples here.")
@click.option("--name", default=platform.node(), help="The machine's name in machine.toml (default: the host's).")
@click.option(
    "--machine", type=MACHINE, help="Put the table [network.one_sided] into this machine.toml, in place of its own."
)
@click.option(
    "--parameters-of",
    "chosen",
    type=click.Choice(BACK_ENDS[1:]),
    help="The back end whose parameters the machine gets (default: the first one-sided one that was measured).",
)
@as_json
@click.option(
    "--plot", type=Picture(), help="Draw the times; NAME-flood.EXT has the floods, NAME-overlap.EXT the overlap."
)
@click.pass_context
def one_sided(
    context: click.Context,
    back_ends: list[str] | None,
    gasnet: Path | None,
    hosts: str | None,
    recorded: Path | None,
    folder: Path | None,
    name: str,
    machine: Path | None,
    chosen: str | None,
    as_json: bool,
    plot: Path | None,
    **options: Unpack[OneSidedParameters],
) -> None:
    """Measure puts, gets, flags, floods and overlap of one-sided libraries against messages of the same ranks.

    Their LogGP parameters become the table [network.one_sided] of a machine.toml.
    """
    if folder is None:
        refuse_given(context, ("name",), "no machine is written without -o")
    if folder is None and machine is None:
        refuse_given(context, ("chosen",), "no machine is written without -o or --machine")
    if machine is not None:
        check_machine(check_output(machine))
    if recorded is not None:
        measuring = ("back_ends", "gasnet", "hosts", *parameters_of(OneSidedParameters))
        refuse_given(context, measuring, "--from measures nothing")
        found = read_one_sided(recorded)
    else:
        shown_by = {"epoch-*/one-sided.i64": "idlewave measure one-sided --from"}
        with recording_folder(folder, shown_by, whole=True) as place, progress_bar() as progress:
            found = measure_one_sided(
                back_ends=back_ends,
                gasnet=gasnet,
                hosts=[] if hosts is None else hosts.split(","),
                progress=progress,
                folder=place,
                **options,
            )
    fits = {back_end: fit_one_sided(found, back_end) for back_end in found.back_ends}
    if as_json:
        print_json(_as_json(found, fits))
    else:
        _show(found, fits)
    for file in _write(found, fits, folder, machine, chosen, name):
        errors.print(f"written: {file}")
    if plot is not None:
        for file in _draw(found, plot):
            errors.print(f"written: {file}")


def _write(
    found: OneSidedMeasurement,
    fits: dict[str, OneSidedFit],
    folder: Path | None,
    machine: Path | None,
    chosen: str | None,
    name: str,
) -> list[Path]:
    written = []
    if machine is not None:
        write_into_machine(machine, one_sided_of(fits, chosen), found)
        written.append(machine)
    if folder is not None:
        if "mpi" not in fits:
            raise MeasurementError("expected messages among the back ends for a machine.toml: --back-ends mpi,...")
        file = folder / "machine.toml"
        write_new_machine(file, found, fits["mpi"], one_sided_of(fits, chosen), name)
        written.append(file)
    return written


def _draw(found: OneSidedMeasurement, plot: Path) -> list[Path]:
    from ..measure.one_sided.plots import plot_one_sided_floods, plot_one_sided_overlaps, plot_one_sided_times

    figures = {
        plot: plot_one_sided_times(found.table),
        plot.with_stem(f"{plot.stem}-flood"): plot_one_sided_floods(found.floods),
        plot.with_stem(f"{plot.stem}-overlap"): plot_one_sided_overlaps(found.overlaps),
    }
    for file, figure in figures.items():
        save_figure(figure, file)
    return [*figures]


def _show(found: OneSidedMeasurement, fits: dict[str, OneSidedFit]) -> None:
    table = found.table[(found.table["links"] == 1) & found.table["hidden"].isna()]
    each = table["window"].where(~table["operation"].isin(THERE_AND_BACK), 2)
    times = [(table[column] / each).map(lambda x: plain_time(x, 3)) for column in ("median_ps", "low_ps", "high_ps")]
    texts = [f"{middle} ({low} to {high})" for middle, low, high in zip(*times, strict=True)]
    _show_beside(
        found,
        table.assign(text=texts),
        ["operation", "size"],
        "Times of one, with 95 % intervals: half a "
        "round trip of what goes there and back; of a flood, of each transfer",
    )
    floods = found.floods
    rates = zip(floods["bandwidth"], floods["messages_per_s"], strict=True)
    texts = [f"{si_text(bandwidth)}B/s, {si_text(messages)}/s" for bandwidth, messages in rates]
    _show_beside(
        found, floods.assign(text=texts), ["links", "size"], "Floods: bytes and transfers a second, all links together"
    )
    texts = [percent_text(share) for share in found.overlaps["hidden"]]
    _show_beside(
        found,
        found.overlaps.assign(text=texts),
        ["operation", "size"],
        "Overlap: the share of a computation as long as the transfer that hides in it",
    )
    for fit in fits.values():
        for note in fit.notes:
            say_note(note)
    for note in found.notes:
        say_note(note)


def _show_beside(found: OneSidedMeasurement, rows: pd.DataFrame, keys: list[str], title: str) -> None:
    """A table with a row for each of the `keys`, and the texts of the back ends beside each other."""
    shown = rows[keys].drop_duplicates()
    for back_end in found.back_ends:
        own = rows.loc[rows["back_end"] == back_end, [*keys, "text"]].rename(columns={"text": back_end})
        shown = shown.merge(own, how="left", on=keys)
    shown["size"] = shown["size"].map(size_text)
    show_table(shown.fillna(""), title)


def _as_json(found: OneSidedMeasurement, fits: dict[str, OneSidedFit]) -> dict[str, object]:
    return {
        "times": records(found.table),
        "floods": records(found.floods),
        "overlaps": records(found.overlaps),
        "parameters": {
            name: {
                "ranges": [asdict(r) for r in fit.ranges],
                "errors": records(fit.table),
                "waits": fit.waits,
                "notes": fit.notes,
            }
            for name, fit in fits.items()
        },
        "notes": found.notes,
        "probe": found.probe,
        "environment": found.environment,
    }

"""``idlewave validate``: how far simulated run times of real programs are from measured ones."""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from ..escaping import cut
from ..formatting import plural
from ..measure.table_rows import records
from ..output import make_folder, write_table, write_text
from ..validation import Row, Suite, example_suite, page_of, read_suite, steps, table_of
from ..validation import validate as run
from ..validation.rows import loops_in
from .completion import machines
from .option_types import Count, OutputFolder, as_json, print_json
from .progress import doing
from .terminal import progress_bar, say, say_note


@click.command()
@click.argument("suite", required=False, metavar="[SUITE.toml]", type=click.Path(path_type=Path))
@click.option(
    "-m",
    "--machine",
    metavar="MACHINE",
    shell_complete=machines,
    help="The measured machine, on which the example programs run; a suite names its own.",
)
@click.option(
    "--mpiexec",
    metavar="PATH",
    help="The launcher of the example programs.  [default: that of this environment, or in PATH]",
)
@click.option("--runs", type=Count(1), default=5, show_default=True, help="Runs of each program on each network.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=OutputFolder(),
    default=Path("validation"),
    show_default=True,
    help="Folder to write: validation.csv, validation.md, pictures, and the traces.",
)
@as_json
def validate(
    suite: Path | None, machine: str | None, mpiexec: str | None, runs: int, folder: Path, as_json: bool
) -> None:
    """Run programs, simulate their traces on the measured machine, and compare the times.

    Without a SUITE these are the example programs on two ranks. A suite names programs and networks; each program runs
    on each network, and each of its traces is simulated on each network's machine. It may also name loops of
    benchmarks, whose times are predicted from the machine alone.
    """
    if (suite is None) == (machine is None):
        raise click.UsageError("expected a SUITE.toml, or --machine for the example programs")
    if suite is not None and mpiexec is not None:
        raise click.UsageError("--mpiexec belongs to --machine; a suite names its own launchers")
    make_folder(folder)
    chosen = example_suite(str(machine), folder / "programs", mpiexec=mpiexec) if suite is None else read_suite(suite)
    table = _run_suite(chosen, folder, runs)
    page = page_of(table, "Simulated and measured run times")
    write_table(folder / "validation.csv", table)
    write_text(folder / "validation.md", page)
    _draw(table, folder)
    if as_json:
        print_json({"written": str(folder), "rows": records(table)})
        return
    for line in page.splitlines():
        say(line)
    say(f"written: {cut(str(folder))}, with the traces")


def _draw(table: pd.DataFrame, folder: Path) -> None:
    """Pictures of the programs and of the loops, as far as there are some."""
    from ..validation.plots import plot_loops, plot_validation
    from .figure_files import save_figure

    loops = loops_in(table)
    if len(table[~loops]):
        save_figure(plot_validation(table), folder / "validation.png")
    if len(table[loops]):
        save_figure(plot_loops(table), folder / "loops.png")


def _run_suite(suite: Suite, folder: Path, runs: int) -> pd.DataFrame:
    """Validate with a progress bar. If an interrupt or an error ends it early, the rows that are there go to a file."""
    rows: list[Row] = []
    with progress_bar(count=True) as progress, doing("validation"):
        task = progress.add_task("runs", total=steps(suite, runs))

        def next_run(what: str) -> None:
            progress.update(task, advance=1, description=what)

        try:
            return run(suite, folder / "traces", runs=runs, output_to=2, on_run=next_run, on_row=rows.append)
        except BaseException:
            if rows:
                unfinished = folder / "unfinished-validation.csv"
                write_table(unfinished, table_of(rows))
                say_note(f"{plural(len(rows), 'row')} were finished: {unfinished}")
            raise

"""The command line of ``idlewave``: the commands, in the order in which they are used."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from .. import exit_status
from .._core import version
from ..wait_notices import show_log, show_notices
from .large_libraries import check_memory_on_import
from .lazy_groups import Ended, LazyGroup

COMMANDS = {
    "measure": ("measure_commands", "Measure the noise and the network of this machine."),
    "noise": ("noise_commands", "Show and compare recordings of noise, fit signatures, rank nodes."),
    "overtime": ("overtime_commands", "Analyse recordings of performance over time: changes, counters, predictions."),
    "check-allocation": (
        "check_allocation_command",
        "Say whether the nodes of a job fit what it needs, before its program.",
    ),
    "contention": ("contention_command", "Make, measure, detect, remedy and scale contention in memory."),
    "trace": ("trace_command", "Run an MPI program, and record the MPI calls of its ranks."),
    "computation": ("computation_command", "Show how long the computations of a trace take, by call site."),
    "import": ("import_command", "Import the trace of another tool: OTF2, DUMPI, Chakra, liballprof."),
    "export": ("export_command", "Write a trace for other tools: OTF2."),
    "schedule": ("schedule_command", "Convert a trace or a pattern to a schedule."),
    "convert": ("convert_command", "Convert the file of a schedule to another format."),
    "simulate": ("simulate_command", "Simulate a schedule, trace or pattern on a machine."),
    "explain": ("explain_command", "Explain a simulated time: critical path, waits, sensitivities."),
    "timeline": ("timeline_command", "Simulate, and write the start and end of each op."),
    "study": ("study_command", "Simulate at several numbers of ranks, with many seeds of the noise."),
    "report": ("report_command", "Write a report: one HTML file with figures."),
    "validate": ("validate_command", "Compare simulated run times of programs with measured ones."),
    "about": ("about_command", "Show the provenance of a file or folder."),
    "pdes": ("pdes_commands", "Run a model on the simulation kernel."),
    "demo": ("demo_command", "Measure, trace, simulate at scale, and report: all steps."),
    "machines": ("listing_commands", "List the presets of machines."),
    "algorithms": ("listing_commands", "List the algorithms of collective operations."),
    "patterns": ("listing_commands", "List the communication patterns."),
    "doctor": ("doctor_command", "Check this machine, and say how to repair what is missing."),
}


@click.group(
    cls=LazyGroup,
    later=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(version(), "-V", "--version", prog_name="idlewave")
@click.option(
    "-v", "--verbose", count=True, help="Log files read and written, programs started and compiled; -vv logs more."
)
def cli(verbose: int) -> None:
    """Measure the noise and the network of a machine, trace an MPI program, and simulate it on that machine at any
    scale."""
    if verbose:
        show_log(everything=verbose > 1)


def commands() -> None:
    """Run the command that the command line names. Errors go to `exit_status.run`."""
    show_notices()
    check_memory_on_import()
    try:
        status = cli(prog_name="idlewave", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        exit_status.say_error(_in_one_line(error))
        sys.exit(error.exit_code)
    except (Ended, click.Abort) as end:
        raise end.__cause__ or KeyboardInterrupt() from end
    sys.exit(status if isinstance(status, int) else 0)


def main() -> NoReturn:
    """Run the command line; `exit_status` says what the exit status means."""
    exit_status.run(commands)


def _in_one_line(error: click.ClickException) -> str:
    """The message of click, with the command whose help has more."""
    said = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return said
    return f"{said.removesuffix('.')} (see {context.command_path} --help)"

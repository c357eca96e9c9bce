"""The command line of ``idlewave``: its commands in the order of the story."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from .. import exit_status
from .._core import version
from ..wait_notices import show_log, show_notices
from .large_libraries import watch_room
from .lazy_groups import Ended, LateCommands

COMMANDS = {
    "measure": ("measure_commands", "Measure this machine: its noise and its network."),
    "noise": ("noise_commands", "Show recordings of noise, make signatures of them, compare, rank nodes."),
    "trace": ("trace_command", "Run an MPI program, and record what its ranks call."),
    "schedule": ("schedule_command", "Write a trace or a pattern as a schedule."),
    "convert": ("convert_command", "Write a schedule's file in another format."),
    "simulate": ("simulate_command", "Simulate a schedule, trace or pattern on a machine."),
    "explain": ("explain_command", "Say what a simulated time is made of, and what it depends on."),
    "timeline": ("timeline_command", "Simulate, and write when each op ran, to look at."),
    "study": ("study_command", "Simulate at many numbers of ranks and seeds of the noise."),
    "report": ("report_command", "Write what was found as one HTML file."),
    "about": ("about_command", "Say what a file or folder of Idlewave was made from."),
    "pdes": ("pdes_commands", "Run a model on the kernel: a parallel discrete-event simulation."),
    "demo": ("demo_command", "Measure, trace, simulate at scale, and report."),
    "machines": ("listing_commands", "List the machines that ship with Idlewave."),
    "algorithms": ("listing_commands", "List the algorithms of collective operations."),
    "patterns": ("listing_commands", "List the patterns that can be simulated."),
    "doctor": ("doctor_command", "Say what this machine can do for Idlewave, and how to mend the rest."),
}


@click.group(
    cls=LateCommands,
    later=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(version(), "-V", "--version", prog_name="idlewave")
@click.option("-v", "--verbose", count=True, help="Say what is read, written, started and compiled; -vv: more.")
def cli(verbose: int) -> None:
    """Measure a machine's noise and network, trace an MPI program, and simulate it, under that noise, at any scale."""
    if verbose:
        show_log(everything=verbose > 1)


def commands() -> None:
    """What the command line asks for. Raises what is told of it by `exit_status.run`."""
    show_notices()
    watch_room()
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
    """Run the command line. Exit status: as `exit_status` says."""
    exit_status.run(commands)


def _in_one_line(error: click.ClickException) -> str:
    """What click says, and where to look it up."""
    said = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return said
    return f"{said.removesuffix('.')} (see {context.command_path} --help)"

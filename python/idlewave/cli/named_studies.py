"""``idlewave study NAME``: studies of their own beside that of a trace or file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

NAMED = {
    "algorithms": "study_algorithms_command",
    "benchmark-error": "study_benchmark_error_command",
    "co-scheduling": "study_co_scheduling_command",
    "ft": "study_ft_command",
    "idle-wave": "study_idle_wave_command",
    "machines": "study_machines_command",
    "network": "study_network_command",
    "noise": "study_noise_command",
    "overlap": "study_overlap_command",
    "sensitivity": "study_sensitivity_command",
    "thinning": "study_thinning_command",
    "variation": "study_variation_command",
    "verify": "study_verify_command",
    "where": "study_where_command",
    "collect": "study_collect_command",
}
"""The module of each named study, which has the command of that name; and of `collect`."""
STUDIES_OF_CASES = tuple(name for name in NAMED if name != "collect")
"""The named studies, each of which can run as an array of jobs that `collect` collects."""


def named_study(name: str) -> click.Command:
    """The command of a named study; its module is loaded for it."""
    command: click.Command = getattr(import_module(f".{NAMED[name]}", __package__), f"study_{name.replace('-', '_')}")
    return command


class StudyCommand(click.Command):
    """The command of a source, which leaves the work to that of a named study if its first word is such a name.

    A file of that name is `./ft`.
    """

    named: Mapping[str, str] = NAMED

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> click.Context:
        """The context of the command that the first word names, or of this one."""
        if args and args[0] in self.named:
            name = args[0]
            return named_study(name).make_context(f"{info_name} {name}", args[1:], parent=parent, **extra)
        return super().make_context(info_name, args, parent=parent, **extra)

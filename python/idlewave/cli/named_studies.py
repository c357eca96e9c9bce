"""``idlewave study NAME``: studies of their own beside that of a trace or file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class NamedStudy(NamedTuple):
    """The module with the command of a named study, and what the study answers, in a line."""

    module: str
    answers: str


NAMED = {
    "algorithms": NamedStudy("study_algorithms_command", "Which algorithm of a collective is the fastest where."),
    "benchmark-error": NamedStudy("study_benchmark_error_command", "By how much benchmarks of collectives are wrong."),
    "co-scheduling": NamedStudy("study_co_scheduling_command", "What noise at the same time on all ranks costs."),
    "ft": NamedStudy("study_ft_command", "What one-sided communication and overlap bring NAS FT."),
    "idle-wave": NamedStudy("study_idle_wave_command", "How a delay of one rank spreads through a program."),
    "machines": NamedStudy("study_machines_command", "On which machine, and with which edits, a program is fast."),
    "network": NamedStudy("study_network_command", "What a faster or slower network gives, with noise."),
    "noise": NamedStudy("study_noise_command", "What noise of several shapes costs, up to many ranks."),
    "overlap": NamedStudy("study_overlap_command", "What a network that works beside the CPU gives."),
    "sensitivity": NamedStudy("study_sensitivity_command", "How much latency and bandwidth a program tolerates."),
    "thinning": NamedStudy("study_thinning_command", "Which source of a machine's noise to remove first."),
    "variation": NamedStudy("study_variation_command", "What a network that varies over time costs."),
    "verify": NamedStudy("study_verify_command", "Whether closed forms and published figures are met."),
    "where": NamedStudy("study_where_command", "In which work of a CPU noise costs the most."),
    "collect": NamedStudy("study_collect_command", "The page of a study that ran as an array of jobs."),
}
"""The studies with a name of their own; and `collect`."""
STUDIES_OF_CASES = tuple(name for name in NAMED if name != "collect")
"""The named studies, each of which can run as an array of jobs that `collect` collects."""


def named_study(name: str) -> click.Command:
    """The command of a named study; its module is loaded for it."""
    command: click.Command = getattr(
        import_module(f".{NAMED[name].module}", __package__), f"study_{name.replace('-', '_')}"
    )
    return command


class StudyCommand(click.Command):
    """The command of a source, which leaves the work to that of a named study if its first word is such a name.

    A file of that name is `./ft`.
    """

    named: Mapping[str, NamedStudy] = NAMED

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the named studies, each with what it answers."""
        with formatter.section("Named studies"):
            formatter.write_dl([(name, study.answers) for name, study in self.named.items()])
        super().format_epilog(ctx, formatter)

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

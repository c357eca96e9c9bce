"""The options that say which ranks are measured: how many, on which hosts, by which launcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..escaping import quote
from ..measurement_parameters import OvertimeParameters
from ..parameters import parameters_of
from .option_types import Count, refuse_given

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    HostsType = click.ParamType[tuple[str, ...]]
else:
    HostsType = click.ParamType  # which older versions of click cannot subscript


class Hosts(HostsType):
    """Names of hosts with commas between them."""

    name = "hosts"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:  # noqa: ANN401 - click's
        """The names. Fails with the message of click for fewer than two, and for one twice."""
        if isinstance(value, tuple):
            return value
        names = tuple(name.strip() for name in str(value).split(","))
        if len(names) < 2 or not all(names):
            self.fail(f"expected at least two hosts with commas between them, found {quote(value)}", param, ctx)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            self.fail(f"expected each host once, found {quote(twice)} again", param, ctx)
        return names


def rank_options(command: F) -> F:
    """-n/--ranks, --hosts and --mpiexec; `check_hosts` refuses the first beside the second."""
    _, ranks = parameters_of(OvertimeParameters)["ranks"]
    options = (
        click.option(
            "-n", "--ranks", "ranks", type=Count(2), default=ranks.default, show_default=True, help="Number of ranks."
        ),
        click.option("--hosts", type=Hosts(), metavar="A,B,...", help="Measure between these nodes: one rank on each."),
        click.option(
            "--mpiexec", metavar="PATH", help="The launcher.  [default: that of this environment, or in PATH]"
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def check_hosts(context: click.Context, hosts: tuple[str, ...] | None) -> tuple[str, ...]:
    """The hosts. Raises UsageError if a number of ranks was given, too: there is one rank on each host."""
    if hosts:
        refuse_given(context, ("ranks",), "--hosts has one rank on each host")
    return hosts or ()

"""Groups of commands whose modules are loaded when a command is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from ..formatting import did_you_mean
from ..termination_signals import work_begins


class Ended(Exception):  # noqa: N818 - no error: a signal arrived
    """A command was interrupted; its cause is the interrupt. Click would handle a KeyboardInterrupt itself."""


class Commands(click.Group):
    """A group that suggests a similar command for an unknown name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in click. For an unknown name it fails with a message that suggests a similar command."""
        name = args[0] if args else ""
        if args and not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            ctx.fail(f"there is no command '{name}'{did_you_mean(name, known)} There are {', '.join(known)}")
        return super().resolve_command(ctx, args)


class LazyGroup(Commands):
    """A group whose commands are loaded when they are called: their libraries may take a second and a hundred
    megabytes.

    `later` has for the name of each command, in the order of the help, the module that has the command under that name,
    and its line in the list of commands.
    """

    def __init__(self, *args: Any, later: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **kwargs)
        self.later = later

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names of the commands."""
        return list(self.later)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in self.later:
            return None
        module, _ = self.later[cmd_name]
        attribute = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f".{module}", __package__), attribute)
        work_begins()
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Raises Ended if a signal interrupts it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as end:
            raise Ended from end

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.later.items()])

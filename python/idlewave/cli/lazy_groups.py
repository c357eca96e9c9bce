"""Groups of commands whose modules are loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from ..formatting import did_you_mean


class Ended(Exception):  # noqa: N818 - no error: somebody asked
    """A command was interrupted, as its cause says: click would answer a KeyboardInterrupt itself."""


class Commands(click.Group):
    """A group that says which command was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it. Fails with click's words, and a command that is like the one that there is not."""
        name = args[0] if args else ""
        if args and not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            ctx.fail(f"there is no command '{name}'{did_you_mean(name, known)} There are {', '.join(known)}")
        return super().resolve_command(ctx, args)


class LateCommands(Commands):
    """A group whose commands are loaded late: what one needs may take a second and a hundred megabytes.

    `later` has by name, in the order of the help, the module of this package in which the command has that name, and
    what the list of commands says of it.
    """

    def __init__(self, *args: Any, later: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **kwargs)
        self.later = later

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Their names."""
        return list(self.later)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, or None."""
        if cmd_name not in self.later:
            return None
        module, _ = self.later[cmd_name]
        command: click.Command = getattr(import_module(f".{module}", __package__), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Raises Ended where a signal interrupts it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as end:
            raise Ended from end

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Their list in the help, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.later.items()])

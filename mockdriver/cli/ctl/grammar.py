"""The grammar of ``mockdriver ctl``: nouns with verbs, and a few verbs that need no noun.

ctl instances                 a noun alone lists
ctl instances 'i-*'           so do a noun and what its `list` takes
ctl instance i-worker-1       the singular shows one
ctl instances add i-new       a verb after the noun does something
ctl attach i-worker-1 vol-1   what is done most needs no noun
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from mockdriver.scenario.mistakes import nearest, quoted, unknown_name

ALSO_CALLED: Mapping[str, str] = {
    "ls": "list",
    "get": "show",
    "create": "add",
    "new": "add",
    "update": "change",
    "edit": "change",
    "delete": "remove",
    "rm": "remove",
}
"""Words that other programs have for our verbs; a noun that has a verb of this name keeps it."""


class Noun(click.Group):
    """A noun and its verbs. Without a verb it is its `default` one."""

    def __init__(self, *arguments: Any, default: str, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.default = default

    def with_default(self, name: str, default: str) -> Noun:
        """Return the same noun under another name, with another verb for none."""
        other = copy.copy(self)
        other.name, other.default = name, default
        return other

    def verbs(self) -> list[str]:
        """Return its verbs, in the order in which they were written."""
        return list(self.commands)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return its verbs in the order in which they were written."""
        return self.verbs()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb by its name, or by what other programs call it."""
        found = self.commands.get(cmd_name)
        return found or self.commands.get(ALSO_CALLED.get(cmd_name, ""))

    def default_command(self) -> click.Command:
        """Return what it does without a verb."""
        return self.commands[self.default]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default verb before what has none."""
        if self._has_no_verb(ctx, args):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def _has_no_verb(self, ctx: click.Context, args: Sequence[str]) -> bool:
        if not args:
            # While a shell completes, nothing is said yet: its verbs are still to be offered.
            return not ctx.resilient_parsing
        if args[0] in ctx.help_option_names or self.get_command(ctx, args[0]):
            return False
        takes_words = any(
            isinstance(parameter, click.Argument) for parameter in self.default_command().params
        )
        if not takes_words and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(unknown_name(f"verb of {ctx.command_path}", args[0], self.verbs()))
        return True

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Say that a verb may come, or what its default verb takes."""
        return [*self.default_command().collect_usage_pieces(ctx), "| VERB ..."]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of the default verb, and then the verbs."""
        default = self.default_command()
        with click.Context(default, parent=ctx, info_name=self.default) as inner:
            click.Command.format_options(default, inner, formatter)
        names = self.verbs()
        room = formatter.width - 6 - max(map(len, names))
        with formatter.section("Verbs"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(room)) for name in names]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the verbs, and the options of the one that needs no word."""
        offered = super().shell_complete(ctx, incomplete)
        default = self.default_command()
        with click.Context(default, parent=ctx, info_name=self.default) as inner:
            inner.resilient_parsing = True
            known = {item.value for item in offered}
            offered += [
                item
                for item in default.shell_complete(inner, incomplete)
                if item.value not in known
            ]
            words = [item for item in default.params if isinstance(item, click.Argument)]
            if words and not incomplete.startswith("-"):
                offered += words[0].shell_complete(inner, incomplete)
        return offered


class Sections(click.Group):
    """Commands in modules that are imported when they are asked for, listed by section."""

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Mapping[str, str]],
        singulars: Mapping[str, str],
        **attributes: Any,
    ) -> None:
        """Take the module of each command, by section and name; and the singulars of nouns."""
        super().__init__(*arguments, **attributes)
        self._sections = sections
        self._modules = {
            name: module for part in sections.values() for name, module in part.items()
        }
        self._singulars = singulars

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands; a singular is a form of its plural."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None if there is none of this name."""
        plural = self._singulars.get(cmd_name)
        if plural is not None:
            noun = self.get_command(ctx, plural)
            assert isinstance(noun, Noun)
            return noun.with_default(cmd_name, "show")
        module = self._modules.get(cmd_name)
        if module is None:
            return None
        command = getattr(import_module(module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say what there is, and what was probably meant."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(self._unknown(name))
        return super().resolve_command(ctx, args)

    def _unknown(self, name: str) -> str:
        """Say what was meant: `add-instance` is `instances add` here."""
        verb, _, noun = name.partition("-")
        plural = nearest(noun, self._modules) if noun else None
        if plural is not None:
            return f"unknown command {quoted(name)}, did you mean {quoted(f'{plural} {verb}')}?"
        return unknown_name("command", name, [*self._modules, *self._singulars])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
        width = max(map(len, self._modules))
        room = formatter.width - 6 - width
        for title, names in self._sections.items():
            rows = [(name.ljust(width), self._short_help(ctx, name, room)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str, room: int) -> str:
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(room)


def matched_nothing(words: Iterable[str], verbs: Iterable[str]) -> str:
    """Return a hint for who misspelled a verb, which was then taken for an id; or nothing."""
    first = next(iter(words), "")
    meant = nearest(first, verbs)
    return "" if meant is None else f"; did you mean the verb {quoted(meant)}?"

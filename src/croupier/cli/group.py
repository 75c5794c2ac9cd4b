"""Groups of commands with unabridged help, and the program, which loads them lazily."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import CompletionItem, TyperGroup  # type: ignore[attr-defined]
from typer.main import get_command, get_group

from croupier.cli.options.configuration import OPERATED, variable_prefix
from croupier.cli.options.origin import OperatedCommand

__all__ = ["Group", "Program"]

_COMMANDS = {
    "demo": ("demo", "Run a whole collection on this machine."),
    "init": ("plan.init", "Write a first plan from a few questions."),
    "assess": ("plan.assess", "Prove what a plan leaks to each kind of adversary."),
    "design": ("plan.design", "Find plans that reach an error within limits."),
    "check": ("plan.check", "Check that every limit of a plan's policy is proved."),
    "approve": ("plan.approve", "Sign plan, policy and assumptions together."),
    "attack": ("plan.attack", "Play the best attacks on a plan."),
    "compare": ("plan.compare", "Show what changes from one plan to another."),
    "explore": ("plan.explore", "Move the numbers of a plan on a page and see what follows."),
    "explain": ("plan.explain", "Write the page that says what a plan reveals."),
    "dpia": ("plan.dpia", "Draft a data protection impact assessment of a plan."),
    "plan": ("plan", "Rewrite a plan of an earlier schema."),
    "mechanisms": ("mechanisms", "List the mechanisms and their errors."),
    "amplify": ("amplify", "Prove epsilon after shuffling."),
    "leakage": ("leakage", "Compute what an adversary gains."),
    "sidechannels": ("sidechannels", "Prove what rounds, lengths and counts reveal."),
    "mallows": ("mallows", "Shuffle inside groups and preserve trends across them."),
    "randomize": ("randomize", "Randomise a column of a file."),
    "estimate": ("estimate", "Estimate shares or a mean from reports."),
    "keys": ("keys", "Make and sign the keys of every party."),
    "submit": ("client.submit", "Randomise, seal and send a column of a file."),
    "credentials": ("credentials", "Issue and revoke credentials."),
    "issuer": ("issuer", "Enrol people, and give them tokens."),
    "mirror": ("client.mirror", "Compare the key lists that several addresses show."),
    "serve": ("shuffler.serve", "Accept sealed reports over HTTP."),
    "release": ("shuffler.release", "Mix and release the batches that are due."),
    "status": ("shuffler.status", "Show plans, rounds, keys and incidents."),
    "recover": ("shuffler.recover", "Continue a plan whose database was set back."),
    "analyze": ("analyzer.analyze", "Estimate from released batches."),
    "receipt": ("analyzer.receipt", "Check the receipts that the shuffler signed."),
    "audit": ("audit", "Try to falsify a claim about a mechanism or a shuffler."),
}
"""By name: the module below croupier.cli, and its line in the program's help."""


class Group(TyperGroup):
    """A group whose help shows whole summaries."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every command with its whole summary, wrapped."""
        with formatter.section("Commands"):
            names = self.list_commands(ctx)
            formatter.write_dl([(name, self.summary(ctx, name)) for name in names])

    def summary(self, ctx: Any, name: str) -> str:
        """The first sentence of a command's help."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(limit=1000) if command else ""


class Program(Group):
    """The program: a command's module is imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": None})
        self.commands = _Loaded()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, without importing them."""
        del ctx
        return list(_COMMANDS)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a command, or an option of the program."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        known = {name: line for name, (_, line) in _COMMANDS.items() if name.startswith(incomplete)}
        return [CompletionItem(name, help=line) for name, line in known.items()]

    def options(self, name: str) -> dict[str, Any]:
        """Return the parameters of a command by the long names of its options."""
        first, *rest = name.split()
        command: Any = self.commands[first]
        for word in rest:
            command = command.commands[word]
        return {
            flag.removeprefix("--").replace("-", "_"): parameter
            for parameter in command.params
            for flag in parameter.opts
            if flag.startswith("--")
        }

    def summary(self, ctx: Any, name: str) -> str:
        """The line of the table, without importing the command."""
        del ctx
        return _COMMANDS[name][1]


class _Loaded(Mapping[str, Any]):
    """The commands by name, each loaded from its module on demand."""

    def __getitem__(self, name: str) -> Any:
        module = import_module(f"croupier.cli.{_COMMANDS[name][0]}")
        if hasattr(module, "app"):
            made: Any = get_group(module.app)
            for word, command in made.commands.items():
                _take_variables(f"{name} {word}", command)
        else:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            kind = OperatedCommand if name in OPERATED else None
            alone.command(name, cls=kind, help=module.HELP)(module.command)
            made = get_command(alone)
        made.name, made.help, made.short_help = name, module.HELP, _COMMANDS[name][1]
        _take_variables(name, made)
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


def _take_variables(name: str, command: Any) -> None:
    """Let the options of a command that operators run come from the environment."""
    if name in OPERATED:
        command.context_settings["auto_envvar_prefix"] = variable_prefix(name)

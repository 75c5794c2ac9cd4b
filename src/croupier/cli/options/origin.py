"""Commands whose options may come from the environment or the file: errors name the place."""

import os
from typing import Any

import typer
from typer.core import TyperCommand

from croupier.cli.options.configuration import key_of, variable_prefix
from croupier.errors import ParameterError

__all__ = ["OperatedCommand"]

_SECRET = {"--database", "--secret", "--passphrase-file", "--admit-secret"}
"""Options whose values are not repeated, since they hold a password or could be mistaken for it."""


class OperatedCommand(TyperCommand):
    """A command that names the variable, or the file and its key, that a wrong value came from."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, the environment and the file."""
        if "--help" not in args:
            self._require_values(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is not None:
                error.message += _origin(ctx, error.param, with_value=True)
            raise

    def _require_values(self, ctx: Any, args: list[str]) -> None:
        """Refuse empty values, which would become the current directory or be taken for none.

        Raises:
            ParameterError: A value is empty, or is true or false where that is no value.
        """
        typed, _, _ = self.make_parser(ctx).parse_args(args=[*args])
        for option in self.params:
            value, source = option.consume_value(ctx, typed)
            if source.name == "DEFAULT":
                continue
            ctx.set_parameter_source(option.name, source)
            values = value if isinstance(value, list | tuple) else [value]
            if not values or "" in values:
                must = "not be empty"
            elif any(isinstance(each, bool) for each in values) and not getattr(
                option, "is_flag", False
            ):
                must = "not be true or false"
            else:
                continue
            place = _origin(ctx, option, with_value=False).strip()
            raise ParameterError(option.opts[0], must=must, hint=place)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except ParameterError as error:
            found = [each for each in self.params if error.parameter in each.opts]
            if found:
                error.args = (f"{error}{_origin(ctx, found[0], with_value=False)}",)
            raise


def _origin(ctx: Any, option: Any, *, with_value: bool) -> str:
    """Return the sentence that says where a value came from; nothing if it was typed."""
    source = ctx.get_parameter_source(option.name)
    if source is None or source.name not in {"ENVIRONMENT", "DEFAULT_MAP"}:
        return ""
    if source.name == "ENVIRONMENT":
        value: Any = option.resolve_envvar_value(ctx)
        place = _variable(ctx, option)
    else:
        value = ctx.lookup_default(option.name, call=False)
        file = ctx.find_root().params["config"]
        place = f"{key_of(file, _command(ctx), option.opts)} in {file}"
    shown = f" {value!r}" if with_value and _SECRET.isdisjoint(option.opts) else ""
    return f"{'.' if with_value else ''} The value{shown} comes from {place}."


def _variable(ctx: Any, option: Any) -> str:
    """Return the variable that is read first, of those that are set."""
    if isinstance(option.envvar, str) and os.environ.get(option.envvar):
        return option.envvar
    return f"{variable_prefix(_command(ctx))}_{option.name.upper()}"


def _command(ctx: Any) -> str:
    """Return the command as it is typed after the program's name."""
    words = []
    while ctx.parent is not None:
        words.append(ctx.info_name)
        ctx = ctx.parent
    return " ".join(reversed(words))

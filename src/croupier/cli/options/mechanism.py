"""The flags that name a mechanism and say who is in a batch, the same in every command."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from inspect import Parameter, signature
from string import ascii_lowercase, digits
from typing import Annotated, Any

import typer

from croupier.errors import ParameterError
from croupier.model import Randomizer
from croupier.randomizers import MECHANISMS, parameters, randomizer

__all__ = ["Alphabet", "Categories", "Choice", "Corrupt", "GridText", "Labels", "Longest"]
__all__ += ["NormalisationText", "People", "ReportProbability", "Rounds", "count", "domain_table"]
__all__ += ["grid_ends", "takes_mechanism", "texts_table"]

_MOST = 10**18


def count(text: str | int) -> int:
    """Read a whole number as people type it: 1000000, 1_000_000, 1,000,000 or 1e6.

    >>> count("1e6"), count("1_000")
    (1000000, 1000)
    """
    try:
        number = Decimal(str(text).replace("_", "").replace(",", ""))
        whole = int(number) if number.adjusted() <= 18 else -1
    except (ArithmeticError, ValueError):
        number, whole = Decimal(0), -1
    if whole != number or not -_MOST <= whole <= _MOST:
        raise typer.BadParameter(f"must be a whole number, at most 1e18; got {text}. Try 1e6.")
    return whole


People = Annotated[int, typer.Option(parser=count, metavar="N", help="People in the batch.")]
Corrupt = Annotated[
    int, typer.Option(parser=count, metavar="N", help="How many of them are corrupt.")
]
ReportProbability = Annotated[
    float, typer.Option(help="Probability that each other honest person reports.")
]
Rounds = Annotated[
    int,
    typer.Option(parser=count, metavar="N", help="Rounds that one person joins, with fresh noise."),
]


def _flag(name: str, kind: type, **settings: Any) -> Any:
    """The option of a parameter that several mechanisms share, described as they declare it."""
    means = next(own[name].means for own in map(parameters, MECHANISMS) if name in own)
    text = f"{means[0].upper()}{means[1:]}."
    return Annotated[
        kind | None, typer.Option(f"--{name.replace('_', '-')}", help=text, **settings)
    ]


Categories = _flag("k", int, parser=count, metavar="K")
Labels = _flag("labels", str, metavar="A,B,…")
GridText = _flag("grid", str, metavar="LOW:HIGH:STEP")
Longest = Annotated[
    int | None,
    typer.Option(parser=count, metavar="N", help="Answers: a text, of which N letters count."),
]
Alphabet = Annotated[
    str | None,
    typer.Option(metavar="LETTERS", help="Letters of a text: a-z, a-z0-9, any, or all in a row."),
]
NormalisationText = Annotated[
    str | None,
    typer.Option(
        "--normalisation",
        metavar="HOW",
        help="Before texts are compared: lower (A-Z become a-z), nfc or none.",
    ),
]

_FLAGS: dict[str, Any] = {
    "mechanism": Annotated[
        str | None, typer.Option("--mechanism", help="A name from `croupier mechanisms`.")
    ],
    "k": Categories,
    "labels": Labels,
    "grid": GridText,
    "max_epsilon_local": _flag("max_epsilon_local", float),
    "parameter": Annotated[
        list[str] | None,
        typer.Option(
            "--parameter", help="Another parameter, NAME=VALUE, such as buckets=8; repeatable."
        ),
    ],
}


@dataclass(frozen=True)
class Choice:
    """The clients' randomizer, as the flags describe it.

    Attributes:
        randomizer: The one that is described; None without --mechanism.
        max_epsilon_local: As typed.
        k: As typed.
        labels: The text of --labels.
        grid: The text of --grid.
    """

    randomizer: Randomizer | None
    max_epsilon_local: float | None
    k: int | None
    labels: str | None
    grid: str | None

    @property
    def any_randomizer(self) -> float | None:
        """The epsilon_local of randomizers of which nothing else is known; None for a known one."""
        if self.randomizer is not None:
            return None
        for flag, typed in (("--k", self.k), ("--labels", self.labels), ("--grid", self.grid)):
            if typed is not None:
                hint = f"Try {'laplace' if flag == '--grid' else 'k-rr'}."
                raise ParameterError("--mechanism", must=f"be given with {flag}", hint=hint)
        if self.max_epsilon_local is None:
            raise ParameterError("--max-epsilon-local", must="be given", hint="Try 4.")
        return self.max_epsilon_local

    @property
    def local(self) -> float:
        """epsilon_local, as computed from the randomizer where there is one."""
        return self.randomizer.epsilon_local if self.randomizer else self.any_randomizer or 0.0

    def required(self) -> Randomizer:
        """Return the randomizer, or refuse if --mechanism was left out."""
        if self.randomizer is None:
            raise ParameterError("--mechanism", must="be given", hint="Try k-rr.")
        return self.randomizer


_ALPHABETS = {"a-z": ascii_lowercase, "a-z0-9": ascii_lowercase + digits, "any": None}

Command = Callable[..., None]


def takes_mechanism(*, default: str | None = None) -> Callable[[Command], Command]:
    """Give a command the flags that name a mechanism; it receives a `Choice` as `chosen`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_flags(**given: Any) -> None:
            named = {name: given.pop(name) for name in _FLAGS}
            made = None if named["mechanism"] is None else _build(**named)
            command(
                chosen=Choice(
                    made, *(named[name] for name in ("max_epsilon_local", "k", "labels", "grid"))
                ),
                **given,
            )

        own = [entry for entry in signature(command).parameters.values() if entry.name != "chosen"]
        flags = [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=default if name == "mechanism" else None,
                annotation=annotation,
            )
            for name, annotation in _FLAGS.items()
        ]
        required = [entry for entry in own if entry.default is Parameter.empty]
        optional = [entry for entry in own if entry.default is not Parameter.empty]
        ordered = signature(command).replace(parameters=[*required, *flags, *optional])
        with_flags.__signature__ = ordered  # type: ignore[attr-defined]
        with_flags.__annotations__ = {
            name: entry.annotation for name, entry in ordered.parameters.items()
        }
        return with_flags

    return decorate


def _build(
    *,
    mechanism: str,
    k: int | None,
    labels: str | None,
    grid: str | None,
    max_epsilon_local: float | None,
    parameter: Sequence[str] | None,
) -> Randomizer:
    given: dict[str, Any] = domain_table(k, labels, grid)
    given["max_epsilon_local"] = max_epsilon_local
    known = parameters(mechanism)
    for entry in parameter or []:
        name, equals, value = entry.partition("=")
        if not equals:
            raise ParameterError("--parameter", must="be NAME=VALUE", got=entry)
        given[name] = _value(name, value) if name in known else value  # its name is refused below
    return randomizer(mechanism, **{name: v for name, v in given.items() if v is not None})


def domain_table(k: int | None, labels: str | None, grid: str | None) -> dict[str, Any]:
    """The table of the values that people may hold, from the three flags."""
    return {
        "k": k,
        "labels": tuple(labels.split(",")) if labels else None,
        "grid": grid_ends(grid) if grid else None,
    }


def texts_table(longest: int, alphabet: str, normalisation: str) -> dict[str, Any]:
    """The table of texts that people may answer, from the three flags.

    >>> texts_table(8, "any", "nfc")
    {'longest': 8, 'alphabet': None, 'normalisation': 'nfc'}
    """
    letters = _ALPHABETS.get(alphabet, alphabet)
    return {"longest": longest, "alphabet": letters, "normalisation": normalisation}


def grid_ends(text: str) -> dict[str, float]:
    """The table of a grid typed as LOW:HIGH:STEP."""
    try:
        low, high, step = map(float, text.split(":"))
    except ValueError:
        raise ParameterError(
            "--grid", must="be LOW:HIGH:STEP", got=text, hint="Try 0:1:0.1."
        ) from None
    return {"low": low, "high": high, "step": step}


def _value(name: str, text: str) -> Any:
    if name == "alphabet":
        return _ALPHABETS.get(text, text)
    if name == "normalisation":
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ParameterError(name, must="be a number or a JSON list", got=text) from None

"""Solve for any one of epsilon, delta, epsilon_local and n, given the other three."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

from croupier.accounting.amplify import proved_curve
from croupier.accounting.curve import Curve
from croupier.accounting.solve_dummies import DummySolution, solve_dummies
from croupier.errors import ParameterError
from croupier.model.html import facts
from croupier.model.result import Result, card_text
from croupier.numerics.bisection import bisect_safe, bisect_safe_integer
from croupier.numerics.rounding import ceiling_digits, floor_digits
from croupier.numerics.validate import number_of_people, require_delta
from croupier.randomizers import randomizer

__all__ = ["DummySolution", "Solution", "solve"]

_MOST_PEOPLE = 10**15
_LARGEST_LOCAL = 20.0


@dataclass(frozen=True, repr=False)
class Solution(Result):
    """The value that was asked for, and the proved curve that belongs to it.

    Attributes:
        parameter: The one of the four that was solved for.
        value: Its value, on the safe side: epsilon and delta rounded up, n the least that is
            enough, epsilon_local the largest that was seen to be safe.
        curve: delta as a function of epsilon at the solution.
        given: The input: the mechanism, its parameters, the other three.
    """

    parameter: str
    value: float
    curve: Curve = field(repr=False)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _summary(self) -> str:
        if self.parameter == "n":
            return f"n = {self.value:,}"
        if self.parameter == "epsilon_local":
            return f"epsilon_local = {floor_digits(self.value)}"
        return f"{self.parameter} <= {ceiling_digits(self.value)}"

    def _records(self) -> list[dict[str, Any]]:
        solved = {"parameter": self.parameter, "value": self.value}
        return [solved | dict(self.given) | {"theorem": self.curve.theorem}]

    def _repr_html_(self) -> str:
        said = {name: card_text(value) for name, value in self.given.items()}
        return facts(f"Solution: {self._summary}", said | {"proof": self.curve.theorem})


@overload
def solve(
    mechanism: Literal["plain"],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    standard_deviation: float | None = None,
    **parameters: Any,
) -> DummySolution: ...
@overload
def solve(
    mechanism: str | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    epsilon_local: float | None = None,
    n: float | None = None,
    corrupt_fraction: float = 0.0,
    **parameters: Any,
) -> Solution: ...
def solve(  # noqa: PLR0913 - keyword-only facts about one collection
    mechanism: str | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    epsilon_local: float | None = None,
    n: float | None = None,
    corrupt_fraction: float = 0.0,
    **parameters: Any,
) -> Solution | DummySolution:
    """Solve for the one of epsilon, delta, epsilon_local and n that is left out.

    For `plain`, whose shuffler adds dummies, neither n nor epsilon_local matters: give delta and
    one of epsilon and standard_deviation, that of a count.

    Args:
        mechanism: A name from the registry, with its own `parameters`; if left out, one
            shared randomizer of which only `epsilon_local` is known (clones).
        epsilon: The epsilon after shuffling.
        delta: The failure probability.
        epsilon_local: The epsilon of a report.
        n: The size of the batch, in people.
        corrupt_fraction: The share of the batch that may not be honest; the guarantee is for the
            rest.
        parameters: The parameters of the mechanism, such as ``k=10``.

    Example:
        >>> solve("k-rr", k=10, epsilon_local=4.0, epsilon=0.1, delta=1e-6).value
        119264
        >>> found = solve("plain", k=50, epsilon=1.0, delta=1e-8)
        >>> round(found.standard_deviation, 2), found.mean, found.dummies
        (2.8, 36.0, 1800.0)
    """
    if mechanism == "plain":
        if n is not None or epsilon_local is not None:
            raise ParameterError(
                "n" if n is not None else "epsilon_local",
                must="be left out for plain: what dummies promise depends on neither",
            )
        return solve_dummies(epsilon=epsilon, delta=delta, **parameters)
    given = {"epsilon": epsilon, "delta": delta, "epsilon_local": epsilon_local, "n": n}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        must = "be given three of epsilon, delta, epsilon_local and n"
        got = ", ".join(name for name in given if name not in missing) or "none of them"
        hint = "Leave out the one to solve for."
        raise ParameterError("solve", must=must, got=got, hint=hint)
    if not 0 <= corrupt_fraction < 1:
        raise ParameterError("corrupt_fraction", must="be in [0, 1)", got=corrupt_fraction)

    def curve(local: float, people: int) -> Curve:
        corrupt = min(people - 1, math.ceil(corrupt_fraction * people))
        if mechanism is None:
            return proved_curve(None, epsilon_local=local, n=people, corrupt=corrupt)
        built = randomizer(mechanism, max_epsilon_local=local, **parameters)
        return proved_curve(built, n=people, corrupt=corrupt)

    if n is not None:
        n = number_of_people("n", n, least=1)
    if n is None:
        found = _people(lambda people: curve(epsilon_local or 0, people), epsilon or 0, delta or 0)
    elif epsilon_local is None:
        found = _local(lambda local: curve(local, n), epsilon or 0, delta or 0)
    else:
        found = _loss(curve(epsilon_local, n), epsilon, delta)
    known = {"mechanism": mechanism} | parameters | given
    known |= {"n": n, "corrupt_fraction": corrupt_fraction or None}
    return replace(found, given={key: value for key, value in known.items() if value is not None})


def _loss(curve: Curve, epsilon: float | None, delta: float | None) -> Solution:
    """Solve for epsilon or delta, whichever is left out."""
    if epsilon is None:
        return Solution("epsilon", curve.epsilon(delta or 0), curve)
    return Solution("delta", curve.delta(epsilon), curve)


def _people(curve: Callable[[int], Curve], epsilon: float, delta: float) -> Solution:
    """The least n that is proved enough; delta does not grow with n."""
    _check_target(epsilon, delta)
    enough = 1
    while not _holds(curve(enough), epsilon, delta):
        enough *= 2
        if enough > _MOST_PEOPLE:
            raise ParameterError("epsilon", must="be reachable with 1e15 people", got=epsilon)
    if enough > 1:
        enough = bisect_safe_integer(
            lambda n: _holds(curve(n), epsilon, delta), safe=enough, unsafe=enough // 2
        )
    return Solution("n", enough, curve(enough))


def _local(curve: Callable[[float], Curve], epsilon: float, delta: float) -> Solution:
    """A largest epsilon_local that is proved safe; epsilon itself always is."""
    _check_target(epsilon, delta)
    safe = min(epsilon, _LARGEST_LOCAL)
    if safe < _LARGEST_LOCAL and _holds(curve(_LARGEST_LOCAL), epsilon, delta):
        safe = _LARGEST_LOCAL
    elif safe < _LARGEST_LOCAL:
        safe = bisect_safe(
            lambda local: _holds(curve(local), epsilon, delta),
            safe=safe,
            unsafe=_LARGEST_LOCAL,
            tolerance=1e-7,
        )
    return Solution("epsilon_local", safe, curve(safe))


def _holds(curve: Curve, epsilon: float, delta: float) -> bool:
    return curve.log_delta(epsilon) <= math.log(delta)


def _check_target(epsilon: float, delta: float) -> None:
    if not epsilon > 0:
        raise ParameterError("epsilon", must="be above 0", got=epsilon)
    require_delta(delta)

"""Sweeps: the leaks of one plan for every combination of other values of some keys."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.errors import CroupierError, ParameterError, UnknownNameError
from croupier.model.metric import Metric, metric_named
from croupier.model.result import Library, Result
from croupier.model.rung import Rung
from croupier.numerics.columns import library_of
from croupier.numerics.validate import member, unwrapped
from croupier.plan.plan import Plan, require_plan
from croupier.plan.sections import Section
from croupier.randomizers import parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Combination", "Sweep", "sweep"]

_RANDOMIZER = "randomizer"


@dataclass(frozen=True, repr=False)
class Combination(Result):
    """One combination of values, and the leaks of its plan.

    Attributes:
        values: The values, by the names of the keys.
        ladder: The trust ladder; None if there is no such plan, or nothing can be proved.
        reason: The reason why there is no ladder.
    """

    values: Mapping[str, Any]
    ladder: Ladder | None = None
    reason: str = ""

    @property
    def _summary(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return given if self.ladder else f"{given}: {self.reason}"

    def _records(self) -> list[dict[str, Any]]:
        nothing = dict.fromkeys(("rung", "metric", "lower", "upper", "status"))
        if self.ladder is None:
            return [{**self.values, **nothing, "reason": self.reason}]
        return [
            {**self.values, **{name: record[name] for name in nothing}, "reason": record["reason"]}
            for record in self.ladder._records()  # noqa: SLF001 - of one kind
        ]


@dataclass(frozen=True, repr=False)
class Sweep(Result):
    """The assessments of all combinations; iterating yields them.

    Attributes:
        plan: The plan that was varied.
        names: The keys that were varied, as they were given.
        combinations: One per combination of values, the last key fastest.
        library: The data-frame library that values came from, if any.
    """

    plan: Plan
    names: tuple[str, ...]
    combinations: tuple[Combination, ...] = field(default=())
    library: Library | None = field(default=None, repr=False)

    @property
    def _library(self) -> Library | None:
        return self.library

    def __iter__(self) -> Iterator[Combination]:
        return iter(self.combinations)

    def __len__(self) -> int:
        return len(self.combinations)

    @property
    def _summary(self) -> str:
        failed = sum(one.ladder is None for one in self)
        rest = f"; {failed} without a ladder" if failed else ""
        plan = f"{self.plan.name} {self.plan.digest[:8]}"
        return f"{plan}, {len(self)} combinations of {', '.join(self.names)}{rest}"

    def _records(self) -> list[dict[str, Any]]:
        return [record for one in self for record in one._records()]  # noqa: SLF001 - of one kind

    def plot(
        self, *, y: str = Metric.EPSILON, rung: str = Rung.BATCH, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the proved bounds over the first key, one line per combination of the others.

        Args:
            y: The metric.
            rung: The adversary.
            ax: The axes to draw on; those of a new figure if left out.

        Returns:
            The axes; `.figure.savefig("sweep.svg")` saves them.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        from croupier.documents.plots.sweep import plot_sweep  # noqa: PLC0415 - a verb

        metric, looker = metric_named(y), member(Rung, rung, what="a rung")
        return plot_sweep(self, metric=metric, rung=looker, ax=ax)


def sweep(
    plan: Plan, *, advance: Callable[[int], None] = lambda _: None, **grids: Iterable[Any]
) -> Sweep:
    r"""Assess a plan for every combination of other values of some keys.

    A combination that is not a valid plan, or about which nothing can be proved, is kept with its
    reason.

    Args:
        plan: The plan that is varied.
        advance: Called with 1 after every combination.
        grids: For each key the values to try. A key is named by its last part if only one key has
            it (``minimum_batch``), else ``section__key``. A parameter of the mechanism is set for
            every question.

    Example:
        >>> plan = Plan.from_toml('schema = 2\npopulation.enrolled = 9_000\n'
        ...     'randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1}\n'
        ...     'protections.minimum_batch = 500')
        >>> found = sweep(plan, max_epsilon_local=[1, 2], minimum_batch=[1e3, 1e4])
        >>> len(found), [one.ladder is None for one in found]
        (4, [False, True, False, True])
        >>> print(found.combinations[0].ladder["batch"].epsilon)
        epsilon <= 0.148 at delta 1.11111e-06
    """
    require_plan(plan)
    paths = {name: _path(plan, name) for name in grids}
    values = {name: _listed(name, grid) for name, grid in grids.items()}
    if not values:
        raise ParameterError("grids", must="be at least one key", hint="Try minimum_batch=[1e4].")
    found = []
    for chosen in product(*values.values()):
        given = dict(zip(values, chosen, strict=True))
        found.append(_combination(plan, {paths[name]: given[name] for name in given}, given))
        advance(1)
    libraries = [library for grid in grids.values() if (library := library_of(grid))]
    return Sweep(plan, tuple(values), tuple(found), libraries[0] if libraries else None)


def _listed(name: str, grid: object) -> list[Any]:
    if (
        isinstance(grid, str)
        or not isinstance(grid, Iterable)
        or not (values := [unwrapped(value) for value in grid])
    ):
        raise ParameterError(name, must="be a list of values", hint=f"Try {name}=[…].")
    return values


def _combination(
    plan: Plan, changes: Mapping[tuple[str, ...], Any], given: Mapping[str, Any]
) -> Combination:
    document = plan.document()
    for path, value in changes.items():
        for table in _tables(document, path[:-1]):
            table[path[-1]] = value
    try:
        return Combination(given, assess(Plan.from_document(document)))
    except CroupierError as error:
        return Combination(given, reason=str(error))


def _tables(document: dict[str, Any], sections: tuple[str, ...]) -> list[dict[str, Any]]:
    """The tables in which a key is set: that of every question for a mechanism's parameter."""
    if sections == (_RANDOMIZER,) and _RANDOMIZER not in document:
        return list(document["questions"])
    table = document
    for section in sections:
        table = table.setdefault(section, {})
        table = table[0] if isinstance(table, list) else table
    return [table]


def _path(plan: Plan, name: str) -> tuple[str, ...]:
    """The section and the name of a key."""
    if "__" in name:
        return tuple(name.split("__"))
    known = _known(plan)
    found = [path for path in known if path[-1] == name]
    if not found:
        raise UnknownNameError(name, what="a key of the plan", known={path[-1] for path in known})
    if len(found) > 1:
        spelled = " or ".join("__".join(path) for path in found)
        raise ParameterError(name, must="name one key", hint=f"Write {spelled}.")
    return found[0]


def _known(plan: Plan) -> list[tuple[str, ...]]:
    """The keys of all sections, and the parameters of the mechanisms."""
    own = {"mechanism": None}
    for question in plan.randomizers:
        own |= dict.fromkeys(parameters(question.mechanism))
    known: list[tuple[str, ...]] = [(_RANDOMIZER, name) for name in own]
    for section in type(plan).model_fields:
        value = getattr(plan, section)
        if section != "questions" and isinstance(value, tuple) and value:
            value = value[0]
        if isinstance(value, Section):
            known += [(section, name) for name in type(value).model_fields]
    return known

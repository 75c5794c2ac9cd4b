"""The trust ladder: what a plan leaks to each kind of adversary."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.accounting.exposure import Exposure
from croupier.assessment.ladder.cell import Cell, best
from croupier.assessment.ladder.dummies import worst
from croupier.assessment.ladder.metrics import Columns
from croupier.assessment.ladder.periods import Period, periods
from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.ladder.table import ladder_card
from croupier.assessment.ladder.uniform_order import uniform_alpha
from croupier.errors import RenamedAttributeError
from croupier.model.adversary import Adversary, View
from croupier.model.guarantee import Guarantee
from croupier.model.html import card, element
from croupier.model.metric import RENAMED, Metric, metric_named
from croupier.model.result import Result
from croupier.model.rung import COMBINED, LUCK, Rung
from croupier.numerics.rounding import ceiling_digits, delta_text
from croupier.numerics.validate import member
from croupier.plan.plan import Plan, require_plan

__all__ = ["REPEATED", "Ladder", "Row", "assess", "batch_epsilon", "columns"]

REPEATED = 30
"""The number of collections of the same person that are always considered."""

_READERS: dict[str, tuple[str, ...]] = {
    Rung.BATCH: (Rung.ESTIMATE,),
    Rung.NETWORK: (Rung.BATCH,),
    Rung.CLIENTS: (Rung.BATCH,),
    COMBINED: (Rung.NETWORK, Rung.CLIENTS),
}
_WEAKER: dict[int, dict[str, tuple[str, ...]]] = {
    1: _READERS | {Rung.SHUFFLER: (Rung.ESTIMATE,), Rung.COLLUSION: (COMBINED, Rung.SHUFFLER)},
    2: _READERS
    | {
        Rung.SHUFFLER_1: (Rung.ESTIMATE,),
        Rung.SHUFFLER_2: (Rung.ESTIMATE,),
        Rung.ALL_BUT_ONE: (COMBINED, Rung.SHUFFLER_1, Rung.SHUFFLER_2),
        Rung.EVERYBODY: (Rung.ALL_BUT_ONE,),
    },
}
"""Chains of views by the number of shufflers, each part of the next, from the weakest on."""


@dataclass(frozen=True, repr=False)
class Row(Result):
    """One rung: the adversary's gains in every metric.

    ``row.epsilon``, ``row.reidentification`` and so on are the promises, None if nothing is proved;
    ``row["epsilon"]`` is the cell with both sides.

    Attributes:
        rung: The name of the rung.
        cells: One per metric.
    """

    rung: str
    cells: Mapping[Metric, Cell]

    @property
    def epsilon(self) -> Guarantee | None:
        """The most by which one answer can move any conclusion."""
        return self[Metric.EPSILON].proved

    @property
    def epsilon_permanent(self) -> Guarantee | None:
        """The most by which all answers that a person ever gives can move any conclusion."""
        return self[Metric.EPSILON_PERMANENT].proved

    @property
    def reidentification(self) -> Guarantee | None:
        """The largest chance that a report is traced to its sender."""
        return self[Metric.REIDENTIFICATION].proved

    @property
    def guess_of_two(self) -> Guarantee | None:
        """The largest chance that a guess between two values is right."""
        return self[Metric.GUESS_OF_TWO].proved

    @property
    def guess_uninformed(self) -> Guarantee | None:
        """The largest chance that a guess among all values is right, with nobody's known."""
        return self[Metric.GUESS_UNINFORMED].proved

    @property
    def guess_informed(self) -> Guarantee | None:
        """The largest chance that a guess among all values is right, with all others' known."""
        return self[Metric.GUESS_INFORMED].proved

    @property
    def within_uninformed(self) -> Guarantee | None:
        """The largest chance that a number is guessed to within w, with nobody's known."""
        return self[Metric.WITHIN_UNINFORMED].proved

    @property
    def within_informed(self) -> Guarantee | None:
        """The largest chance that a number is guessed to within w, with all others' known."""
        return self[Metric.WITHIN_INFORMED].proved

    @property
    def bayes_security(self) -> Guarantee | None:
        """The least share of a guesser's errors that remains."""
        return self[Metric.BAYES_SECURITY].proved

    @property
    def alpha(self) -> Guarantee | None:
        """The most that the order gives away about a group."""
        return self[Metric.ALPHA].proved

    if not TYPE_CHECKING:  # type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            if name in RENAMED:
                raise RenamedAttributeError(f"row.{name}", f"row.{RENAMED[name]}")
            return super().__getattribute__(name)  # raises

    @property
    def _summary(self) -> str:
        return f"{self.rung}: {self.epsilon or 'epsilon is not bounded'}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "rung": self.rung,
                "metric": cell.metric,
                "lower": cell.lower,
                "upper": cell.upper,
                "status": cell.status,
                "theorem": cell.proved and cell.proved.theorem,
                "reason": cell.reason,
            }
            for cell in self.cells.values()
        ]

    def __getitem__(self, metric: str) -> Cell:
        name = metric_named(metric)
        if name in self.cells:
            return self.cells[name]
        if name is Metric.ALPHA:
            return uniform_alpha(self.rung)  # the plan has no groups
        if name is Metric.EPSILON_PERMANENT:  # the plan has no window: its rounds are all there are
            return self.cells[Metric.EPSILON].renamed(name)
        return Cell(metric=name, reason="the ladder does not bound it")


@dataclass(frozen=True, repr=False)
class Ladder(Result):
    """The leaks of a plan, from the reader of an estimate to shuffler and analyzer together.

    Attributes:
        plan: The plan that was assessed.
        blind: The row of somebody who sees nothing.
        rows: The rungs.
        combined: The row of somebody who watches the network and has corrupted clients.
        rungs: The proofs that the rows were made from.
    """

    plan: Plan
    blind: Row
    rows: tuple[Row, ...]
    combined: Row
    rungs: Rungs = field(repr=False, compare=False)

    @classmethod
    def of(cls, rungs: Rungs, found: Mapping[Metric, Mapping[str, Cell]]) -> "Ladder":
        """Put all columns together."""
        names = (*rungs.plan.rungs, COMBINED)
        *rows, combined = (
            Row(name, {metric: column[name] for metric, column in found.items()}) for name in names
        )
        blind = Row(LUCK, rungs.blind)
        return cls(plan=rungs.plan, blind=blind, rows=tuple(rows), combined=combined, rungs=rungs)

    def __getitem__(self, rung: str) -> Row:
        """Return a row; a name that stands for several rows gives the worst of them in each cell.

        With two shufflers, ``ladder["shuffler"]`` is what the worse of both learns.
        """
        wanted = member(Rung, rung, what="a rung")
        rows = [row for row in self.rows if row.rung in wanted.among(len(self.plan.shufflers))]
        if len(rows) == 1:
            return rows[0]
        return Row(wanted, {m: worst(row.cells[m] for row in rows) for m in rows[0].cells})

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def _summary(self) -> str:
        return f"{self.plan.name} {self.plan.digest[:8]}, {len(self.rows)} adversaries"

    def _records(self) -> list[dict[str, Any]]:
        return [record for row in self.rows for record in row._records()]  # noqa: SLF001 - its rows

    def _repr_html_(self) -> str:
        plan = self.plan
        proved = f"proved at the minimum, {plan.protections.minimum_batch:,}"
        about = f"{plan.name} {plan.digest[:8]}, delta {delta_text(plan.guarantee.delta)}, {proved}"
        return card(element("p", about), ladder_card(self))

    @property
    def headline(self) -> Row:
        """The rung with the largest epsilon that the declared operators make possible."""
        return self.most_exposed(Metric.EPSILON)

    def most_exposed(self, metric: Metric) -> Row:
        """Return the rung that gains most among those that the declared operators make possible.

        If nobody colludes, these are corrupt clients, the network and the shuffler; among equals
        the first is returned.
        """
        several = len(self.plan.shufflers) > 1
        if self.plan.operators == "same":
            return self[Rung.ALL_BUT_ONE if several else Rung.COLLUSION]
        mixing = (rung for rung in self.plan.rungs if rung.mixes is not None)
        real = (self[rung] for rung in (Rung.CLIENTS, Rung.NETWORK, *mixing))
        return max(real, key=lambda row: _gain(row[metric]))

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The epsilons of one report, a month, a year and for ever, of a plan with a window."""
        return periods(self.rungs)

    @cached_property
    def repeated(self) -> Guarantee | None:
        """The epsilon of `REPEATED` such collections, against a reader of the batches.

        At the plan's delta, if there is one. Otherwise at `REPEATED` times that, in three digits:
        each collection may fail with the plan's delta, so that dummies promise something there if
        they do for one collection. The claim names its delta. None if that is no chance below 1, or
        if the plan has a window: then `periods` say what is proved of more than one.
        """
        if self.plan.collection.window is not None:
            return None
        found = batch_epsilon(self.plan, times=REPEATED)
        added = REPEATED * (self.plan.guarantee.delta or 0.0)
        named = float(ceiling_digits(added * (1 - 1e-12)))  # 30 times 1e-8 is 3e-7
        if found is not None or named >= 1:
            return found
        return batch_epsilon(self.plan, times=REPEATED, delta=named)

    @cached_property
    def everybody(self) -> Guarantee | None:
        """The epsilon against a reader of the batch if all who are enrolled report.

        None if the plan does not say how many are then shuffled together.
        """
        full = self.plan.full_batch
        return (
            None
            if full is None
            else batch_epsilon(self.plan.replace(protections__minimum_batch=full))
        )


def _gain(cell: Cell) -> float:
    if cell.proved is None:
        return math.inf
    return -cell.proved.value if cell.metric.protects else cell.proved.value


def assess(plan: Plan) -> Ladder:
    r"""Prove what the plan leaks to each kind of adversary, at its minimum batch.

    Every cell is a guarantee with theorem and assumptions, or says why there is none. A bound
    against somebody who sees more is used for all who see less, if it is better.

    Holds when neighbours are the same people, with one person's value replaced in all rounds. Who
    takes part, and how many, is public. Guesses are of a value that is independent of the others',
    given what is known.
    Direction: promises are rounded up (Bayes security down), attained gains the other way.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
        ... population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
        ... protections.minimum_batch = 200_000
        ... guarantee.delta = 1e-8
        ... ''')
        >>> ladder = assess(plan)
        >>> print(ladder["batch"].epsilon, ladder["clients"].epsilon, sep="\n")
        epsilon <= 0.0756 at delta 1e-08
        epsilon <= 0.0879 at delta 1e-08
    """
    rungs = Rungs(require_plan(plan))
    return Ladder.of(rungs, dict(columns(rungs)))


def columns(
    rungs: Rungs, metrics: Iterable[Metric] | None = None
) -> Iterator[tuple[Metric, dict[str, Cell]]]:
    """Yield the ladder metric by metric, each with the cells of all rungs."""
    for metric in rungs.metrics if metrics is None else metrics:
        yield metric, _column(rungs, metric)


def _column(rungs: Rungs, metric: Metric) -> dict[str, Cell]:
    """The cells of all rungs, each improved by what follows from the others."""
    found = {rung: rungs.cell(rung, metric) for rung in (*rungs.plan.rungs, COMBINED)}
    chains = _WEAKER[len(rungs.plan.shufflers)]
    found[Rung.ESTIMATE] = best(found[Rung.ESTIMATE], weaker=rungs.blind.get(metric))
    for rung, weaker in chains.items():
        for other in weaker:
            found[rung] = best(found[rung], weaker=found[other])
    for rung, weaker in reversed(chains.items()):
        for other in weaker:
            found[other] = best(found[other], stronger=found[rung])
    return found


def batch_epsilon(
    plan: Plan, *, times: int = 1, rounds_seen: bool = False, delta: float | None = None
) -> Guarantee | None:
    """Prove epsilon at the minimum batch, against a reader of the batches.

    Args:
        plan: The plan of the collection.
        times: The number of such collections that the same people join.
        rounds_seen: True if the reader also knows who sends in which round.
        delta: The failure probability of all collections together; the plan's if left out.
    """
    rungs = Rungs(plan)
    resent = plan.participation.noise == "reused" and times > 1
    rung = Rung.NETWORK if rounds_seen else Rung.BATCH
    holding = [rungs.local if resent else rungs.exposure(rung).repeated(times)]
    if any(plan.dummies):  # a report that is sent again is protected by dummies alone
        again = plan.replace(collection__rounds=plan.collection.rounds * times)
        holding += [each.exposure for each in Rungs(again).dummies(rung)]
    at = plan.guarantee.delta or 0.0 if delta is None else delta
    found = (_epsilon(each, at) for each in holding)
    return min((each for each in found if each), key=lambda each: each.value, default=None)


def _epsilon(exposure: Exposure, delta: float) -> Guarantee | None:
    sees = Adversary(sees=frozenset({View.BATCH}))
    columns = Columns(exposure=exposure, adversary=sees, delta=delta, values=2)
    return columns.proved_epsilon()

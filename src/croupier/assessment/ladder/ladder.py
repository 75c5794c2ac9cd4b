"""The trust ladder: what a plan leaks to each kind of adversary."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from croupier.assessment.ladder.cell import Cell, best
from croupier.assessment.ladder.metrics import Columns
from croupier.assessment.ladder.rungs import Cells, Rungs
from croupier.assessment.ladder.table import ladder_card
from croupier.assessment.ladder.uniform_order import uniform_alpha
from croupier.model.adversary import Adversary, View
from croupier.model.guarantee import Guarantee, Metric
from croupier.model.html import card, element
from croupier.model.result import Result
from croupier.model.rung import COMBINED, Rung
from croupier.numerics.validate import member
from croupier.plan.plan import Plan, require_plan

__all__ = ["REPEATED", "Ladder", "Row", "assess", "batch_epsilon"]

REPEATED = 30
"""How many collections of the same person are always looked at."""

_WEAKER: dict[str, tuple[str, ...]] = {
    Rung.BATCH: (Rung.ESTIMATE,),
    Rung.NETWORK: (Rung.BATCH,),
    Rung.CLIENTS: (Rung.BATCH,),
    COMBINED: (Rung.NETWORK, Rung.CLIENTS),
    Rung.SHUFFLER: (Rung.ESTIMATE,),
    Rung.COLLUSION: (COMBINED, Rung.SHUFFLER),
}
"""Whose view is part of whose, from the weakest to the strongest."""


@dataclass(frozen=True, repr=False)
class Row(Result):
    """One rung: what somebody there gains, in every metric.

    ``row.epsilon``, ``row.reidentification`` and so on are the promises, None where nothing is
    proved; ``row["epsilon"]`` is the cell with both sides.

    Attributes:
        rung: Whose it is.
        cells: One per metric.
    """

    rung: str
    cells: Mapping[Metric, Cell]

    @property
    def epsilon(self) -> Guarantee | None:
        """How much one answer can move any conclusion, at most."""
        return self[Metric.EPSILON].proved

    @property
    def reidentification(self) -> Guarantee | None:
        """How often a report is traced to its sender, at most."""
        return self[Metric.REIDENTIFICATION].proved

    @property
    def guess_coin(self) -> Guarantee | None:
        """How often a guess between two values is right, at most."""
        return self[Metric.GUESS_COIN].proved

    @property
    def guess_uniform(self) -> Guarantee | None:
        """How often a guess among all values is right, at most, by one who knows nobody's."""
        return self[Metric.GUESS_UNIFORM].proved

    @property
    def guess_informed(self) -> Guarantee | None:
        """How often a guess among all values is right, at most, by one who knows all others'."""
        return self[Metric.GUESS_INFORMED].proved

    @property
    def bayes_security(self) -> Guarantee | None:
        """The share of a guesser's errors that remains, at least."""
        return self[Metric.BAYES_SECURITY].proved

    @property
    def alpha(self) -> Guarantee | None:
        """How much the order gives away about a group, at most."""
        return self[Metric.ALPHA].proved

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
        name = member(Metric, metric, what="a metric")
        if name in self.cells:
            return self.cells[name]
        if name is Metric.ALPHA:
            return uniform_alpha(self.rung)  # the plan has no groups
        return Cell(metric=name, reason="the ladder does not bound it")


@dataclass(frozen=True, repr=False)
class Ladder(Result):
    """What a plan leaks, from the reader of an estimate to shuffler and analyzer together.

    Attributes:
        plan: What was assessed.
        blind: What is gained by somebody who sees nothing.
        rows: The rungs.
        combined: Who watches the network and has corrupted clients.
    """

    plan: Plan
    blind: Row
    rows: tuple[Row, ...]
    combined: Row

    def __getitem__(self, rung: str) -> Row:
        return self.rows[list(Rung).index(member(Rung, rung, what="a rung"))]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def _summary(self) -> str:
        return f"{self.plan.name} {self.plan.digest[:8]}, {len(self.rows)} rungs"

    def _records(self) -> list[dict[str, Any]]:
        return [record for row in self.rows for record in row._records()]  # noqa: SLF001 - its rows

    def _repr_html_(self) -> str:
        plan = self.plan
        proved = f"proved at the minimum, {plan.protections.minimum_batch:,}"
        about = f"{plan.name} {plan.digest[:8]}, delta {plan.guarantee.delta:g}, {proved}"
        return card(element("p", about), ladder_card(self))

    @property
    def headline(self) -> Row:
        """The rung with the largest epsilon that the declared operators make real."""
        return self.most_exposed(Metric.EPSILON)

    def most_exposed(self, metric: Metric) -> Row:
        """Return the rung that gains most, of those that the declared operators make real.

        Where nobody colludes these are corrupt clients, the network and the shuffler; among equals
        the first of them.
        """
        if self.plan.operators == "same":
            return self[Rung.COLLUSION]
        real = (self[rung] for rung in (Rung.CLIENTS, Rung.NETWORK, Rung.SHUFFLER))
        return max(real, key=lambda row: _gain(row[metric]))

    @cached_property
    def repeated(self) -> Guarantee | None:
        """Epsilon of `REPEATED` such collections, against a reader of the batches."""
        return batch_epsilon(self.plan, times=REPEATED)

    @cached_property
    def everybody(self) -> Guarantee | None:
        """Epsilon against a reader of the batch if all who are enrolled report.

        None where the plan does not say how many then mix with each other.
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

    Every cell is a guarantee with theorem and assumptions, or says why there is none. What is
    proved against somebody who sees more is used for all who see less, where it is better.

    Holds when neighbours are the same people, with one person's value replaced in all rounds. Who
    takes part, and how many, is public. Guesses are of a value that is independent of the others',
    given what is known.
    Direction: promises are rounded up (Bayes security down), what is attained the other way.

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
    rows = _spread(rungs)
    return Ladder(
        plan=plan,
        blind=Row("(prior)", rungs.blind),
        rows=tuple(rows[rung] for rung in Rung),
        combined=rows[COMBINED],
    )


def _spread(rungs: Rungs) -> dict[str, Row]:
    """The cells of all rungs, with what follows from one for another."""
    found: dict[str, Cells] = {
        rung: {metric: rungs.cell(rung, metric) for metric in rungs.metrics}
        for rung in (*Rung, COMBINED)
    }
    for metric in rungs.metrics:
        lowest = found[Rung.ESTIMATE]
        lowest[metric] = best(lowest[metric], weaker=rungs.blind.get(metric))
        for rung, weaker in _WEAKER.items():
            for other in weaker:
                found[rung][metric] = best(found[rung][metric], weaker=found[other][metric])
        for rung, weaker in reversed(_WEAKER.items()):
            for other in weaker:
                found[other][metric] = best(found[other][metric], stronger=found[rung][metric])
    return {rung: Row(rung, cells) for rung, cells in found.items()}


def batch_epsilon(plan: Plan, *, times: int = 1, rounds_seen: bool = False) -> Guarantee | None:
    """Epsilon at the minimum batch, against a reader of the batches.

    Args:
        plan: What is collected.
        times: How many such collections the same people join.
        rounds_seen: Whether it is known, too, who sends in which round.
    """
    rungs = Rungs(plan)
    resent = plan.participation.noise == "reused" and times > 1
    rung = Rung.NETWORK if rounds_seen else Rung.BATCH
    exposure = rungs.local if resent else rungs.exposure(rung).repeated(times)
    return Columns(
        exposure=exposure,
        adversary=Adversary(sees=frozenset({View.BATCH})),
        delta=plan.guarantee.delta or 0.0,
        values=2,
    ).proved_epsilon()

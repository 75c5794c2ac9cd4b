"""A plan among plans like it: what more people, or more noise, would change."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.rungs import Rungs
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, curve, mark, row_points
from croupier.documents.plots.inline_svg import Labels, Plot, inline_svg
from croupier.model.guarantee import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan

__all__ = ["STEPS", "PlanPlots", "ladder_points"]

_BELOW, _ABOVE, _LOCALS = 4, 3, 11
STEPS = 2 * (_BELOW + _ABOVE) + _LOCALS
"""About how often the plots of a plan call `advance`."""

Advance = Callable[[int], None]


@dataclass(frozen=True)
class PlanPlots:
    """Plots around one plan, of one round of one person.

    Attributes:
        plan: The plan that is marked.
        ladder: What is proved about all rounds of it, to be marked too.
    """

    plan: Plan
    ladder: Ladder | None = None

    @cached_property
    def reader(self) -> Rung:
        """Who reads the batch, or estimates if people do not hide in a batch."""
        hidden = Rungs(self.once).exposure(Rung.BATCH).hidden
        return Rung.ESTIMATE if hidden is None else Rung.BATCH

    @cached_property
    def once(self) -> Plan:
        """The plan for a person who reports once; a report that is sent again is one report."""
        if self.plan.participation.noise == "reused":
            return self.plan
        changes: dict[str, Any] = {"collection__rounds": 1}
        if self.plan.participation_model.sampled:
            changes["participation__repeats"] = 1
        return self.plan.replace(**changes)

    def epsilon_over_people(self, advance: Advance) -> Iterator[Plot]:
        """Epsilon over the size of the batch, minimum and enrolled marked.

        Nothing where the noise of a device has no epsilon.
        """
        local = Rungs(self.once).local.most
        if math.isinf(local):
            return
        sizes, marked = self._sizes()
        unspoilt = self.once.replace(population__corrupt_fraction=0.0)
        reader, with_clients = {}, {}
        for size in sizes:
            reader[size] = _epsilon(unspoilt, size, self.reader)
            advance(1)
        for size in self._spoilt(sizes):
            with_clients[size] = _epsilon(self.once, size, Rung.CLIENTS)
            advance(1)

        def draw(axes: Any) -> None:
            axes.set_xscale("log")
            axes.set_yscale("log")
            curve(axes, reader, color=BLUE, label=self._who)
            if with_clients:
                curve(axes, with_clients, color=ORANGE, linestyle="--", label=_CLIENTS)
            axes.axhline(local, color=GREY, linestyle=":", label=_COLLUSION)
            for size, label in marked.items():
                mark(axes, size, reader[size], label, beside=(-8, -11))
            self._mark_rounds(axes, self.plan.protections.minimum_batch, Metric.EPSILON)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.margins(y=0.15)

        ends = f"{sizes[0]:,} to {sizes[-1]:,} people"
        yield inline_svg(
            Labels(
                name="people",
                title="Epsilon over the number of people in a batch",
                description=f"On logarithmic scales, from {ends}: what is proved against "
                f"somebody who {self._who}, and against shuffler and analyzer together, whom no "
                f"number of people hinders. Marked: {', '.join(marked.values())}.",
                caption="More people, less leaks: epsilon over the size of the batch.",
                across="people in the batch",
                up=f"epsilon{self._of_one_round}, at most",
            ),
            draw,
        )

    @property
    def _of_one_round(self) -> str:
        return "" if self.once.reports == self.plan.reports else " of one round"

    def _mark_rounds(self, axes: Any, place: float, metric: Metric, *, scale: float = 1) -> None:
        """What the ladder proves about all rounds, where it is not what one round shows."""
        if self.ladder is None or not self._of_one_round:
            return
        proved = self.ladder[self.reader][metric].proved
        value = math.inf if proved is None else scale * proved.value
        mark(axes, place, value, f"{self.plan.reports:,} rounds", beside=(-8, 6))

    def over_noise(self, advance: Advance) -> Iterator[Plot]:
        """How often attacks succeed, and how wrong estimates are, over epsilon_local.

        Nothing where the mechanism has no epsilon_local of its own.
        """
        chosen = self._chosen
        if chosen is None:
            return
        plans = {}
        for local in sorted(
            {*np.linspace(0.5, min(20.0, max(6.0, 1.5 * chosen)), _LOCALS), chosen}
        ):
            plans[float(local)] = self.once.replace(randomizer__max_epsilon_local=float(local))
        cells = {}
        for local, plan in plans.items():
            rungs = Rungs(plan)
            cells[local] = {
                (rung, metric): rungs.cell(rung, metric).upper
                for rung in (self.reader, Rung.COLLUSION)
                for metric in (Metric.GUESS_COIN, Metric.REIDENTIFICATION)
            }
            advance(1)
        yield self._coin(cells, chosen)
        if self.reader is Rung.BATCH:
            yield self._link(cells, chosen)
        yield self._error(plans, chosen)

    def _coin(self, cells: dict[float, dict[tuple[Rung, Metric], Any]], chosen: float) -> Plot:
        metric = Metric.GUESS_COIN
        reader = {local: 100 * cell[self.reader, metric] for local, cell in cells.items()}
        alone = {local: 100 * cell[Rung.COLLUSION, metric] for local, cell in cells.items()}

        def draw(axes: Any) -> None:
            axes.plot(*_line(alone), color=ORANGE, linestyle="--", label=_COLLUSION)
            axes.plot(*_line(reader), color=BLUE, label=self._who)
            axes.axhline(50, color=GREY, linestyle=":", label="blind guess")
            axes.set_ylim(48, 102)
            mark(axes, chosen, reader[chosen], "this plan")
            self._mark_rounds(axes, chosen, Metric.GUESS_COIN, scale=100)

        return inline_svg(
            Labels(
                name="coin",
                title="Guessing between two values, over the noise of a report",
                description="Share of right guesses over epsilon_local: close to 50 % for somebody "
                f"who {self._who}, rising towards 100 % for shuffler and analyzer together.",
                caption="Less noise, better guesses between two values.",
                across="epsilon_local (more: less noise)",
                up=f"right guesses{self._of_one_round}, %, at most",
            ),
            draw,
        )

    def _link(self, cells: dict[float, dict[tuple[Rung, Metric], Any]], chosen: float) -> Plot:
        linked = {
            local: cell[self.reader, Metric.REIDENTIFICATION] for local, cell in cells.items()
        }

        def draw(axes: Any) -> None:
            axes.semilogy(*_line(linked), color=BLUE, label=self._who)
            blind = 1 / self.plan.protections.minimum_batch
            axes.axhline(blind, color=GREY, linestyle=":", label="blind guess")
            axes.yaxis.set_major_formatter(lambda chance, _: f"1 in {1 / chance:,.0f}")
            mark(axes, chosen, linked[chosen], "this plan", beside=(8, -10))

        return inline_svg(
            Labels(
                name="link",
                title="Finding the sender of a report, over the noise of a report",
                description="Probability on a logarithmic scale over epsilon_local: it rises with "
                f"epsilon_local for somebody who {self._who}, above the constant blind guess.",
                caption="Less noise, more senders found.",
                across="epsilon_local (more: less noise)",
                up="sender found, at most",
            ),
            draw,
        )

    def _error(self, plans: dict[float, Plan], chosen: float) -> Plot:
        people = _answers(self.plan)
        errors = {local: plan.randomizer.rms_error(people) for local, plan in plans.items()}

        def draw(axes: Any) -> None:
            axes.semilogy(*_line(errors), color=BLUE, label=f"from {people:,} answers")
            axes.yaxis.set_major_formatter("{x:g}")
            mark(axes, chosen, errors[chosen], "this plan")

        return inline_svg(
            Labels(
                name="error",
                title="Error of the estimates, over the noise of a report",
                description="Root mean square error on a logarithmic scale over epsilon_local: it "
                f"falls as epsilon_local grows. At the minimum batch, {people:,} answers.",
                caption="Less noise, better estimates: the price of privacy.",
                across="epsilon_local (more: less noise)",
                up="RMS error of an estimate",
            ),
            draw,
        )

    @property
    def _who(self) -> str:
        return self.reader.adversary

    @property
    def _specification(self) -> dict[str, Any]:
        return self.plan.randomizers[0].specification

    @property
    def _chosen(self) -> float | None:
        if len(self.plan.questions) > 1 or "max_epsilon_local" not in self._specification:
            return None
        return float(self._specification["max_epsilon_local"])

    def _sizes(self) -> tuple[list[int], dict[int, str]]:
        batch = self.plan.protections.minimum_batch
        full = self.plan.full_batch
        most = self.plan.population.enrolled if full is None else full
        marked = {most: "all enrolled"} if full is not None and full > batch else {}
        marked |= {batch: f"minimum, {batch:,}"}
        below = np.geomspace(max(2, batch / 50), batch, _BELOW).tolist()
        above = np.geomspace(batch, max(most, batch), _ABOVE).tolist()
        return sorted({round(size) for size in below + above} | set(marked)), marked

    def _spoilt(self, sizes: list[int]) -> list[int]:
        """Batches with corrupt people in them, the honest as many as at `sizes`."""
        population = self.plan.population
        if not self.plan.corrupt or self.reader is not Rung.BATCH:
            return []
        more = self.plan.corrupt if population.corrupt_fraction_of == "enrolled" else 0
        larger = sorted({min(size + more, sizes[-1]) for size in sizes})
        return [size for size in larger if population.corrupt(size) <= size - 2]


_CLIENTS = "+ corrupt clients"
_COLLUSION = "shuffler + analyzer"


def ladder_points(ladder: Ladder) -> Iterator[Plot]:
    """Epsilon on every rung, as points on a logarithmic scale; nothing where none is proved."""
    promised = {
        str(step.rung): math.inf if step.epsilon is None else step.epsilon.value for step in ladder
    }
    if not any(0 < value < math.inf for value in promised.values()):
        return
    attained = {step.rung: step["epsilon"].lower for step in ladder}
    rungs = list(Rung)[::-1]

    def draw(axes: Any) -> None:
        axes.set_xscale("log")
        known = {row: value for row, rung in enumerate(rungs) if (value := attained[rung])}
        proved = {row: promised[rung] for row, rung in enumerate(rungs)}
        row_points(axes, proved, "o", color=BLUE, label="proved: at most")
        row_points(axes, known, "|", color="black", markersize=14, label="an attack: at least")
        axes.set_yticks(range(len(rungs)), [str(rung) for rung in rungs])
        axes.set_ylim(-0.6, len(rungs) - 0.4)
        axes.margins(x=0.15)
        axes.xaxis.set_major_formatter("{x:g}")

    said = ", ".join(
        f"{rung} {value:.3g}" if math.isfinite(value) else f"{rung} not bounded"
        for rung, value in promised.items()
    )
    yield inline_svg(
        Labels(
            name="ladder",
            title="Epsilon on every rung",
            description=f"Points on a logarithmic scale; the numbers are in the table above: "
            f"{said}.",
            caption="Epsilon on every rung: the first column of the table.",
            across="epsilon",
            up="",
        ),
        draw,
    )


def _epsilon(plan: Plan, size: int, rung: Rung) -> float:
    grown = plan.replace(protections__minimum_batch=size)
    return Rungs(grown).exposure(rung).epsilon(plan.guarantee.delta or 0.0)


def _line(points: dict[Any, float]) -> tuple[list[Any], list[float]]:
    return list(points), list(points.values())


def _answers(plan: Plan) -> int:
    """How many answers a question gets from the minimum batch, in the least likely round."""
    shares = [Fraction(min(own), sum(own)) for own in plan.participation_model.lots]
    return max(1, math.floor(plan.protections.minimum_batch * min(shares)))

"""A plan among plans like it: more people, more noise."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from croupier.assessment.ladder.exposures import exposures
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.ladder.table import who_is_looking
from croupier.documents.plots.figure import BLUE, GREY, ORANGE
from croupier.documents.plots.inline_svg import Labels, Plot, inline_svg
from croupier.documents.plots.marks import curve, mark, row_names, row_points
from croupier.documents.plots.ticks import count, metric_ticks, number, percent, write_ticks
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan
from croupier.randomizers.categorical import CategoricalRandomizer

__all__ = ["STEPS", "PlanPlots", "ladder_points"]

_BELOW, _ABOVE, _LOCALS = 4, 3, 11
_FEW_BELOW, _FEW_ABOVE, _FEW_LOCALS = 3, 2, 4
"""The numbers of points where each takes seconds, since rounds are composed."""

_BELOW_KEPT = 0.98
"""A share of the epsilon of a permanent answer, which that of one report must stay below."""

STEPS = 2 * (_BELOW + _ABOVE) + _LOCALS
"""About how often the plots of a plan call `advance`."""

Advance = Callable[[int], None]


@dataclass(frozen=True)
class PlanPlots:
    """Plots around one plan, of all rounds of one person.

    Attributes:
        plan: The plan that is marked.
    """

    plan: Plan

    @cached_property
    def reader(self) -> Rung:
        """The reader of the batch, or of estimates if people do not hide in a batch."""
        hidden = Rungs(self.plan).exposure(Rung.BATCH).hidden
        return Rung.ESTIMATE if hidden is None else Rung.BATCH

    def epsilon_over_people(self, advance: Advance) -> Iterator[Plot]:
        """Draw epsilon over the size of the batch, minimum and enrolled marked.

        Nothing where the noise of a device has no epsilon.
        """
        alone = _epsilon(self.plan, self.plan.protections.minimum_batch, self._last)
        if math.isinf(alone):
            return
        sizes, marked = self._sizes()
        unspoilt = self.plan.replace(population__corrupt_fraction=0.0)
        reader, with_clients = {}, {}
        for size in sizes:
            reader[size] = _epsilon(unspoilt, size, self.reader)
            advance(1)
        for size in self._spoilt(sizes):
            with_clients[size] = _epsilon(self.plan, size, Rung.CLIENTS)
            advance(1)

        def draw(axes: Any) -> None:
            axes.set_xscale("log")
            axes.set_yscale("log")
            metric_ticks(axes.yaxis, Metric.EPSILON, f", at most{self._of_rounds}")
            write_ticks(axes.xaxis, count)
            curve(axes, reader, color=BLUE, label=self._who, **self._dots)
            if with_clients:
                look = {"color": ORANGE, "linestyle": "--", **self._dots}
                curve(axes, with_clients, label=who_is_looking(self.plan, Rung.CLIENTS), **look)
            axes.axhline(alone, color=GREY, linestyle=":", label=self._last.meaning)
            for size, label in marked.items():
                mark(axes, size, reader[size], label)
            axes.margins(y=0.15)

        ends = f"{sizes[0]:,} to {sizes[-1]:,} people"
        yield inline_svg(
            Labels(
                name="people",
                title="Epsilon over the number of people in a batch",
                description=f"On logarithmic scales, from {ends}: what is proved against "
                f"somebody who {self._who}, and against {self._together}, whom no number of "
                f"people hinders. Marked: {', '.join(marked.values())}.",
                caption="Epsilon over the size of the batch.",
                across="people in the batch",
            ),
            draw,
        )

    def over_noise(self, advance: Advance) -> Iterator[Plot]:
        """Draw how often attacks succeed, and how wrong estimates are, over epsilon_local.

        Nothing where the mechanism has no epsilon_local of its own.
        """
        chosen = self._chosen
        if chosen is None:
            return
        most = min(20.0, self._specification.get("max_epsilon_permanent", math.inf) * _BELOW_KEPT)
        ends = min(0.5, chosen), min(most, max(6.0, 1.5 * chosen))
        plans = {
            float(local): self.plan.replace(randomizer__max_epsilon_local=float(local))
            for local in sorted({*np.linspace(*ends, self._few(_LOCALS, _FEW_LOCALS)), chosen})
        }
        cells = {}
        for local, plan in plans.items():
            rungs = Rungs(plan)
            cells[local] = {
                (rung, metric): rungs.cell(rung, metric).upper
                for rung in (self.reader, self._last)
                for metric in (Metric.GUESS_OF_TWO, Metric.REIDENTIFICATION)
            }
            advance(1)
        yield self._guess(cells, chosen)
        if self.reader is Rung.BATCH:
            yield self._link(cells, chosen)
        yield self._error(plans, chosen)

    def _guess(self, cells: dict[float, dict[tuple[Rung, Metric], Any]], chosen: float) -> Plot:
        metric = Metric.GUESS_OF_TWO
        reader = {local: cell[self.reader, metric] for local, cell in cells.items()}
        alone = {local: cell[self._last, metric] for local, cell in cells.items()}

        def draw(axes: Any) -> None:
            metric_ticks(axes.yaxis, metric, f", at most{self._of_rounds}")
            look = {"color": ORANGE, "linestyle": "--", **self._dots}
            curve(axes, alone, label=self._last.meaning, **look)
            curve(axes, reader, color=BLUE, label=self._who, **self._dots)
            axes.axhline(0.5, color=GREY, linestyle=":", label="by luck alone")
            axes.set_ylim(0.48, 1.02)
            mark(axes, chosen, reader[chosen], "this plan")

        return inline_svg(
            Labels(
                name="guess",
                title="Guessing between two values, over the noise of a report",
                description="Share of right guesses over epsilon_local: close to 50 % for somebody "
                f"who {self._who}, rising towards 100 % for {self._together}.",
                caption="Less noise, better guesses between two values.",
                across=_ACROSS,
            ),
            draw,
        )

    def _link(self, cells: dict[float, dict[tuple[Rung, Metric], Any]], chosen: float) -> Plot:
        metric = Metric.REIDENTIFICATION
        linked = {local: cell[self.reader, metric] for local, cell in cells.items()}

        def draw(axes: Any) -> None:
            axes.set_yscale("log")
            metric_ticks(axes.yaxis, metric, ", at most")
            curve(axes, linked, color=BLUE, label=self._who)
            blind = 1 / self.plan.protections.minimum_batch
            axes.axhline(blind, color=GREY, linestyle=":", label="by luck alone")
            mark(axes, chosen, linked[chosen], "this plan")

        return inline_svg(
            Labels(
                name="link",
                title="Finding the sender of a report, over the noise of a report",
                description="Probability on a logarithmic scale over epsilon_local: it rises with "
                f"epsilon_local for somebody who {self._who}, above the line of luck alone.",
                caption="Less noise, more reports traced to their senders.",
                across=_ACROSS,
            ),
            draw,
        )

    def _error(self, plans: dict[float, Plan], chosen: float) -> Plot:
        people = self.plan.answers
        errors = {local: plan.rms_error or 0.0 for local, plan in plans.items()}
        share = isinstance(self.plan.randomizers[0], CategoricalRandomizer)

        def draw(axes: Any) -> None:
            axes.set_yscale("log")
            axes.set_ylabel(f"RMS error ({'share of people' if share else 'of the mean'})")
            write_ticks(axes.yaxis, percent if share else number)
            curve(axes, errors, color=BLUE, label=f"from {people:,} answers")
            mark(axes, chosen, errors[chosen], "this plan")

        return inline_svg(
            Labels(
                name="error",
                title="Error of the estimates, over the noise of a report",
                description="Root mean square error on a logarithmic scale over epsilon_local: it "
                f"falls as epsilon_local grows. At the minimum batch, {people:,} answers.",
                caption="Less noise, better estimates: the price of privacy.",
                across=_ACROSS,
            ),
            draw,
        )

    @property
    def _last(self) -> Rung:
        """The row of all shufflers and the analyzer together."""
        return self.plan.rungs[-1]

    @property
    def _together(self) -> str:
        return self._last.meaning

    @property
    def _of_rounds(self) -> str:
        """Say how many rounds are composed, on an axis."""
        return f",\n{self.plan.reports:,} rounds" if self._composed else ""

    @property
    def _composed(self) -> bool:
        return self.plan.reports > 1 and self.plan.participation.noise != "reused"

    @property
    def _dots(self) -> dict[str, Any]:
        """Dots at the few points that were computed."""
        return {"marker": "."} if self._composed else {}

    def _few(self, many: int, few: int) -> int:
        return few if self._composed else many

    @property
    def _who(self) -> str:
        return self.reader.meaning

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
        below = np.geomspace(max(2, batch / 50), batch, self._few(_BELOW, _FEW_BELOW)).tolist()
        above = np.geomspace(batch, max(most, batch), self._few(_ABOVE, _FEW_ABOVE)).tolist()
        return sorted({round(size) for size in below + above} | set(marked)), marked

    def _spoilt(self, sizes: list[int]) -> list[int]:
        """Batches with corrupt people in them, the honest as many as at `sizes`."""
        population = self.plan.population
        if not self.plan.corrupt or self.reader is not Rung.BATCH:
            return []
        more = self.plan.corrupt if population.corrupt_fraction_of == "enrolled" else 0
        larger = sorted({min(size + more, sizes[-1]) for size in sizes})
        return [size for size in larger if population.corrupt(size) <= size - 2]


_ACROSS = "epsilon_local (higher: less noise)"


def ladder_points(ladder: Ladder) -> Iterator[Plot]:
    """Draw epsilon of every adversary as a dot, from what an attack finds to what is proved.

    On a logarithmic scale; nothing where none is proved.
    """
    promised = {
        str(step.rung): math.inf if step.epsilon is None else step.epsilon.value for step in ladder
    }
    if not any(0 < value < math.inf for value in promised.values()):
        return
    attained = [step["epsilon"].lower for step in ladder]

    def draw(axes: Any) -> None:
        axes.set_xscale("log")
        metric_ticks(axes.xaxis, Metric.EPSILON)
        known = {row: value for row, value in enumerate(attained) if value}
        proved = dict(enumerate(promised.values()))
        for row, least in known.items():
            if math.isfinite(proved[row]):
                axes.plot([least, proved[row]], [row, row], color=BLUE, linewidth=2)
        row_points(axes, proved, "o", color=BLUE, label="proved: at most")
        row_points(axes, known, "|", color="black", markersize=14, label="an attack: at least")
        row_names(axes, list(promised))
        axes.margins(x=0.15)

    said = ", ".join(
        f"{rung} {value:.3g}" if math.isfinite(value) else f"{rung} not bounded"
        for rung, value in promised.items()
    )
    yield inline_svg(
        Labels(
            name="ladder",
            title="Epsilon of every adversary",
            description=f"Dots on a logarithmic scale; the numbers are in the table above: {said}.",
            caption="Epsilon of every adversary: the first column of the table.",
            across="",
        ),
        draw,
    )


def _epsilon(plan: Plan, size: int, rung: Rung) -> float:
    # A minimum crowd, which small batches do not have, bounds no epsilon.
    grown = plan.replace(protections__minimum_batch=size, protections__minimum_crowd=None)
    delta, rungs = plan.guarantee.delta or 0.0, Rungs(grown)
    if not any(plan.dummies):
        return rungs.exposure(rung).epsilon(delta)
    return min(each.epsilon(delta) for case in exposures(rungs, rung) for each in case)

"""The inverse planner: from an error and limits to plans that are proved to keep them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from croupier.assessment.design.dummies import (
    DummyPoint,
    DummySearch,
    limited_to_one_honest,
    traded,
)
from croupier.assessment.design.family import MODELS, families
from croupier.assessment.design.infeasible import explained
from croupier.assessment.design.search import Candidate, Search
from croupier.assessment.ladder.rungs import Rungs
from croupier.errors import ParameterError, RenamedAttributeError, RenamedError
from croupier.model.domain import Grid
from croupier.model.guarantee import Guarantee
from croupier.model.metric import LADDER, NEAR, Metric
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.numerics.rounding import AtMost, float_above
from croupier.numerics.validate import number_of_people, whole_number
from croupier.plan.facts import Limit
from croupier.plan.plan import Plan
from croupier.plan.problems import RENAMED_LIMITS

__all__ = ["DUMMIES", "STRENGTHS", "Design", "Designs", "design"]

STRENGTHS = ("releases soonest", "leaks least to readers", "leaks least under collusion")
"""The strengths of a plan: least people, least epsilon of the batch, least epsilon_local."""

DUMMIES = ("releases soonest with dummies", "leaks least to readers with dummies")
"""The strengths of a plan whose devices add no noise: fewer people, or a lower epsilon."""

_READERS = (Rung.BATCH, Rung.CLIENTS)
_METRICS = (*(metric for metric in LADDER[:-1] if metric not in NEAR), Metric.MANIPULATION)


@dataclass(frozen=True, repr=False)
class Design(Result):
    """A plan that keeps every limit, and its strengths.

    Attributes:
        plan: The plan; its policy holds the limits.
        rms_error: The root mean square standard error at the minimum batch, before projection.
        epsilon: The bound against a reader of the batch.
        clients: The same with corrupt clients.
        reidentification: How often such a reader traces a report to its sender.
        strengths: The aims in which no other plan that was considered is better; see `design`.
        trade: What a plan with dummies gives up, what a second shuffler without dummies leaves as
            it is, or what several groups of people need, in one or two sentences; else empty.
        error_alone: What `rms_error` would be with one question only, the same noise and as many
            people.
    """

    plan: Plan
    rms_error: float
    epsilon: Guarantee
    clients: Guarantee
    reidentification: Guarantee
    strengths: tuple[str, ...]
    trade: str = ""
    error_alone: float | None = None

    if not TYPE_CHECKING:  # type checkers report unknown names

        def __getattr__(self, name: str) -> Any:
            if name == "linked":
                raise RenamedAttributeError("design.linked", "design.reidentification")
            return super().__getattribute__(name)  # raises

    @property
    def epsilon_local(self) -> float:
        """The epsilon under collusion; infinite if devices add no noise."""
        return self.plan.epsilon_local

    @property
    def worst_shift(self) -> Fraction | None:
        """The largest shift of an estimate by liars, per share of the smallest batch."""
        return self.plan.worst_shift

    @property
    def _summary(self) -> str:
        people = f"{self.plan.protections.minimum_batch:,} people"
        name = self.plan.randomizers[0].mechanism
        return f"{name}, {people}, error {self.rms_error:.3g}: {', '.join(self.strengths)}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "strengths": ", ".join(self.strengths),
                "mechanism": self.plan.randomizers[0].mechanism,
                "epsilon_local": AtMost(self.epsilon_local)
                if math.isfinite(self.epsilon_local)
                else None,
                "minimum_batch": self.plan.protections.minimum_batch,
                "rms_error": self.rms_error,
                "error_alone": self.error_alone,
                "worst_shift": None
                if self.worst_shift is None
                else AtMost(float_above(self.worst_shift)),
                "epsilon_batch": AtMost(self.epsilon.value),
                "epsilon_clients": AtMost(self.clients.value),
                "reidentification": AtMost(self.reidentification.value),
            }
        ]


@dataclass(frozen=True, repr=False)
class Designs(Result, Sequence[Design]):
    """The plans that `design` found, the one that releases soonest first.

    Attributes:
        found: The plans.
    """

    found: tuple[Design, ...]

    @overload
    def __getitem__(self, index: int) -> Design: ...
    @overload
    def __getitem__(self, index: slice) -> "Designs": ...
    def __getitem__(self, index: int | slice) -> "Design | Designs":
        return Designs(self.found[index]) if isinstance(index, slice) else self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def _summary(self) -> str:
        return f"{len(self)} {'plan' if len(self) == 1 else 'plans'}"

    def _records(self) -> list[dict[str, Any]]:
        return [record for one in self.found for record in one._records()]  # noqa: SLF001 - its own


def design(  # noqa: PLR0913 - keyword-only facts about one collection
    *,
    enrolled: float,
    target_error: float,
    k: int | None = None,
    labels: Sequence[str | int] | None = None,
    grid: Grid | Mapping[str, float] | None = None,
    texts: Mapping[str, Any] | None = None,
    questions: int = 1,
    corrupt_fraction: float = 0.0,
    max_epsilon_local: float | None = None,
    max_batch: float | None = None,
    delta: float | None = None,
    mechanisms: Sequence[str] | None = None,
    models: Sequence[str] = MODELS[:2],
    shufflers: int = 1,
    advance: Callable[[int], None] = lambda _: None,
    **limits: float | None,
) -> Designs:
    """Find plans that reach an error within limits, each best at something.

    It considers every mechanism for the values and every epsilon_local of four digits (1.560, 1.561
    and so on). At most three plans are returned, each the best of those: the one that releases
    soonest, the one that leaks least to readers, the one that leaks least under collusion. An
    epsilon_local of more digits may need a few people in a thousand fewer, or leak less by as
    little.

    One more plan comes last if dummies win: devices send the value itself, and shufflers add
    dummies. It is there if it needs fewer people than all others within the limits, or leaks less
    to readers, or if no other plan reaches the error. Its `trade` says what is given up. It is not
    considered where epsilon_local is limited, for a grid or texts, or for several questions.

    The best are found when, in a mechanism whose own parameters are fixed, the error falls and
    every leak grows with epsilon_local, and every leak falls with people. If that fails somewhere,
    a better plan may be missed; the limits of the returned plans are always proved as in `assess`.

    Args:
        enrolled: The number of people.
        target_error: The largest root mean square standard error over the categories (for a grid,
            of the mean) at the minimum batch, before projection.
        k: The number of categories; or `labels`, `grid`, or `texts`.
        labels: Their names.
        grid: The numbers people may hold: low, high and step.
        texts: What describes the texts people may answer: ``longest``, and if needed ``alphabet``,
            ``normalisation`` and ``levels``.
        questions: The number of questions, all of this kind; each person answers one.
        corrupt_fraction: The share of the enrolled who may be corrupt; all may be in one batch.
        max_epsilon_local: The ceiling for every report, 20 if left out.
        max_batch: The number of people who surely take part in a round; half of the enrolled if
            left out.
        delta: The failure probability; 0.01/enrolled if left out.
        mechanisms: The mechanisms to consider; all if left out. `plain` stands for dummies.
        models: The ways in which several questions may be divided among people.
        shufflers: The number of shufflers, 1 or 2, of every plan. With two that add dummies, the
            limits on the batch are also written for `all_but_one`, where they are proved.
        advance: Called with 1 at every step of the search.
        limits: ``max_epsilon``, ``max_reidentification``, ``max_guess_of_two``,
            ``max_guess_uninformed``, ``max_guess_informed``, ``min_bayes_security``: at the rungs
            batch and clients. ``max_manipulation``: how far corrupt people move an estimate.

    Raises:
        ParameterError: No plan reaches the error within the limits. It says which limit binds and
            what would be enough.

    Example:
        >>> found = design(k=3, enrolled=100_000, target_error=0.01, max_epsilon=0.05, delta=1e-6,
        ...                mechanisms=["k-rr"])
        >>> found[0].plan.protections.minimum_batch, found[0].plan.randomizer.epsilon_local
        (9582, 1.194)
    """
    enrolled = number_of_people("enrolled", enrolled, least=4)
    whole_number("shufflers", shufflers, least=1, most=2)
    domain = _domain(k=k, labels=tuple(labels) if labels else None, grid=grid, texts=texts)
    search = Search(
        families=families(
            domain,
            questions=questions,
            mechanisms=mechanisms,
            models=models if shufflers == 1 else [each for each in models if each == "parallel"],
        ),
        target_error=_positive("target_error", target_error),
        enrolled=enrolled,
        corrupt_fraction=_share("corrupt_fraction", corrupt_fraction),
        most_people=_most_people(enrolled, max_batch),
        delta=None if delta is None else _share("delta", delta),
        limits=_limits(limits, max_epsilon_local, shufflers),
        advance=advance,
        shufflers=shufflers,
    )
    search.require_honest()
    found = tuple(
        replace(
            _described(search.plan(candidate), candidate.error, strengths),
            error_alone=candidate.error_alone,
        )
        for candidate, strengths in _merged(_best(search)).items()
    )
    hidden = None
    if _considers_dummies(search, domain, questions, mechanisms):
        hidden = DummySearch(search, domain, shufflers)
        found += _with_dummies(hidden, found)
    if found:
        return Designs(found)
    raise explained(search, hidden)


def _best(search: Search) -> list[Candidate]:
    """The best plan of each aim; none if no plan reaches the error within the limits."""
    found: list[Candidate] = []
    for best in (search.soonest, search.for_readers, search.for_collusion):
        candidate = best() if search.families else None
        if candidate is None:
            return []
        found.append(candidate)
    return found


def _considers_dummies(
    search: Search, domain: Mapping[str, Any], questions: int, mechanisms: Sequence[str] | None
) -> bool:
    """Tell whether plans without local noise may be offered.

    Raises:
        ParameterError: They are asked for, and cannot be.
    """
    limited = any(limit.rung.sees_all for limit in search.limits)
    asked = mechanisms is not None and "plain" in mechanisms
    if asked and (limited or questions > 1):
        raise ParameterError(
            "mechanism",
            must="not be plain where epsilon_local is limited: it sends the value itself"
            if limited
            else "not be plain for several questions: dummies are made for one",
            hint="Try k-rr.",
        )
    listed = "k" in domain or "labels" in domain
    return listed and not limited and questions == 1 and (asked or not mechanisms)


def _with_dummies(hidden: DummySearch, found: Sequence[Design]) -> tuple[Design, ...]:
    """The plan with dummies, if it is better than those found at something."""
    people = min((one.plan.protections.minimum_batch for one in found), default=math.inf)
    epsilon = min((one.epsilon.value for one in found), default=math.inf)
    best: DummyPoint | None = hidden.best(people=people, epsilon=epsilon)
    if best is None:
        return ()
    plan = limited_to_one_honest(best.plan, hidden.search.limits)
    return (_described(plan, best.error, (DUMMIES[best.people >= people],)),)


def _merged(best: Sequence[Candidate]) -> dict[Candidate, tuple[str, ...]]:
    """Every plan once, with all its strengths."""
    merged: dict[Candidate, tuple[str, ...]] = {}
    for candidate, strength in zip(best, STRENGTHS, strict=bool(best)):
        merged[candidate] = (*merged.get(candidate, ()), strength)
    return merged


def _described(plan: Plan, error: float, strengths: tuple[str, ...]) -> Design:
    rungs = Rungs(plan)

    def proved(rung: Rung, metric: Metric) -> Guarantee:
        found = rungs.cell(rung, metric).proved
        if found is None:
            raise ParameterError("delta", must="be one at which an epsilon is reached", got=delta)
        return found

    delta = plan.guarantee.delta
    return Design(
        plan=plan,
        rms_error=error,
        epsilon=proved(Rung.BATCH, Metric.EPSILON),
        clients=proved(Rung.CLIENTS, Metric.EPSILON),
        reidentification=proved(Rung.BATCH, Metric.REIDENTIFICATION),
        strengths=strengths,
        trade=" ".join(filter(None, (traded(plan), _rounds_to_sign(plan)))),
    )


def _rounds_to_sign(plan: Plan) -> str:
    """Say what a plan needs that asks each group of people by a signed query of its own."""
    if not plan.asks_by_query:
        return ""
    many = plan.participation_model.rounds
    return (
        f"It needs {many:,} rounds, each with a query that the analyzer signs before it. People "
        f"are in one of {many:,} public groups; each has its own batch and its own result."
    )


def _domain(**named: Any) -> dict[str, Any]:
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) != 1:
        must = "be given, or labels, grid or texts: one of them"
        raise ParameterError("k", must=must, hint="Try 10.")
    if "k" in given:
        whole_number("k", given["k"], least=2)
    return dict(given["texts"]) if "texts" in given else given


def _limits(
    given: Mapping[str, float | None], max_epsilon_local: float | None, shufflers: int
) -> list[Limit]:
    """The limits to prove: the same against readers with and without corrupt clients."""
    known = {metric.limit: metric for metric in _METRICS}
    found = []
    for name, value in given.items():
        if name in RENAMED_LIMITS:
            raise RenamedError(name, RENAMED_LIMITS[name])
        if name not in known:
            raise ParameterError(name, must=f"be one of {', '.join(known)}")
        if value is None:
            continue
        most = math.inf if known[name] is Metric.EPSILON else 1.0
        least = 1e-9 if known[name] is Metric.MANIPULATION else 0.0  # no batch is without limit
        if not least <= value <= most:
            raise ParameterError(
                name, must=f"be in [{least:g}, {most:g}]", got=value, hint="Try 0.1."
            )
        rungs = _READERS if known[name] is not Metric.MANIPULATION else (Rung.CLIENTS,)
        found += [Limit(rung, known[name], value) for rung in rungs]
    if max_epsilon_local is not None:
        if not 0.001 <= max_epsilon_local <= 20:
            must = "be in [0.001, 20]"
            raise ParameterError("max_epsilon_local", must=must, got=max_epsilon_local)
        (together,) = Rung.COLLUSION.among(shufflers)
        found.append(Limit(together, Metric.EPSILON, max_epsilon_local))
    if not found:
        raise ParameterError("max_epsilon", must="be given, or another limit", hint="Try 0.1.")
    return found


def _most_people(enrolled: int, max_batch: float | None) -> int:
    if max_batch is None:
        return enrolled // 2
    return number_of_people("max_batch", max_batch, least=2, most=enrolled)


def _positive(name: str, value: float) -> float:
    if not 0 < value < math.inf:
        raise ParameterError(name, must="be above 0", got=value, hint="Try 0.001.")
    return value


def _share(name: str, value: float) -> float:
    if not 0 <= value < 1 or (name == "delta" and value == 0):
        must = "be in (0, 1)" if name == "delta" else "be in [0, 1)"
        raise ParameterError(name, must=must, got=value)
    return value

"""All attacks that apply to a plan, played, beside what is proved."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.auditing.attacks.distinguisher import CoinGame, EpsilonGame
from croupier.auditing.attacks.dummy_suite import dummy_games
from croupier.auditing.attacks.game import Game, Outcomes
from croupier.auditing.attacks.liars import LIARS_SHARE, LiarShift, liar_games
from croupier.auditing.attacks.link import LinkGame
from croupier.auditing.attacks.order import HouseholdGame, PlaceGame, household_size
from croupier.auditing.attacks.rounds import RoundsGame
from croupier.auditing.attacks.scene import Scene, scenes
from croupier.auditing.attacks.senders import Link, sender_games
from croupier.auditing.attacks.state import AttackState
from croupier.auditing.attacks.value import InformedGame, UninformedGame
from croupier.errors import ParameterError, RenamedError, TooLargeError, UnknownNameError
from croupier.model.evidence import REFUTATION_CONFIDENCE, Evidence
from croupier.model.guarantee import Guarantee
from croupier.model.metric import RENAMED, Metric, metric_named
from croupier.model.result import Result
from croupier.model.rung import Rung
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import AtLeast, AtMost
from croupier.numerics.validate import number_of_people
from croupier.plan.plan import Plan, require_plan
from croupier.randomizers.k_rr import KaryRandomizedResponse

__all__ = ["GAMES", "Attacks", "Held", "Played", "Suite", "attack"]

GAMES = 1_000_000
"""Games per attack, unless they take longer than some seconds."""

_RENAMED = RENAMED | {"household": Metric.GUESSED_SHARE}
"""Attacks of version 0.1, and their names today: that of what they measure."""

_HEADINGS = {
    "place": f"{Metric.REIDENTIFICATION.heading} by place",
    "rounds": f"{Metric.GUESS_OF_TWO.heading}, rounds",
}

_CHUNK = 50_000
_LIARS = 1 << 20
"""The random streams of liars, apart from those of the attacks."""

_MOST_PEOPLE = 10**12
"""The largest number of people: beyond it, doubles no longer count them one by one."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Played(Result):
    """One attack on one rung, and its measurement.

    Attributes:
        rung: The attacker's position.
        name: The attack.
        evidence: The measurement with an interval of the confidence that was asked for.
        sure: A lower limit so certain that all attacks together raise a false alarm with
            probability 1e-6 at most.
        cell: The proved bound on the same metric; None if no bound exists.
    """

    rung: Rung
    name: str
    evidence: Evidence
    sure: Evidence
    cell: Cell

    @property
    def metric(self) -> Metric:
        """The measured metric."""
        return self.evidence.metric

    @property
    def heading(self) -> str:
        """The name of its row: that of what is measured, unless another attack measures it too."""
        return _HEADINGS.get(self.name, self.metric.heading)

    @property
    def _summary(self) -> str:
        return f"{self.name} of {self.rung}: {self.metric} {self.evidence.measured:.4g}"

    def _records(self) -> list[dict[str, Any]]:
        seen = self.evidence
        return [
            {
                "rung": self.rung,
                "attack": self.name,
                "metric": self.metric,
                "proved": self.cell.proved_value,
                "measured": seen.measured,
                "lower": AtLeast(seen.lower),
                "upper": AtMost(seen.upper),
                "confidence": seen.confidence,
                "gap": self.gap,
                "ratio": self.ratio,
                "games": seen.games,
                "refuted": self.refuted,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the attack as in JSON, with its verdict on the proof."""
        own = {"gap": self.gap, "ratio": self.ratio, "refuted": self.refuted}
        return super().to_dict() | own

    @property
    def refuted(self) -> bool:
        """True if the attack refutes the proof."""
        return self.cell.proved is not None and self.refutes(self.cell.proved)

    @property
    def gap(self) -> float | None:
        """The share of the proved limit by which the measurement stays below it."""
        return None if self.ratio is None else 1 - self.ratio

    @property
    def ratio(self) -> float | None:
        """The measurement over the proved limit; None if nothing, or zero, is proved."""
        limit = self.cell.proved_value
        return self.evidence.measured / limit if limit else None

    def refutes(self, guarantee: Guarantee) -> bool:
        """Tell whether the attack did better than was proved possible, almost certainly."""
        return self.sure.refutes(guarantee)


@dataclass(frozen=True, kw_only=True)
class Held:
    """A claim about a plan, compared with the attack that does best against it.

    Attributes:
        claim: Rung and metric, such as "batch.epsilon".
        value: The claimed maximum.
        played: The attack.
    """

    claim: str
    value: float
    played: Played

    @property
    def refuted(self) -> bool:
        """True if the attack did better than is claimed, almost certainly."""
        return self.played.sure.lower > self.value


@dataclass(frozen=True, repr=False)
class Attacks(Result):
    """The measurements of all attacks on a plan.

    ``attacks["reidentification"]`` is the attack of a reader of the batch, and
    ``attacks["clients", "reidentification"]`` that of somebody who also controls clients.

    Attributes:
        played: The attacks.
        left_out: The reasons why some attacks were not played.
        links: The shares of envelopes whose sender was named, one per trace that reports leave.
        liars: The shifts of estimates by people who lie, one per question and kind of lie.
    """

    played: tuple[Played, ...]
    left_out: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    liars: tuple[LiarShift, ...] = ()

    def __iter__(self) -> Iterator[Played]:
        return iter(self.played)

    def __len__(self) -> int:
        return len(self.played)

    @property
    def _summary(self) -> str:
        refuted = self.refuted
        verdict = f"{refuted} proofs REFUTED" if refuted else "no proof refuted"
        return f"{len(self)} attacks played, {len(self.left_out)} left out: {verdict}"

    @property
    def refuted(self) -> int:
        """The number of proofs that an attack, or liars, refuted."""
        return sum(one.refuted for one in self.played) + sum(one.refuted for one in self.liars)

    def _records(self) -> list[dict[str, Any]]:
        return [record for one in self.played for record in one._records()]  # noqa: SLF001 - its own

    def __getitem__(self, name: str | tuple[str, str]) -> Played:
        rungs, wanted = (Rung.BATCH, *Rung), name
        if isinstance(name, tuple):
            rungs, wanted = (Rung(name[0]),), name[1]
        for rung in rungs:
            for one in self.played:
                if (one.rung, one.name) == (rung, wanted):
                    return one
        known = dict.fromkeys(one.name for one in self.played if one.rung in rungs)
        if wanted in _RENAMED:
            raise RenamedError(f'attacks["{wanted}"]', f'attacks["{_RENAMED[wanted]}"]')
        raise UnknownNameError(str(wanted), what="an attack that was played here", known=known)

    def held(self, claims: Mapping[str, float]) -> tuple[Held, ...]:
        """Compare claims, such as {"batch.epsilon": 0.01}, with what was measured.

        A claim is the most that an adversary on a rung gains by a metric; an epsilon is meant at
        the plan's delta. All claims and proofs together are refuted by chance with probability
        1e-6 at most, since an attack errs for all of them at once.
        """
        found = []
        measured = [(one.rung, one.metric) for one in self.played]
        for (rung, metric), value in _claimed(claims, measured):
            matching = [one for one in self.played if (one.rung, one.metric) == (rung, metric)]
            best = max(matching, key=lambda one: one.sure.lower)
            found.append(Held(claim=f"{rung}.{metric}", value=value, played=best))
        return tuple(found)


def _claimed(
    claims: Mapping[str, float], measured: Iterable[tuple[Rung, Metric]]
) -> Iterator[tuple[tuple[Rung, Metric], float]]:
    """Yield the adversary, the metric and the value of each claim, if an attack measures it."""
    known = {f"{rung}.{metric}": (rung, metric) for rung, metric in measured}
    for claim, value in claims.items():
        rung, _, name = claim.partition(".")
        spelled = claim
        with suppress(UnknownNameError):
            spelled = f"{rung}.{metric_named(name)}"
        if spelled not in known:
            raise UnknownNameError(claim, what="measured by an attack here", known=known)
        if not value >= 0:
            raise ParameterError(claim, must="be claimed to be at least 0", got=value)
        yield known[spelled], value


def attack(  # noqa: PLR0913 - keyword-only facts about one series of games
    plan: Plan,
    *,
    games: float = GAMES,
    confidence: float = 0.95,
    liars: float = LIARS_SHARE,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    resume: Path | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Attacks:
    """Play every attack that applies to a plan, at its minimum batch.

    The attackers are optimal against people who all hold one value (except the uninformed guess):
    their likelihoods are exact, for the integers that are deployed. Their measurements are
    evidence. They may refute a proof; they satisfy no policy, since a better attack may exist.

    Args:
        plan: The plan to attack.
        games: The number of games per attack, at most; fewer if that takes long.
        confidence: The coverage of the intervals that are shown.
        liars: The share of people who send the reports that move an estimate most; 0 for none.
        rng: Seeds the games; the operating system if left out.
        insecure_seed: Instead of `rng`: plays the same games again.
        resume: A file that keeps the played games, to continue after an interruption.
        advance: Called with the number of games after each piece of work.

    Example:
        >>> plan = Plan.from_toml('''
        ... schema = 2
        ... randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
        ... population.enrolled = 1_000
        ... protections.minimum_batch = 1_000
        ... ''')
        >>> found = attack(plan, games=10_000, insecure_seed=7)
        >>> round(found["reidentification"].evidence.measured, 3)  # proved: at most 0.0074
        0.007
    """
    return Suite.of(plan).play(
        games=games,
        confidence=confidence,
        liars=liars,
        rng=rng,
        insecure_seed=insecure_seed,
        resume=resume,
        advance=advance,
    )


@dataclass(frozen=True)
class Suite:
    """The attacks that apply to a plan.

    Attributes:
        plan: The plan to attack.
        attacks: One game per attack.
        left_out: The reasons why some attacks are not played.
    """

    plan: Plan
    attacks: tuple[Game, ...]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan) -> "Suite":
        """Return all attacks that apply."""
        attacks: list[Game] = []
        too_large: dict[str, list[Game]] = {}
        if any(require_plan(plan).dummies):
            return cls(plan, *dummy_games(plan))
        places = list(scenes(plan))
        for scene in places:
            for make in _games(plan, scene):
                game = make()
                try:
                    _ = game.cost  # computes what it needs of the mechanism, or refuses
                except TooLargeError as error:
                    too_large.setdefault(str(error).removesuffix(f" {error.hint}"), []).append(game)
                else:
                    attacks.append(game)
        left_out = [f"{_named(games)}: {reason}" for reason, games in too_large.items()]
        if not any(scene.rung is Rung.BATCH for scene in places):
            left_out.append("batch: rounds ask different questions, and it is unseen who answers")
        return cls(plan, tuple(attacks), tuple(left_out))

    @cached_property
    def ladder(self) -> Ladder:
        """The proofs about the plan that the attacks are compared with."""
        return assess(self.plan)

    def require_measured(self, claims: Mapping[str, float]) -> None:
        """Refuse claims that no attack would test, before any is played; see `Attacks.held`."""
        list(_claimed(claims, ((game.scene.rung, game.metric) for game in self.attacks)))

    def total(self, games: int) -> int:
        """Return the number of games in all if each attack may take `games`."""
        linking = sum(min(games, game.most) for game in sender_games(self.plan))
        return linking + sum(game.affordable(games) for game in self.attacks)

    def play(  # noqa: PLR0913 - keyword-only facts about one series of games
        self,
        *,
        games: float = GAMES,
        confidence: float = 0.95,
        false_alarm: float = 1 - REFUTATION_CONFIDENCE,
        liars: float = LIARS_SHARE,
        rng: Keystream | None = None,
        insecure_seed: int | None = None,
        resume: Path | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> Attacks:
        """Play all attacks.

        `false_alarm` is the chance that a true proof is refuted by any of them; the other arguments
        are those of `attack`.
        """
        games = number_of_people("games", games, least=100)
        if not 0 < confidence < 1:
            raise ParameterError(
                "confidence", must="be in (0, 1)", got=confidence, hint="Try 0.95."
            )
        if not 0 <= liars < 1:
            raise ParameterError("liars", must="be in [0, 1)", got=liars, hint="Try 0.01.")
        state = AttackState(
            self.plan,
            games=games,
            steps=[_step(game) for game in self.attacks],
            rng=rng,
            insecure_seed=insecure_seed,
            file=resume,
        )
        each, ladder = 1 - false_alarm / len(self.attacks), self.ladder
        played = []
        for number, game in enumerate(self.attacks):
            outcomes = _outcomes(game, number, game.affordable(games), state, advance)
            played.append(
                Played(
                    rung=game.scene.rung,
                    name=game.name,
                    evidence=game.evidence(outcomes, confidence=confidence),
                    sure=game.sure_evidence(outcomes, confidence=each),
                    cell=ladder[game.scene.rung][game.metric],
                )
            )
        state.save()
        links = []
        for number, linking in enumerate(sender_games(self.plan), len(self.attacks)):
            hits = linking.play(min(games, linking.most), state.stream(number, 0))
            links.append(Link.of(linking.by, hits, confidence=confidence))
            advance(len(hits))
        shifts, honest = self._liars(liars, state) if liars else ([], [])
        return Attacks(tuple(played), (*self.left_out, *honest), tuple(links), tuple(shifts))

    def _liars(self, share: float, state: AttackState) -> tuple[list[LiarShift], list[str]]:
        """Play liars, and say where none are played."""
        games, left_out = liar_games(self.plan, share)
        shifts = []
        for number, game in enumerate(games):
            shifts += game.play(state.stream(_LIARS, number))
        return shifts, left_out


def _games(plan: Plan, scene: Scene) -> Iterator[Callable[[], Game]]:
    if scene.people > _MOST_PEOPLE:
        raise ParameterError(
            "minimum_batch", must=f"be at most {_MOST_PEOPLE:,} to be attacked", got=scene.people
        )
    rows = scene.rung is not Rung.ESTIMATE or plan.analyzer.publication != "histogram"
    if not scene.alone and rows:
        yield lambda: LinkGame(scene=scene)
    yield lambda: CoinGame(scene=scene)
    if scene.one_answer:
        yield lambda: UninformedGame(scene=scene)
        yield lambda: InformedGame(scene=scene)
    yield lambda: EpsilonGame(scene=scene)
    response = scene.randomizer
    binary = isinstance(response, KaryRandomizedResponse) and response.size == 2
    if scene.rung is Rung.NETWORK and len(plan.randomizers) == 1 and binary:
        yield lambda: RoundsGame(
            scene=scene, protocol=plan.participation_model, everybody=plan.people
        )
    if scene.rung is Rung.BATCH:
        yield from _order_games(plan, scene)


def _named(games: Sequence[Game]) -> str:
    """Name the metrics and the rungs, each once: every rung has the same games."""
    rungs = ", ".join(dict.fromkeys(game.scene.rung for game in games))
    metrics = " and ".join(dict.fromkeys(f'"{game.metric.heading}"' for game in games))
    return f"{metrics} against {rungs}"


def _order_games(plan: Plan, scene: Scene) -> Iterator[Callable[[], Game]]:
    """Yield the games for an observed order that is not uniform."""
    shuffling, response = plan.shuffling, scene.randomizer
    if not shuffling.alpha or shuffling.groups is None or plan.participation_model.rounds > 1:
        return
    sensitivity = shuffling.groups.sensitivity or 1
    theta = shuffling.alpha / sensitivity
    yield lambda: PlaceGame(scene=scene, theta=theta)
    if isinstance(response, KaryRandomizedResponse) and scene.people > 3:
        size = min(household_size(sensitivity), scene.people // 2)
        yield lambda: HouseholdGame(scene=scene, theta=theta, size=size)


def _step(game: Game) -> int:
    """Return the number of games per random stream."""
    return max(1, min(_CHUNK, 20_000_000 // game.cost))


def _outcomes(
    game: Game, number: int, games: int, state: AttackState, advance: Callable[[int], None]
) -> Outcomes:
    """Return the outcomes of all games of an attack: those that were kept, and the rest."""
    name = f"{number} {game.scene.rung} {game.name}"
    kept = state.played(name)
    done = 0 if kept is None else len(kept)
    advance(done)
    step = _step(game)
    while kept is None or len(kept) < games:
        start = 0 if kept is None else len(kept)
        size = min(step, games - start)
        fresh = game.play(size, state.stream(number, start // step))
        kept = fresh if kept is None else np.concatenate([kept, fresh])
        state.keep(name, kept)
        advance(size)
    return kept

"""The tradeoff of a shuffle: what it takes from an attacker and leaves to an analyst."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Self

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.locality.gaussian_process import guessed_share
from croupier.auditing.locality.inference import voters, vulnerable_share
from croupier.auditing.locality.learnability import (
    accuracy,
    check_learning,
    learning_error,
    local_shares,
    trained_model,
)
from croupier.auditing.locality.local_shuffle import Setting, near_sites
from croupier.datasets.community import Community
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.intervals import median_interval
from croupier.numerics.keystream import Keystream, stream
from croupier.numerics.validate import number_of_people
from croupier.randomizers.k_rr import KaryRandomizedResponse

__all__ = ["Attack", "Learned", "Point", "tradeoff"]

_NEIGHBOUR = Adversary(sees=frozenset({View.BATCH}), knows=Knowledge.NOTHING, wants=Goal.GUESS)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The parameters of the attack on people.

    Attributes:
        radius: The distance from a person, or the number of contacts, within which reports count.
        length: The distance over which people are alike, for the Gaussian process.
        neighbours: The number of reports that are counted.
        resamples: The number of fresh noises with which the same order is attacked.
        sure: The share of them in which the guess must be right for a person to be vulnerable.
    """

    radius: float
    length: float
    neighbours: int = 25
    resamples: int = 50
    sure: float = 0.9


@dataclass(frozen=True, kw_only=True)
class Learned:
    """The result of an analyst's model: the median of trials, and their least and greatest."""

    measured: float
    lower: float
    upper: float
    confidence: float
    trials: int


@dataclass(frozen=True, kw_only=True)
class Point:
    """One shuffle, evaluated.

    Attributes:
        setting: The shuffle.
        vulnerable: rho, the share of people whom the vote of neighbours finds nearly always.
        guessed: The share of people whose value a Gaussian process guesses.
        error: lambda, the analyst's error over that of the uniform guess.
        accuracies: The share of unseen people whose value is named, by level, the finest first.
    """

    setting: Setting
    vulnerable: Evidence
    guessed: Evidence
    error: Learned
    accuracies: tuple[Learned, ...] = ()


def tradeoff(  # noqa: PLR0913 - keyword-only facts about one study
    community: Community,
    settings: Iterable[Setting],
    attack: Attack,
    *,
    epsilon_local: float = 2.5,
    trials: int = 6,
    test: Community | None = None,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[Point]:
    """Attack and learn from batches of one community under several shuffles.

    Everybody answers by k-ary randomized response. A trial draws an order, attacks it under many
    fresh noises, and trains a model on one batch. The measurement is the median over trials, that
    is over orders, noises and the attacker's ties; the interval, from the least trial to the
    greatest, covers it with confidence 1 - 2^(1 - trials).

    Args:
        community: The people.
        settings: The shuffles.
        attack: The parameters of the attack.
        epsilon_local: The epsilon of the response.
        trials: The number of independent trials.
        test: Unseen people of the same kind, to also learn the values at each level.
        rng: The source of all draws; the operating system if left out.
        insecure_seed: Instead of `rng`: makes them repeatable.
        advance: Called after each trial.

    Direction: measurements, not bounds: a better attack or model may do better.

    Reference: meehan2022, Section 5. There, errors are a standard deviation of 10 trials.
    """
    check_learning()
    trials = number_of_people("trials", trials, least=2)
    rng = stream(rng, insecure_seed)
    study = _Study.prepared(community, attack, epsilon_local, test, rng)
    for setting in settings:
        played = []
        for _ in range(trials):
            played.append(study.trial(setting, rng))
            advance(1)
        shares, guesses, errors, right = zip(*played, strict=True)
        yield Point(
            setting=setting,
            vulnerable=_evidence(Metric.VULNERABLE_SHARE, shares),
            guessed=_evidence(Metric.GUESSED_SHARE, guesses),
            error=_learned(errors),
            accuracies=tuple(_learned(level) for level in zip(*right, strict=True)),
        )


@dataclass(frozen=True, kw_only=True)
class _Study:
    """The facts that are the same in all trials: the counted reports and the truth."""

    community: Community
    attack: Attack
    response: KaryRandomizedResponse
    counted: NDArray[np.int64]
    truth: NDArray[np.float64]
    levels: list[NDArray[np.int64]]
    test: Community | None

    @classmethod
    def prepared(
        cls,
        community: Community,
        attack: Attack,
        epsilon_local: float,
        test: Community | None,
        rng: Keystream,
    ) -> Self:
        k = len(community.labels)
        near = near_sites(community, attack.radius)
        coarser = [np.asarray(level) for level in community.levels]
        return cls(
            community=community,
            attack=attack,
            response=KaryRandomizedResponse(k=k, max_epsilon_local=epsilon_local),
            counted=voters(community, near, count=attack.neighbours, rng=rng),
            truth=local_shares(community, near),
            levels=[np.arange(k)] if test is None else [np.arange(k), *coarser],
            test=test,
        )

    def trial(self, setting: Setting, rng: Keystream) -> tuple[float, float, float, list[float]]:
        """Return rho, the share guessed, lambda, and the accuracy at each level."""
        order = setting.shuffler.order(len(self.community), rng=rng)
        found = vulnerable_share(
            self.community,
            self.counted,
            order,
            self.response,
            resamples=self.attack.resamples,
            sure=self.attack.sure,
            rng=rng,
        )
        batch = self.response.randomize(self.community.values, rng=rng)[order]
        guessed = guessed_share(self.community, batch, length=self.attack.length, rng=rng)
        seed = int(rng.integers(2**31, 1)[0])
        models = [
            trained_model(self.community.places, level[batch], k=int(level.max()) + 1, seed=seed)
            for level in self.levels
        ]
        right = [
            accuracy(model, self.test, level=level)
            for model, level in zip(models, self.levels, strict=True)
            if self.test is not None
        ]
        error = learning_error(self.community, self.truth, models[0], self.response)
        return found, guessed, error, right


def _evidence(metric: Metric, trials: tuple[float, ...]) -> Evidence:
    interval = median_interval(trials)
    return Evidence(
        metric=metric,
        measured=median(trials),
        lower=interval.lower,
        upper=interval.upper,
        confidence=interval.confidence,
        adversary=_NEIGHBOUR,
        games=len(trials),
    )


def _learned(trials: tuple[float, ...]) -> Learned:
    interval = median_interval(trials)
    return Learned(
        measured=median(trials),
        lower=interval.lower,
        upper=interval.upper,
        confidence=interval.confidence,
        trials=len(trials),
    )

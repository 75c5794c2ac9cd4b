"""Side-channel attacks played: how often the best attacker is right, beside what is proved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.blanket import upper_curve
from croupier.accounting.curve import Curve
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.evidence import REFUTATION_CONFIDENCE, Evidence
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.model.participation import Crowd, Participation
from croupier.numerics.intervals import clopper_pearson
from croupier.numerics.keystream import Keystream, generator, stream
from croupier.numerics.validate import number_of_people
from croupier.randomizers.delta_summation import DeltaSummation
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.sidechannels.cardinality import count_guess, observed_counts
from croupier.sidechannels.participation import HIERARCHY_LENGTHS, Observed, seen_crowds

__all__ = ["Simulated", "participation_hits", "simulate_cardinality", "simulate_participation"]

Real = NDArray[np.float64]

_VIEWS = {
    Observed.NOTHING: frozenset({View.BATCH}),
    Observed.IN_OUT: frozenset({View.BATCH, View.PARTICIPATION}),
    Observed.LENGTH: frozenset({View.BATCH, View.PARTICIPATION, View.LENGTHS}),
}


@dataclass(frozen=True)
class Simulated:
    """A simulated attack beside what is known about it.

    Attributes:
        evidence: The share of games in which the attacker was right, with an interval.
        predicted: The prediction of the exact law; None if it is not computed.
        proved_upper: The proved upper limit of any attacker.
    """

    evidence: Evidence
    predicted: float | None
    proved_upper: float

    @property
    def refuted(self) -> bool:
        """True if the attacker did better than was proved possible, almost certainly."""
        right = round(self.evidence.measured * self.evidence.games)
        sure = clopper_pearson(right, self.evidence.games, confidence=REFUTATION_CONFIDENCE)
        return sure.lower > self.proved_upper


def simulate_participation(  # noqa: PLR0913 - keyword-only facts about one game
    participation: Participation,
    *,
    n: int,
    epsilon_local: float,
    observed: Observed,
    games: int,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    lengths: Sequence[Fraction] = HIERARCHY_LENGTHS,
    confidence: float = 0.95,
) -> Simulated:
    """Guess a person's bit from the crowd that the side channel singles out.

    Everybody answers by binary randomized response. A fair coin chooses the person's bit; all
    others hold 0 and the attacker knows it. Of a crowd with N reports, C of them ones, the
    likelihood ratio of the two bits is

        (C/N) p/(1 - p) + (1 - C/N) (1 - p)/p,

    where p is the chance of the truth; the attacker follows it, and tosses a coin at a tie.

    The prediction is the exact total variation of the two batches, averaged over crowds. A person
    who is asked in several rounds (subsampling, rounds seen) is attacked in all of them together;
    that has no prediction.

    Args:
        participation: The law of who takes part in which round.
        n: The number of people.
        epsilon_local: The epsilon of the response.
        observed: The attacker's view.
        games: The number of games.
        rng: The source of the games; the operating system if left out.
        insecure_seed: Instead of `rng`: plays the same games again.
        lengths: The probabilities of the lengths of a message.
        confidence: The coverage of the interval.

    Example:
        >>> from croupier.model.participation import Multinomial
        >>> played = simulate_participation(
        ...     Multinomial(weights=(1,) * 10), n=1000, epsilon_local=1.0,
        ...     observed=Observed.IN_OUT, games=20_000, insecure_seed=1,
        ... )
        >>> played.evidence.lower <= played.predicted <= played.evidence.upper
        True
    """
    games = number_of_people("games", games, least=1)
    n = number_of_people("n", n, least=1, most=10**15)
    observed = Observed(observed)
    response = KaryRandomizedResponse(k=2, max_epsilon_local=epsilon_local)
    crowds = _of_anybody(seen_crowds(participation, n=n, observed=observed, lengths=lengths))
    right = int(
        participation_hits(
            participation,
            n=n,
            response=response,
            observed=observed,
            games=games,
            rng=generator(rng, insecure_seed),
            lengths=lengths,
        ).sum()
    )
    if participation.sampled:
        predicted, proved = None, _asked_often(response, crowds, participation, n)
    else:
        predicted = 0.5 + 0.5 * _total_variation(response, crowds, upper=False)
        proved = 0.5 + 0.5 * _total_variation(response, crowds, upper=True)
    measured = _evidence(right, games, _VIEWS[observed], confidence)
    return Simulated(measured, predicted, min(1.0, proved))


def participation_hits(  # noqa: PLR0913 - keyword-only facts about one game
    participation: Participation,
    *,
    n: int,
    response: KaryRandomizedResponse,
    observed: Observed,
    games: int,
    rng: np.random.Generator,
    lengths: Sequence[Fraction] = HIERARCHY_LENGTHS,
) -> NDArray[np.bool_]:
    """Return the games of `simulate_participation` in which the attacker is right."""
    truth, lie = (float(level) for level in response.levels)
    crowds = _of_anybody(seen_crowds(participation, n=n, observed=observed, lengths=lengths))
    bits = rng.integers(2, size=games)
    if participation.sampled:
        if observed is Observed.NOTHING:
            raise ParameterError("observed", must="show the rounds of a subsampled person")
        times = rng.binomial(participation.rounds, float(participation.chance(n)), size=games)
    else:
        times = np.ones(games, dtype=np.int64)
    evidence = _log_ratio(crowds, bits, times, truth, lie, rng)
    guess = np.where(evidence == 0, rng.integers(2, size=games), evidence > 0)
    return np.asarray(guess == bits)


def simulate_cardinality(
    protocol: DeltaSummation,
    *,
    games: int,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
    confidence: float = 0.95,
) -> Simulated:
    """Guess a person's bit from the number of messages of the Delta-summation protocol.

    Each bit is a fair coin; the messages are those that the implementation would send,
    and the attacker follows the exact law of their number.

    Example:
        >>> protocol = DeltaSummation(n=10_000, epsilon=1.0, delta=1e-6, gamma=0.1)
        >>> simulate_cardinality(protocol, games=2_000, insecure_seed=1).predicted
        0.99991...
    """
    games = number_of_people("games", games, least=2)
    channel = observed_counts(protocol)
    rng = stream(rng, insecure_seed)
    bits = rng.integers(2, games).astype(np.int64)
    sent = protocol.counts(bits, rng=rng).sum(axis=1)
    zero, one = channel.probabilities
    guess = (one[sent] > zero[sent]).astype(np.int64)
    right = int((guess == bits).sum())
    best = count_guess(channel).value
    return Simulated(_evidence(right, games, frozenset({View.COUNTS}), confidence), best, best)


def _of_anybody(crowds: Sequence[Crowd]) -> list[Crowd]:
    """Return the crowds of a person who is equally likely any of those in all groups."""
    sizes = {crowd.group: crowd.people for crowd in crowds}
    total = sum(sizes.values())
    return [
        replace(crowd, probability=crowd.probability * Fraction(sizes[crowd.group], total))
        for crowd in crowds
    ]


def _log_ratio(  # noqa: PLR0913, PLR0917 - one game's coins and numbers
    crowds: Sequence[Crowd],
    bits: NDArray[np.int64],
    times: NDArray[np.int64],
    truth: float,
    lie: float,
    rng: np.random.Generator,
) -> Real:
    """Return the log-likelihood ratio of bit 1 to bit 0, over all reports of a person."""
    chances = np.array([float(crowd.probability) for crowd in crowds])
    people = np.array([crowd.people for crowd in crowds] + [1])
    shares = np.array([float(crowd.share) for crowd in crowds] + [0.0])
    sent = np.append(chances, max(0.0, 1 - chances.sum()))
    found = np.zeros(len(bits))
    for turn in range(int(times.max(initial=0))):
        active = np.flatnonzero(times > turn)
        crowd = rng.choice(len(sent), size=len(active), p=sent / sent.sum())
        reports = 1 + rng.binomial(people[crowd] - 1, shares[crowd])
        honest = rng.random(len(active)) < truth
        own = np.where(honest, bits[active], 1 - bits[active])
        ones = own + rng.binomial(reports - 1, lie)
        share = ones / reports
        ratio = np.log(share * (truth / lie) + (1 - share) * (lie / truth))
        found[active] += np.where(crowd < len(crowds), ratio, 0.0)
    return found


def _total_variation(
    response: KaryRandomizedResponse, crowds: Sequence[Crowd], *, upper: bool
) -> float:
    """Return the total variation of the two batches, on average over crowds.

    It is bounded for any others by the blanket, or exact for others who hold 0.
    """
    law = upper_curve if upper else _others_hold_zero
    return math.fsum(
        float(crowd.probability)
        * law(response, n=crowd.people, report_probability=float(crowd.share)).delta(0.0)
        for crowd in crowds
    )


def _others_hold_zero(
    response: KaryRandomizedResponse, *, n: int, report_probability: float
) -> Curve:
    zero, one = response.channel().probabilities
    laws = Laws(zero, one, zero, Fraction(1))
    pair = ShuffledPair.among(laws, n, report_probability=report_probability)
    return Curve([pair], Direction.LOWER, response.epsilon_local, "exact, others hold 0", ())


def _asked_often(
    response: KaryRandomizedResponse,
    crowds: Sequence[Crowd],
    participation: Participation,
    n: int,
) -> float:
    """Return the limit for a person asked in T ~ Bin(K, g) rounds: 1/2 + (1 - (1 - g D)^K)/2.

    It holds since T rounds leave a Bayes security of at least (1 - D)^T.
    """
    one = _total_variation(response, crowds, upper=True)
    share = float(participation.chance(n))
    return 0.5 - 0.5 * math.expm1(participation.rounds * math.log1p(-share * min(1.0, one)))


def _evidence(right: int, games: int, views: frozenset[View], confidence: float) -> Evidence:
    interval = clopper_pearson(right, games, confidence=confidence)
    return Evidence(
        metric=Metric.GUESS_OF_TWO,
        measured=right / games,
        lower=interval.lower,
        upper=interval.upper,
        confidence=confidence,
        adversary=Adversary(sees=views, wants=Goal.GUESS),
        games=games,
    )

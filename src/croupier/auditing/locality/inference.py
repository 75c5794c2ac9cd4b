"""The vote of neighbours: a person's value, guessed from the reports of those who are alike."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.datasets.community import Community
from croupier.errors import ParameterError
from croupier.model.randomizer import Randomizer
from croupier.numerics.keystream import Keystream, generator, stream
from croupier.numerics.validate import number_of_people
from croupier.shufflers.groups import Groups

__all__ = ["vote", "voters", "vulnerable_share"]


def voters(
    community: Community,
    near: Groups,
    *,
    count: int = 25,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> NDArray[np.int64]:
    """Choose for each person whose reports the attacker counts: those near who are most alike.

    The person comes first; then, of all at near places, those whose privileged attribute is
    closest, or who agree in it if it is a label, or random ones if there is none. Ties are drawn.

    Args:
        community: The people.
        near: For each place those within the attacker's radius.
        count: The number of reports that are counted.
        rng: The source of draws; the operating system if left out.
        insecure_seed: Instead of `rng`: makes them repeatable.

    Returns:
        One row per person; -1 fills the rows of those with fewer neighbours.
    """
    count = number_of_people("count", count, least=1)
    if near.n != len(community.sites) or len(near) != near.n:
        raise ParameterError("near", must="be one group of places for each place")
    draws = generator(rng, insecure_seed)
    by_site = np.argsort(community.site, kind="stable")
    ends = np.cumsum(np.bincount(community.site, minlength=near.n))
    people = np.split(by_site, ends[:-1])
    chosen = np.full((len(community), count), -1)
    for targets, sites in zip(people, near, strict=True):
        around = draws.permutation(np.concatenate([people[site] for site in sites.tolist()]))
        unlike = _unlike(community.privileged, targets, around)
        unlike[around == targets[:, None]] = -1
        closest = np.argsort(unlike, axis=1, kind="stable")[:, :count]
        chosen[targets, : closest.shape[1]] = around[closest]
    return chosen


def vote(
    reports: NDArray[Any],
    voters: NDArray[np.int64],
    *,
    k: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the value that most voters of each person report; a random one at a tie.

    >>> nobody = -1
    >>> of_whom = np.array([[0, 1, 2], [1, nobody, nobody]])
    >>> vote(np.array([1, 0, 1]), of_whom, k=2, rng=np.random.default_rng(1)).tolist()
    [1, 0]
    """
    # Nobody, -1, indexes an entry after all reports: a value that does not count.
    said = np.append(reports, k)[voters]
    ballots = np.arange(len(voters))[:, None] * (k + 1) + said
    counts = np.bincount(ballots.ravel(), minlength=len(voters) * (k + 1)).reshape(-1, k + 1)
    return np.asarray((counts[:, :k] + 0.5 * rng.random((len(voters), k))).argmax(axis=1))


def vulnerable_share(  # noqa: PLR0913 - one game's people, order and noise
    community: Community,
    voters: NDArray[np.int64],
    order: NDArray[np.int64],
    response: Randomizer,
    *,
    resamples: int = 50,
    sure: float = 0.9,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> float:
    """Return rho: the share of people whose value the vote finds nearly always.

        rho = (1/n) #{i : #{s : vote_i(order(R_s(x))) = x_i} >= sure * resamples}

    where x are the values, R_s the randomizer (`response`) with fresh noise, and `order` the one
    order that was drawn for all of them: noise is averaged over, the shuffle is not. So even under
    a uniform order some people are found again and again, by luck or because most people hold the
    same value.

    Direction: a measurement; a better attack may find more.

    Reference: meehan2022, Section 5, with the same amount of noise and also a single order.
    """
    resamples = number_of_people("resamples", resamples, least=1)
    if not 0 < sure <= 1:
        raise ParameterError("sure", must="be in (0, 1]", got=sure, hint="Try 0.9.")
    rng = stream(rng, insecure_seed)
    draws, k = generator(rng), len(community.labels)
    right = np.zeros(len(community), dtype=np.int64)
    for _ in range(resamples):
        batch = response.randomize(community.values, rng=rng)[order]
        right += vote(batch, voters, k=k, rng=draws) == community.values
    return float((right >= math.ceil(sure * resamples)).mean())


def _unlike(
    privileged: NDArray[Any] | None, targets: NDArray[np.int64], around: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how much each of those around differs from each target."""
    if privileged is None:
        return np.zeros((len(targets), len(around)))
    entries = np.asarray(privileged)
    own, other = entries[targets][:, None], entries[around]
    if entries.dtype.kind in "iuf":
        return np.asarray(np.abs(own.astype(np.float64) - other))
    return np.asarray(own != other, dtype=np.float64)

"""Bayes security: the share of an adversary's chance of error that a channel leaves."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.leakage.easiest_pair import easiest_pair, exact_overlap
from croupier.leakage.prior import Prior, checked_prior
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.bracket import Bracket
from croupier.model.channel import Channel
from croupier.model.domain import Categories, Grid
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.numerics.rounding import float_above, float_below

__all__ = ["SecretPair", "bayes_security", "bayes_security_bracket", "prior_bayes_security"]
__all__ += ["risk_left", "witness"]

_OWN_REPORT = Adversary(sees=frozenset({View.REPORTS}), wants=Goal.DISTINGUISH)
_MOST_EUCLIDEAN = 20_000
_THEOREM = "total variation (Chatzikokolakis et al. 2023, Theorems 1, 2)"


@dataclass(frozen=True)
class SecretPair:
    """The two secrets that are easiest to tell apart, and the overlap of their laws.

    Attributes:
        first: One secret, by its label.
        second: The other.
        overlap: The sum over outputs of the smaller of the two probabilities: beta* itself.
    """

    first: Hashable
    second: Hashable
    overlap: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """The claim that this pair witnesses."""
        return _guarantee(float_below(self.overlap), Direction.EXACT)


def bayes_security(
    source: Channel | Randomizer, *, secrets: Sequence[Hashable] | None = None
) -> Guarantee:
    """beta*: the least share of the error of guessing that remains after one output is seen.

        beta* = min over priors of R(prior, C)/R(prior) = 1 - max over a, b of TV(C_a, C_b),

    attained by a fair coin between the two secrets of `witness`. At 1 nothing is learned; at 0 some
    two secrets are told apart for certain.

    Holds for anyone who sees the output, and knows anything else that is independent of the noise.
    Direction: exact, to the rounding of one double.
    Reference: chatzikokolakis2023, Theorems 1 and 2.

    Args:
        source: A channel, or a randomizer (one report whose sender is known).
        secrets: Labels of the inputs between which to distinguish; all if left out.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> bayes_security(KaryRandomizedResponse(k=400, max_epsilon_local=3.3)).value
        0.938718928903...
    """
    return witness(source, secrets=secrets).guarantee


def witness(
    source: Channel | Randomizer, *, secrets: Sequence[Hashable] | None = None
) -> SecretPair:
    """The pair of secrets that proves that beta* is no larger.

    Example:
        >>> witness(Channel.from_weights([[2, 2], [3, 1], [1, 3]], 4))
        SecretPair(first=1, second=2, overlap=Fraction(1, 2))
    """
    if isinstance(source, Randomizer):
        pairs = source.representative_pairs()
        if pairs is not None and secrets is None:
            return min((_between(source, *pair) for pair in pairs), key=lambda w: w.overlap)
        channel = source.channel()
    else:
        channel = source
    if secrets is not None:
        channel = _restricted(channel, secrets)
    first, second = easiest_pair(channel)
    overlap = exact_overlap(channel, first, second)
    return SecretPair(channel.inputs[first], channel.inputs[second], min(overlap, Fraction(1)))


def bayes_security_bracket(channel: Channel) -> Bracket:
    """Enclose beta* for a channel with too many rows to scan all pairs.

    With m the mean row and d the largest L1 distance of a row from it, 1 - d <= beta*. The row
    farthest from the mean and the row farthest from that one are a pair: beta* is at most their
    overlap, which is at most 1 - d/2. If the Euclidean diameter D is affordable, it also gives 1 -
    sqrt(outputs) D/2 <= beta*.

    Direction: a bracket, both ends rounded outward.
    Reference: chatzikokolakis2023, Proposition 5, and the trivial embedding of L1 into L2.

    Example:
        >>> str(bayes_security_bracket(Channel.from_weights([[2, 2], [3, 1], [1, 3]], 4)))
        'bayes_security between 0.499 and 0.500'
    """
    rows = channel.probabilities
    count, columns = rows.shape
    error = (columns + 2) * float(np.finfo(np.float64).eps)
    error += float(np.abs(rows.sum(axis=1) - 1).max())
    from_mean = np.abs(rows - rows.mean(axis=0)).sum(axis=1)
    first = int(from_mean.argmax())
    second = int(np.minimum(rows, rows[first]).sum(axis=1).argmin())
    lower = 1 - float(from_mean[first])
    if count <= _MOST_EUCLIDEAN:
        lower = max(lower, 1 - math.sqrt(columns) * _euclidean_diameter(rows) / 2)
    upper = min(1.0, float_above(exact_overlap(channel, first, second)))
    return Bracket(
        lower=_guarantee(
            min(upper, max(0.0, lower - 2 * error)),
            Direction.LOWER,
            "distance from the mean row (Chatzikokolakis et al. 2023, Proposition 5)",
        ),
        upper=_guarantee(
            upper,
            Direction.UPPER,
            "the overlap of one pair of rows (Chatzikokolakis et al. 2023, Theorem 2)",
        ),
    )


def prior_bayes_security(channel: Channel, prior: Prior | None = None) -> float:
    """beta(prior, C): the share of the error of guessing that remains, for a given prior.

        (1 - sum over y of max over x of prior_x C(x, y)) / (1 - max over x of prior_x)

    Never below beta*. One minus this, for the uniform prior, is the adversary's advantage.

    Raises:
        ParameterError: The prior leaves no doubt, so there is no error of which a share can remain.

    Example:
        >>> prior_bayes_security(Channel.from_weights([[3, 1], [1, 3]], 4))
        0.5
    """
    return risk_left(channel, 1 - np.eye(channel.shape[0]), prior=prior)


def risk_left(channel: Channel, loss: ArrayLike, *, prior: Prior | None = None) -> float:
    """beta_l: the share of the expected loss of the best guess that remains.

        sum over y of min over w of sum_x prior_x C(x, y) l(w, x)
        divided by min over w of sum_x prior_x l(w, x)

    where l(w, x) >= 0, row w of `loss`, is lost by guessing w when the secret is x. The loss 0 if
    w = x, else 1, gives `prior_bayes_security`. For other losses beta_l may be below beta*.

    Reference: chatzikokolakis2023, Appendix F; the 0-1 loss is 1, not 0, for a wrong guess.

    Example:
        >>> response = Channel.from_weights([[3, 1], [1, 3]], 4)
        >>> risk_left(response, [[0, 1], [1, 0]])
        0.5
    """
    law = np.array([float(chance) for chance in checked_prior(prior, channel.shape[0])])
    lost = np.asarray(loss, dtype=np.float64)
    if lost.ndim != 2 or lost.shape[1] != len(law) or not (lost >= 0).all():
        raise ParameterError(
            "loss", must="be non-negative, one row per guess, one column per secret"
        )
    before = float((lost @ law).min())
    if before <= 0:
        raise ParameterError(
            "prior", must="leave some doubt: the best guess by luck alone loses nothing"
        )
    after = float((lost @ (law[:, None] * channel.probabilities)).min(axis=0).sum())
    return min(1.0, after / before)


def _between(source: Randomizer, first: Any, second: Any) -> SecretPair:
    classes = source.likelihood_classes(first, second)
    overlap = sum(map(min, classes.first, classes.second), Fraction(0))
    if isinstance(source.domain, Categories):
        first, second = source.domain.labels[first], source.domain.labels[second]
    elif isinstance(source.domain, Grid):
        first, second = (float(source.domain.points[point]) for point in (first, second))
    return SecretPair(first, second, overlap)


def _restricted(channel: Channel, secrets: Sequence[Hashable]) -> Channel:
    indices = {label: index for index, label in enumerate(channel.inputs)}
    unknown = [label for label in secrets if label not in indices]
    if unknown or len(set(secrets)) < 2:
        raise ParameterError("secrets", must="name at least two inputs of the channel")
    rows = [indices[label] for label in dict.fromkeys(secrets)]
    return Channel(channel.weights[rows], channel.denominator, list(dict.fromkeys(secrets)))


def _guarantee(value: float, direction: Direction, theorem: str = _THEOREM) -> Guarantee:
    return Guarantee(
        metric=Metric.BAYES_SECURITY,
        value=value,
        direction=direction,
        adversary=_OWN_REPORT,
        theorem=theorem,
        assumptions=("one output of this channel",),
    )


def _euclidean_diameter(rows: NDArray[np.float64]) -> float:
    """The diameter from the Gram matrix, block by block; rounded up for possible cancellation."""
    squares = (rows**2).sum(axis=1)
    largest = 0.0
    for start in range(0, len(rows), 1024):
        part = slice(start, start + 1024)
        distance = squares[part, None] + squares[None, :] - 2 * rows[part] @ rows.T
        largest = max(largest, float(distance.max()))
    return math.sqrt(largest + 8 * rows.shape[1] * float(np.finfo(np.float64).eps))

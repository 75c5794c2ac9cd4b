"""Learnability: the error of a model that an analyst trains on a shuffled batch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.datasets.community import Community
from croupier.errors import MissingExtraError, ParameterError
from croupier.numerics.simplex import simplex_projection
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.shufflers.groups import Groups

__all__ = ["Model", "accuracy", "check_learning", "learning_error", "local_shares"]
__all__ += ["trained_model"]

Model = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_TREES, _LEAVES = 40, 15
_FOLDS = 2


def check_learning() -> None:
    """Raise an error if scikit-learn is not installed."""
    try:
        import sklearn.calibration  # noqa: F401, PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError("Learnability", package="scikit-learn", extra="learning") from None


def trained_model(
    places: NDArray[np.float64], batch: NDArray[Any], *, k: int, seed: int = 0
) -> Model:
    """Train gradient-boosted trees that say how likely each of k reports is at a place.

    They are calibrated by Platt's logistic curves: each half of the batch calibrates the trees that
    were grown on the other half.

    Reference: meehan2022, Section 5; friedman2001, the trees; platt1999, the curve.
    """
    check_learning()
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - an extra, slow
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    seen, counts = np.unique(batch, return_counts=True)
    if counts.min() < _FOLDS or len(seen) == 1:
        shares = np.bincount(batch, minlength=k) / len(batch)
        return lambda where: np.broadcast_to(shares, (len(where), k))
    trees = HistGradientBoostingClassifier(
        max_iter=_TREES, max_leaf_nodes=_LEAVES, random_state=seed
    )
    calibrated = CalibratedClassifierCV(trees, method="sigmoid", cv=_FOLDS)
    # Trees this small grow faster than threads synchronise.
    with threadpool_limits(1):
        fitted = calibrated.fit(places, batch)

    def model(where: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros((len(where), k))
        with threadpool_limits(1):
            found[:, seen] = fitted.predict_proba(where)
        return found

    return model


def local_shares(community: Community, near: Groups) -> NDArray[np.float64]:
    """Return the truth at each place: how often each value is held by the people near it."""
    k = len(community.labels)
    cells = np.bincount(
        community.site * k + community.values, minlength=len(community.sites) * k
    ).reshape(-1, k)
    held = np.add.reduceat(cells[near.members], near.starts[:-1], axis=0)
    return np.asarray(held / held.sum(axis=1, keepdims=True))


def learning_error(
    community: Community,
    truth: NDArray[np.float64],
    model: Model,
    response: KaryRandomizedResponse,
) -> float:
    """Return lambda: the model's error over the uniform guess's; 0 is perfect, 1 learned nothing.

        lambda = sum_i TV(E(t_i), C(t_i)) / sum_i TV(E(t_i), U)

    where E (`truth`) are the shares of values near person i's place t_i, U is uniform, and C are
    the `model`'s shares of the reports there, with the randomizer's law inverted and projected to
    the nearest valid shares. Low is good for the analyst. It may exceed 1.

    Direction: a measurement; a better model may err less.

    Reference: meehan2022, Section 5, which does not say whether the noise of the reports is
    inverted: its law is public, so we invert it.
    """
    truthful, other = (float(level) for level in response.levels)
    guess = simplex_projection((model(community.sites) - other) / (truthful - other))
    people = np.bincount(community.site, minlength=len(community.sites))
    blind = np.full_like(truth, 1 / truth.shape[1])
    error, blind_error = (
        float(people @ np.abs(truth - shares).sum(axis=1)) for shares in (guess, blind)
    )
    if not blind_error:
        raise ParameterError("values", must="not be uniform near every place: nothing to learn")
    return error / blind_error


def accuracy(model: Model, test: Community, *, level: NDArray[np.int64]) -> float:
    """Return how often a model names the right value of people it has not seen.

    Args:
        model: Trained on reports that were coarsened to `level`.
        test: Other people of the same kind.
        level: The level of each value: itself, or coarser.

    Reference: meehan2022, Section 5 and Figure 5.
    """
    return float((model(test.places).argmax(axis=1) == level[test.values]).mean())

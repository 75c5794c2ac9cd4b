"""People in two clusters of two crescents of two halves: values that show at three scales."""

import numpy as np

from croupier.datasets.community import Community

__all__ = ["granularity"]

_THICKNESS = 0.2
_CELL = 0.02
_CLUSTERS_APART = 4.2


def granularity(*, n: int = 20_000, seed: int = 0) -> Community:
    """Synthetic: eight colours in the plane, which two coarser views merge into four and two.

    Warm and cool clusters lie 1 apart, the two crescents of a cluster 0.4 apart, and the light
    and the dark half of a crescent touch. Places are public, to two hundredths.

    Reference: meehan2022, Figure 1a, for the idea; the numbers are ours.

    Example:
        >>> granularity(n=100).labels[:2]
        ('light red', 'dark red')
    """
    rng = np.random.default_rng(seed)
    crescent = rng.integers(4, size=n)
    angle = np.pi * rng.random(n)
    radius = 1 + _THICKNESS * (rng.random(n) - 0.5)
    across, up = radius * np.cos(angle), radius * np.sin(angle)
    # The second crescent of a cluster is the first, turned round and hooked into it.
    hooked = crescent % 2 == 1
    x = np.where(hooked, 1 - across, across) + _CLUSTERS_APART * (crescent // 2)
    y = np.where(hooked, 0.5 - up, up)
    return Community(
        labels=tuple(
            f"{shade} {hue}"
            for hue in ("red", "orange", "blue", "green")
            for shade in ("light", "dark")
        ),
        values=2 * crescent + (angle > np.pi / 2),
        places=np.round(np.column_stack([x, y]) / _CELL) * _CELL,
        levels=((0, 0, 1, 1, 2, 2, 3, 3), (0, 0, 0, 0, 1, 1, 1, 1)),
        synthetic=True,
    )

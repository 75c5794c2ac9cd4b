"""Places on the earth: distance along a great circle, by chords between points in space."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.validate import array_given, number_given

__all__ = ["chord", "points_on_earth"]

_RADIUS = 6371.0088
"""The mean radius of the earth in km, that of a sphere: off by half a percent at most."""
_ROUNDING = 1e-8
"""A distance in km, ten micrometres, that is far more than rounding moves a point."""


def points_on_earth(places: ArrayLike) -> NDArray[np.float64]:
    """Turn rows of latitude and longitude, in degrees, into points in space, in km.

    >>> points_on_earth([[0, 0], [90, 0]]).round(3).tolist()
    [[6371.009, 0.0, 0.0], [0.0, 0.0, 6371.009]]
    """
    must = "be rows of latitude in [-90, 90] and longitude in [-180, 360], in degrees"
    rows = array_given("places", places, must=must)
    if rows.ndim != 2 or rows.shape[1] != 2 or not len(rows) or rows.dtype.kind not in "iuf":
        raise ParameterError("places", must=must)
    rows = rows.astype(np.float64)
    inside = (np.abs(rows[:, 0]) <= 90) & (rows[:, 1] >= -180) & (rows[:, 1] <= 360)
    if not inside.all():
        raise ParameterError("places", must=must)
    latitude, longitude = np.radians(rows).T
    flat = np.cos(latitude)
    return _RADIUS * np.column_stack(
        [flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]
    )


def chord(distance: float) -> float:
    """Return the straight distance of two points that are so many km apart along a great circle.

    Direction: upper, so that rounding leaves out nobody within the distance.

    >>> round(chord(100.0), 6), round(chord(1e6), 3)
    (99.998973, 12742.018)
    """
    given = number_given("distance", distance)
    return float(2 * _RADIUS * np.sin(min(given / (2 * _RADIUS), np.pi / 2)) + _ROUNDING)

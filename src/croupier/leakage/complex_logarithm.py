"""A complex logarithm that stays accurate next to one."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_one_less"]

Complex = NDArray[np.complex128]


def log_one_less(value: Complex) -> Complex:
    """ln(1 - z) with a relative error of a few roundings for small z; numpy's log1p loses it.

    ln|1 - z| = log1p(|z|^2 - 2 Re z)/2; minus infinity at z = 1.

    >>> log_one_less(np.array([1e-20 + 0j])).tolist()
    [(-1e-20-0j)]
    """
    real, imaginary = value.real, value.imag
    logarithm = np.empty_like(value)
    with np.errstate(divide="ignore"):
        # Rounding may put the square of the modulus of 1 - z below zero where it is zero.
        square = np.maximum(real * (real - 2) + imaginary * imaginary, -1.0)
        logarithm.real = 0.5 * np.log1p(square)
    logarithm.imag = np.arctan2(-imaginary, 1 - real)
    return logarithm

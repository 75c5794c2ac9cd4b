"""A complex logarithm that stays accurate next to one."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_one_less"]

Complex = NDArray[np.complex128]


def log_one_less(value: Complex) -> Complex:
    """ln(1 - z) with a relative error of a few roundings for small z; numpy's log1p loses it.

    ln|1 - z| is log1p(|z|^2 - 2 Re z)/2, and where that loses digits, next to z = 1, the plain
    logarithm of the modulus; minus infinity at z = 1.

    >>> log_one_less(np.array([1e-20 + 0j])).tolist()
    [(-1e-20-0j)]
    """
    real, imaginary = value.real, value.imag
    square = real * (real - 2) + imaginary * imaginary
    near = square < -0.5
    logarithm = np.empty_like(value)
    logarithm.real = 0.5 * np.log1p(np.where(near, 0.0, square))
    with np.errstate(divide="ignore"):
        logarithm.real[near] = np.log(np.hypot(1 - real[near], imaginary[near]))
    logarithm.imag = np.arctan2(-imaginary, 1 - real)
    return logarithm

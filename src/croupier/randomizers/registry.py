"""Mechanisms by name."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from croupier.errors import ParameterError
from croupier.model.domain import Grid
from croupier.model.randomizer import Randomizer
from croupier.model.shelf import provide
from croupier.randomizers.gaussian import DiscreteGaussian
from croupier.randomizers.hadamard import HadamardResponse
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.laplace import DiscreteLaplace
from croupier.randomizers.local_hashing import LocalHashing
from croupier.randomizers.matrix import MatrixRandomizer
from croupier.randomizers.one_bit_mean import OneBitMean
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.rappor import Rappor
from croupier.randomizers.sampled_sign import SampledSign
from croupier.randomizers.subset_selection import SubsetSelection
from croupier.randomizers.unary_encoding import OptimizedUnaryEncoding, SymmetricUnaryEncoding

__all__ = ["MECHANISMS", "parameters", "randomizer"]

MECHANISMS: Mapping[str, type[Randomizer]] = MappingProxyType(
    {
        mechanism.mechanism: mechanism
        for mechanism in (
            KaryRandomizedResponse,
            SymmetricUnaryEncoding,
            OptimizedUnaryEncoding,
            Rappor,
            LocalHashing,
            HadamardResponse,
            SubsetSelection,
            DiscreteLaplace,
            DiscreteGaussian,
            OneBitMean,
            SampledSign,
            MatrixRandomizer,
            ParallelRandomizer,
        )
    }
)
"""Every mechanism that a plan can name."""


def parameters(mechanism: str) -> tuple[str, ...]:
    """The names of a mechanism's parameters.

    >>> parameters("local-hashing")
    ('epsilon_local', 'denominator', 'k', 'labels', 'buckets', 'prime')
    """
    return tuple(field.name for field in _fields(_named(mechanism)))


def randomizer(mechanism: str, **given: Any) -> Randomizer:
    """Build a mechanism from its name and parameters, as a plan or a command line gives them.

    >>> randomizer("k-rr", k=10, epsilon_local=4).epsilon_local
    4.0
    """
    cls = _named(mechanism)
    known = parameters(mechanism)
    for name in given:
        if name not in known:
            raise ParameterError(
                name, must=f"be a parameter of {mechanism}", hint=_nearest(name, known)
            )
    if "grid" in given and not isinstance(given["grid"], Grid):
        given["grid"] = _grid(given["grid"])
    if "queries" in given:
        given["queries"] = tuple(_query(table) for table in given["queries"])
    required = [field.name for field in _fields(cls) if field.default is MISSING]
    missing = [name for name in required if name not in given]
    if missing:
        raise ParameterError(missing[0], must=f"be given for {mechanism}")
    return cls(**given)


def _fields(cls: type[Randomizer]) -> list[Field[Any]]:
    return [field for field in fields(cls) if field.init]  # type: ignore[arg-type]


def _grid(table: Any) -> Grid:
    if not isinstance(table, Mapping) or set(table) != {"low", "high", "step"}:
        raise ParameterError("grid", must="have low, high and step")
    return Grid(**table)


def _query(table: Any) -> Randomizer:
    if isinstance(table, Randomizer):
        return table
    if not isinstance(table, Mapping) or "mechanism" not in table:
        raise ParameterError("queries", must="each have a mechanism and its parameters")
    return randomizer(**table)


def _named(mechanism: str) -> type[Randomizer]:
    if mechanism not in MECHANISMS:
        raise ParameterError(
            "mechanism", must="be a known one", got=mechanism, hint=_nearest(mechanism, MECHANISMS)
        )
    return MECHANISMS[mechanism]


def _nearest(name: str, known: Any) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]}?" if close else f"Try one of {', '.join(known)}."


provide("randomizer", randomizer)

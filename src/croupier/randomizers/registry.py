"""Mechanisms by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from croupier.errors import ParameterError, UnknownNameError, nearest_name
from croupier.model.randomizer import Randomizer
from croupier.randomizers.gaussian import DiscreteGaussian
from croupier.randomizers.hadamard import HadamardResponse
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.laplace import DiscreteLaplace
from croupier.randomizers.local_hashing import LocalHashing
from croupier.randomizers.matrix import MatrixRandomizer
from croupier.randomizers.one_bit_mean import OneBitMean
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.randomizers.parameter import Parameter, parameters_of
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


def parameters(mechanism: str) -> dict[str, Parameter]:
    """List the parameters of a mechanism by name.

    >>> list(parameters("k-rr"))
    ['max_epsilon_local', 'denominator', 'k', 'labels']
    """
    return parameters_of(_named(mechanism))


def randomizer(mechanism: str, **given: Any) -> Randomizer:
    """Build a mechanism from its name and parameters, as a plan or a command line gives them.

    >>> randomizer("k-rr", k=10, max_epsilon_local=4).epsilon_local
    4.0
    """
    cls = _named(mechanism)
    known = parameters_of(cls)
    for name in given:
        if name == "epsilon_local" and "max_epsilon_local" in known:
            raise ParameterError(name, must="be called max_epsilon_local where it is asked for")
        if name not in known:
            raise UnknownNameError(name, what=f"a parameter of {mechanism}", known=tuple(known))
    given = {name: known[name].read(value) for name, value in given.items()}
    if "queries" in given:
        given["queries"] = tuple(_query(table) for table in given["queries"])
    for name, one in known.items():
        if one.required and name not in given:
            raise ParameterError(name, must=f"be given for {mechanism}", hint=one.kind.hint)
    return cls(**given)


def _query(table: Any) -> Randomizer:
    if isinstance(table, Randomizer):
        return table
    if not isinstance(table, Mapping) or "mechanism" not in table:
        raise ParameterError("queries", must="each have a mechanism and its parameters")
    return randomizer(**table)


def _named(mechanism: object) -> type[Randomizer]:
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        raise ParameterError(
            "mechanism",
            must="be a name from `croupier mechanisms`",
            got=mechanism,
            hint=nearest_name(str(mechanism), MECHANISMS),
        )
    return MECHANISMS[mechanism]

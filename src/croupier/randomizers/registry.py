"""Mechanisms by name."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from croupier.errors import ParameterError, UnknownNameError, nearest_name
from croupier.model.randomizer import Randomizer
from croupier.randomizers.parameter import Parameter, parameters_of

__all__ = ["MECHANISMS", "parameters", "randomizer"]

_CLASSES = {
    "k-rr": "k_rr.KaryRandomizedResponse",
    "memoised-k-rr": "memoised.MemoisedResponse",
    "symmetric-unary": "unary_encoding.SymmetricUnaryEncoding",
    "optimized-unary": "unary_encoding.OptimizedUnaryEncoding",
    "rappor": "rappor.Rappor",
    "local-hashing": "local_hashing.LocalHashing",
    "dictionary": "dictionary.Dictionary",
    "text": "text.Text",
    "distribution": "distribution.Distribution",
    "hadamard": "hadamard.HadamardResponse",
    "subset-selection": "subset_selection.SubsetSelection",
    "laplace": "laplace.DiscreteLaplace",
    "gaussian": "gaussian.DiscreteGaussian",
    "one-bit-mean": "one_bit_mean.OneBitMean",
    "sampled-sign": "sampled_sign.SampledSign",
    "plain": "plain.Plain",
    "matrix": "matrix.MatrixRandomizer",
    "parallel": "parallel.ParallelRandomizer",
    "together": "together.TogetherRandomizer",
}
"""The module and the class of every mechanism that a plan can name."""


class _Mechanisms(Mapping[str, type[Randomizer]]):
    """The classes by name, each imported on first use."""

    def __getitem__(self, name: str) -> type[Randomizer]:
        module, _, cls = _CLASSES[name].partition(".")
        found: type[Randomizer] = getattr(import_module(f"{__package__}.{module}"), cls)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


MECHANISMS: Mapping[str, type[Randomizer]] = _Mechanisms()
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

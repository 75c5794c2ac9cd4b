"""Where the floors above leave what builds their parts from a specification.

A plan names its randomizer and its shuffler; the registries that know them stand on a higher floor.
"""

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["build", "provide"]

_BUILDERS: dict[str, Callable[..., Any]] = {}


def provide(noun: str, builder: Callable[..., Any]) -> None:
    """Say what builds a `noun` from the entries of its specification."""
    _BUILDERS[noun] = builder


def build(noun: str, specification: Mapping[str, Any]) -> Any:
    """The part that a specification describes.

    >>> build("randomizer", {"mechanism": "k-rr", "k": 3, "epsilon_local": 1.0}).mechanism
    'k-rr'
    """
    return _BUILDERS[noun](**specification)

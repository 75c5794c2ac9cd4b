"""All searches, by the claim that they try to refute, and a function that runs one."""

from collections.abc import Callable
from functools import partial
from random import Random

from benchmarks.refute import (
    channels,
    composing,
    estimates,
    guessing,
    ladders,
    linking,
    orders,
    pages,
)
from benchmarks.refute.found import Found, Violation
from benchmarks.refute.plans import MODELS

__all__ = ["SEARCHES", "Search", "attempt"]

Search = Callable[[Random, Found], None]

SEARCHES: dict[str, Search] = {
    "channels": channels.search,
    "linking": linking.search,
    "guessing": guessing.search,
    "rounds": composing.search_rounds,
    "participation": composing.search_participation,
    "orders": orders.search,
    "estimates": estimates.search,
    "pages": pages.search,
    **{f"plans, {model}": partial(ladders.search, model=model) for model in MODELS},
}


def attempt(name: str, search: Search, found: Found, *, number: int, seed: int = 0) -> None:
    """Run one case of a search; the same numbers give the same case. A crash is a violation."""
    random = Random(f"{name} {seed} {number}")  # noqa: S311 - to be drawn again
    try:
        search(random, found)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        case = f"case {number} of seed {seed}"
        crash = f"{type(error).__name__}: {error}"
        found.violations.append(Violation(name, crash, "an answer", case))

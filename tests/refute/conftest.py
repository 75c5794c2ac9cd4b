"""Searches with fixed seeds: bounded here, longer by `python -m benchmarks.refute`."""

import pytest

from benchmarks.refute.found import Found
from benchmarks.refute.searches import attempt


@pytest.fixture
def refuted():
    """Runs so many cases of a search and returns what was found."""

    def run(name, search, *, cases, seed=0):
        found = Found()
        for number in range(cases):
            attempt(name, search, found, number=number, seed=seed)
        return found

    return run


@pytest.fixture
def require_true():
    """Fails with the false numbers, unless at least so many were compared and all hold."""

    def require(found, *, cells):
        told = "\n".join(str(violation)[:2000] for violation in found.violations[:5])
        assert not found.violations, f"{len(found.violations)} false numbers:\n{told}"
        assert found.total >= cells, "too few numbers were compared"

    return require

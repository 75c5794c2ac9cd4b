"""Errors that name the cause first."""

import sys

import pytest

from croupier.errors import MissingExtraError


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("jinja2", "The page needs jinja2. In a clone"),
        ("markupsafe", "The page needs jinja2 (import markupsafe failed). In a clone"),
    ],
)
def test_a_missing_extra_names_the_import_that_failed(monkeypatch, missing, said):
    monkeypatch.setitem(sys.modules, missing, None)
    try:
        __import__(missing)
    except ImportError:
        error = MissingExtraError("The page", package="jinja2", extra="plots")
    assert str(error).startswith(said)


def test_a_missing_extra_without_an_import_names_the_package():
    error = MissingExtraError("The page", package="jinja2", extra="plots")
    assert str(error) == (
        "The page needs jinja2. In a clone of the repository, run: pip install '.[plots]'"
    )

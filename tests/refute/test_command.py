"""`python -m benchmarks.refute`: what it counts, what it says, how it ends."""

from random import Random

from benchmarks.refute import __main__ as command
from benchmarks.refute.found import Found
from benchmarks.refute.searches import attempt


def test_it_counts_cells_and_ends_well(capsys):
    assert command.main(["--seconds", "0.5", "--only", "estimates"]) == 0
    told = capsys.readouterr().out
    assert "unbiased" in told
    assert "FALSE" not in told


def test_it_ends_with_one_and_the_case_if_a_number_is_false(capsys, monkeypatch):
    def search(random, found):
        found.at_least("a bound", 0.1, 0.2, f"case {random.random():.3f}")

    monkeypatch.setattr(command, "SEARCHES", {"wrong": search})
    assert command.main(["--seconds", "0.01"]) == 1
    assert "FALSE  a bound: said 0.1, enumerated 0.2; case" in capsys.readouterr().out


def test_a_crash_is_a_violation():
    def search(random, found):
        del random, found
        raise ZeroDivisionError

    found = Found()
    attempt("crashing", search, found, number=3)
    (violation,) = found.violations
    assert "ZeroDivisionError" in violation.said
    assert "case 3 of seed 0" in violation.case


def test_the_same_numbers_give_the_same_case():
    drawn = []

    def search(random, found):
        del found
        assert isinstance(random, Random)
        drawn.append(random.random())

    for seed in (0, 0, 1):
        attempt("drawing", search, Found(), number=7, seed=seed)
    assert drawn[0] == drawn[1] != drawn[2]

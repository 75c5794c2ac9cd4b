import sys

import pytest

K_RR = ("--mechanism", "k-rr", "--k", 10, "--max-epsilon-local", 4, "--n", "1e5", "--delta", 1e-6)


def test_bracket_in_words(croupier):
    outcome = croupier("amplify", *K_RR)
    assert outcome.code == 0
    assert "between 0.109 and 0.110" in outcome.out
    assert "epsilon_local = 4.00" in outcome.out
    assert "Lemma 5.3" in outcome.out
    assert "hides the value, not participation" in outcome.out


def test_document(croupier):
    document = croupier("amplify", *K_RR, "--json").document
    assert document["schema_version"] == 2
    assert 0.1099 < document["epsilon_lower"] <= document["epsilon_upper"] < 0.11
    assert document["n"] == 100_000
    assert document["delta"] == 1e-6
    assert 4 - 1e-9 <= document["epsilon_local"] <= 4
    assert document["adjacency"] == "replace-one"
    assert document["theorem"]
    assert document["assumptions"]


def test_any_randomizer(croupier):
    flags = ("--max-epsilon-local", 4, "--n", "1e5", "--delta", 1e-6)
    document = croupier("amplify", *flags, "--json").document
    assert document["epsilon_lower"] is None
    assert document["reason"]
    assert "at most 0.170" in croupier("amplify", *flags).out


def test_rounds_with_and_without_the_extra(croupier, monkeypatch):
    composed = croupier("amplify", *K_RR, "--rounds", 10, "--json").document
    assert composed["epsilon_upper"] < composed["epsilon_composed"] < 10 * composed["epsilon_upper"]
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    outcome = croupier("amplify", *K_RR, "--rounds", 10)
    assert outcome.code == 0
    assert "pip install '.[composition]'" in outcome.out


@pytest.mark.parametrize("rounds", [1, 30])
def test_a_ladder_has_the_same_number_to_the_last_digit(croupier, tmp_path, rounds):
    """Of the rounds of the plan, and of 30 such plans after each other."""
    flags = ("--mechanism", "k-rr", "--k", 8, "--max-epsilon-local", 2, "--n", 3000)
    composed = croupier("amplify", *flags, "--delta", 1e-6, "--rounds", 30, "--json").document
    plan = tmp_path / "plan.toml"
    plan.write_text(
        "schema = 2\n[randomizer]\nmechanism = 'k-rr'\nk = 8\nmax_epsilon_local = 2.0\n"
        f"[population]\nenrolled = 5000\n[collection]\nrounds = {rounds}\n"
        "[protections]\nminimum_batch = 3000\n[guarantee]\ndelta = 1e-6\n"
    )
    ladder = croupier("assess", plan, "--rung", "batch", "--metric", "epsilon", "--json").document
    cell = ladder["rungs"][0]["cells"][0]["upper"]
    found = ladder["repeated"]["epsilon_upper"] if rounds == 1 else cell
    assert found == composed["epsilon_composed"]


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_plot(croupier, tmp_path, suffix):
    target = tmp_path / f"epsilon{suffix}"
    outcome = croupier("amplify", *K_RR, "--plot", target)
    assert outcome.code == 0
    assert outcome.out.endswith(f"Drew {target}\n")
    assert target.stat().st_size > 5_000


def test_plot_is_of_the_people_who_are_asked_about(croupier, tmp_path, monkeypatch):
    marked = []
    monkeypatch.setattr(
        "croupier.documents.plots.amplification.mark",
        lambda _axes, n, epsilon, _label: marked.append((n, epsilon)),
    )
    others = ("--corrupt", "5e4", "--report-probability", 0.5)
    target = tmp_path / "epsilon.svg"
    outcome = croupier("amplify", *K_RR, *others, "--plot", target, "--json")
    assert marked == [(100_000, outcome.document["epsilon_upper"])]
    assert "50,000 of them corrupt" in target.read_text()


def test_without_matplotlib_the_error_is_the_install_command(croupier, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = croupier("amplify", *K_RR, "--plot", tmp_path / "epsilon.png")
    assert outcome.code == 1
    assert "pip install '.[plots]'" in outcome.err


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--n", 100, "--delta", 1e-6), "--max-epsilon-local"),
        (("--n", 100, "--delta", 2, "--max-epsilon-local", 1), "`delta` must be in (0, 1)"),
        (("--n", 100, "--delta", 1e-6, "--max-epsilon-local", 1, "--corrupt", 100), "corrupt"),
        (("--n", 100, "--delta", 1e-6, "--mechanism", "k-rr", "--max-epsilon-local", 1), "`k`"),
        (
            ("--n", 9, "--delta", 1e-6, "--max-epsilon-local", 1, "--k", 3),
            "given with --k. Try k-rr",
        ),
        (("--n", 9, "--delta", 1e-6, "--max-epsilon-local", 1, "--grid", "0:1:1"), "Try laplace"),
        ((*K_RR, "--rounds", 0), "`--rounds` must be at least 1; got 0"),
        (
            (*K_RR, "--plot", "nowhere/x.png"),
            "a folder that exists; got 'nowhere/x.png'. Try mkdir",
        ),
        ((*K_RR, "--plot", "."), "got '.'"),
        (("--n", 9, "--delta", 1e-6, "--max-epsilon-local", "abc"), "'--max-epsilon-local'"),
        (("--n", 9, "--max-epsilon-local", 1), "Missing option '--delta'"),
    ],
)
def test_usage_errors(croupier, flags, expected):
    outcome = croupier("amplify", *flags, "--json")
    assert outcome.code == 2
    assert expected in outcome.document["error"]

import math

import pytest

K_RR = ("--mechanism", "k-rr", "--k", 10, "--max-epsilon-local", 5)


def test_reidentification(croupier):
    document = croupier("leakage", "reidentification", *K_RR, "--n", 1000, "--json").document
    odds, share = math.exp(5), 1 / (math.exp(5) + 9)
    truth = (
        odds * (1 - (1 - share) ** 1000) + (1 - share) ** 1000 - (1 - 10 * share) ** 1000
    ) / 1e3
    assert document["schema_version"] == 2
    assert document["direction"] == "upper"
    assert truth <= document["reidentification_upper"] <= truth * (1 + 1e-11)
    assert 0.999 * truth <= document["reidentification_lower"] <= truth
    assert document["advantage_multiplicative"] == pytest.approx(1000 * truth)
    assert document["theorem"]
    assert document["assumptions"]


def test_reidentification_in_words(croupier):
    outcome = croupier("leakage", "reidentification", *K_RR, "--n", 1000, "--target", 0.001)
    assert outcome.code == 0
    assert "at most 1 in 6.74 times" in outcome.out
    assert "by luck alone: 1 time in 1,000" in outcome.out
    assert "148,414 honest people" in outcome.out
    more = croupier("leakage", "reidentification", *K_RR, "--n", 1000, "--guesses", 3)
    assert "in 3 guesses" in more.out


def test_any_randomizer(croupier):
    document = croupier(
        "leakage", "reidentification", "--max-epsilon-local", 5, "--n", 100, "--json"
    ).document
    assert document["reidentification_upper"] == pytest.approx(0.729288313666194, rel=1e-11)
    assert document["reidentification_lower"] == pytest.approx(0.01)


def test_bayes_security(croupier):
    flags = ("--mechanism", "k-rr", "--k", 400, "--max-epsilon-local", 3.3)
    document = croupier("leakage", "bayes-security", *flags, "--json").document
    assert document["bayes_security"] == pytest.approx(0.938718928903867, rel=1e-12)
    assert document["direction"] == "exact"
    assert document["witness"] == ["0", "1"]
    assert "0.93872" in croupier("leakage", "bayes-security", *flags).out


def test_bayes_security_of_a_batch(croupier):
    flags = (
        "leakage",
        "bayes-security",
        "--mechanism",
        "k-rr",
        "--k",
        2,
        "--max-epsilon-local",
        2.81,
    )
    document = croupier(*flags, "--n", 10_000, "--json").document
    assert document["direction"] == "lower"
    assert document["guess_of_two"] == pytest.approx(0.5105, abs=1e-4)
    assert 1 - document["bayes_security_upper"] / 2 == pytest.approx(0.5076, abs=1e-4)
    assert "at least" in croupier(*flags, "--n", 10_000).out


def test_vulnerability_without_noise(croupier):
    flags = ("leakage", "vulnerability", "--k", 3, "--n", 1000, "--shuffle-only")
    document = croupier(*flags, "--json").document
    assert document["guess_uninformed"] == pytest.approx(0.3488293925341137, rel=1e-12)
    assert document["direction"] == "exact"
    assert document["guess_informed_upper"] is None
    assert croupier(*flags, "--informed", "--json").document["guess_informed_upper"] == 1
    assert "0.348829" in croupier(*flags).out


def test_vulnerability_with_noise(croupier):
    flags = ("leakage", "vulnerability", "--mechanism", "k-rr", "--k", 3, "--max-epsilon-local", 1)
    document = croupier(*flags, "--n", 1000, "--informed", "--json").document
    assert 1 / 3 < document["guess_uninformed"] < document["guess_informed_upper"] < 0.35
    assert "knowing everybody else" in croupier(*flags, "--n", 1000, "--informed").out


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.parametrize(
    ("question", "flags"),
    [
        ("reidentification", (*K_RR, "--n", 1000)),
        ("reidentification", ("--max-epsilon-local", 3, "--n", 1000, "--guesses", 2)),
        ("bayes-security", K_RR),
        ("vulnerability", (*K_RR, "--n", 1000)),
        ("vulnerability", ("--k", 3, "--n", 1000, "--shuffle-only")),
    ],
)
def test_plot(croupier, tmp_path, question, flags, suffix):
    target = tmp_path / f"plot{suffix}"
    assert f"Drew {target}" in croupier("leakage", question, *flags, "--plot", target).out
    assert target.stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("reidentification", "--n", 10), "--max-epsilon-local"),
        (("reidentification", "--n", 10, "--k", 3, "--max-epsilon-local", 1), "--mechanism"),
        (("bayes-security", *K_RR, "--plot", "nowhere/x.png"), "folder that exists"),
        (("reidentification", *K_RR, "--n", 10, "--guesses", 0), "guesses"),
        (("reidentification", *K_RR, "--n", 10, "--target", 2), "target"),
        (("bayes-security",), "--mechanism"),
        (("vulnerability", "--n", 10), "--mechanism"),
        (("vulnerability", "--n", 10, "--shuffle-only"), "--k"),
        (("vulnerability", *K_RR, "--n", 10, "--shuffle-only"), "--shuffle-only"),
    ],
)
def test_usage_errors(croupier, arguments, problem):
    outcome = croupier("leakage", *arguments)
    assert outcome.code == 2
    assert problem in outcome.err


def test_plot_of_a_mechanism_without_epsilon(croupier, tmp_path):
    flags = ("--mechanism", "matrix", "--parameter", "matrix=[[3,1],[1,3]]")
    outcome = croupier("leakage", "bayes-security", *flags, "--plot", tmp_path / "plot.png")
    assert outcome.code == 2
    assert "epsilon_local" in outcome.err


@pytest.fixture
def samples(tmp_path):
    """Binary response that tells the truth three times out of four."""
    path = tmp_path / "samples.csv"
    rows = [f"{given},{given ^ (turn % 4 == 0)}" for turn in range(4000) for given in (0, 1)]
    path.write_text("\n".join(["given,sent", *rows]) + "\n")
    return path


def test_black_box(croupier, samples, tmp_path):
    flags = ("leakage", "black-box", samples, "--input", "given", "--output", "sent")
    document = croupier(*flags, "--json").document
    low, high = document["bayes_security_interval"]
    assert low == 0
    assert 0.5 <= high < 0.55
    assert document["direction"] == "upper"
    assert document["guess_uninformed_interval"][0] == pytest.approx(0.74, abs=0.01)
    assert document["convergence"]
    both = croupier(*flags, "--support-size", 2, "--json").document["bayes_security_interval"]
    assert 0.45 < both[0] <= 0.5 <= both[1] < 0.55
    words = croupier(*flags, "--support-size", 2, "--plot", tmp_path / "learned.png").out
    assert "and at least 0.4" in words
    assert "It meets no policy" in words
    assert (tmp_path / "learned.png").stat().st_size > 5_000


def test_black_box_names_the_columns(croupier, samples):
    outcome = croupier("leakage", "black-box", samples, "--input", "x", "--output", "sent")
    assert outcome.code == 2
    assert "--input` must be one of given, sent" in outcome.err


def test_luck_counts_those_who_report(croupier):
    rare = (*K_RR, "--n", 1000, "--report-probability", 0.01)
    said = croupier("leakage", "reidentification", *rare).out
    assert "by luck alone: 1 time in 10.0" in said
    document = croupier("leakage", "reidentification", *rare, "--json").document
    assert document["expected_people"] == pytest.approx(10 * document["reidentification_upper"])
    assert 1 <= document["advantage_multiplicative"] < 11

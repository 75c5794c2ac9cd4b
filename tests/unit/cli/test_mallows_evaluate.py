import sys

import numpy as np
import pytest

QUICK = ("--trials", 2, "--resamples", 5, "--insecure-seed", 1)


@pytest.fixture
def town(tmp_path):
    """Four hundred people on a street whose ends differ."""
    path = tmp_path / "town.csv"
    rng = np.random.default_rng(1)
    place = rng.integers(20, size=400)
    value = np.where(rng.random(400) < (place + 1) / 22, "yes", "no")
    club = np.where(value == "yes", "red", "blue")
    rows = zip(place, value, club, strict=True)
    path.write_text("place,answer,club\n" + "".join(f"{p},{v},{c}\n" for p, v, c in rows))
    return path


def test_a_synthetic_town(croupier, tmp_path):
    plot = tmp_path / "tradeoff.png"
    flags = ("--dataset", "hospital", "--people", 1000, "--radii", "10", *QUICK)
    outcome = croupier("mallows", "evaluate", *flags, "--plot", plot)
    assert outcome.code == 0
    assert "Synthetic hospital, 1,000 people: alpha 4, epsilon_local 2.5" in outcome.out
    assert "r = 10 km" in outcome.out
    assert "Evidence: it meets no policy." in outcome.out
    assert outcome.out.splitlines()[0].endswith("  guessed share")
    assert "\nguessed share: people whose value " in outcome.out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_document(croupier, town):
    flags = ("--data", town, "--columns", "place", "--value", "answer", "--privileged", "club")
    scales = ("--attack-radius", 3, "--radii", "0,2")
    document = croupier("mallows", "evaluate", *flags, *scales, *QUICK, "--json").document
    assert document["synthetic"] is False
    assert document["people"] == 400
    assert document["attack"]["neighbours"] == 25
    assert document["confidence"] == 0.5
    names = [point["shuffle"] for point in document["points"]]
    assert names == ["no shuffling", "r = 0", "r = 2", "uniform"]
    first, last = document["points"][0], document["points"][-1]
    assert first["vulnerable_share"]["measured"] > 0.9 > last["vulnerable_share"]["measured"]
    assert first["alpha"] is None
    assert document["not_finite"] == {"points.0.alpha": "infinity"}
    for point in document["points"]:
        low, high = point["learning_error"]["interval"]
        assert low <= point["learning_error"]["measured"] <= high


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "--dataset"),
        (("--dataset", "hospital", "--data", "TOWN"), "--dataset"),
        (("--dataset", "hotel"), "hospital, friendship"),
        (("--dataset", "hospital", "--people", 3), "--people"),
        (("--dataset", "hospital", "--plot", "plot.txt"), ".png, .svg"),
        (("--dataset", "hospital", "--radii", "5,1"), "--radii"),
        (("--dataset", "hospital", "--radii", "near"), "--radii"),
        (("--data", "TOWN", "--columns", "place"), "--value"),
        (("--data", "TOWN", "VALUE", "place", "--attack-radius", 0), "--attack-radius"),
        (("--data", "TOWN", "VALUE", "answer", "--attack-radius", 1), "not numbers"),
    ],
)
def test_usage_errors(croupier, town, arguments, problem):
    more = {"TOWN": (town,), "VALUE": ("--value", "answer", "--radii", "1", "--columns")}
    given = [part for entry in arguments for part in more.get(entry, (entry,))]
    outcome = croupier("mallows", "evaluate", *given, *QUICK)
    assert outcome.code in {1, 2}
    assert problem in outcome.err


def test_one_value_is_no_secret(croupier, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("place,answer\n" + "1,yes\n" * 10)
    flags = ("--data", path, "--columns", "place", "--value", "answer")
    outcome = croupier("mallows", "evaluate", *flags, "--attack-radius", 1, "--radii", 1)
    assert outcome.code == 2
    assert "2 to 50 different entries" in outcome.err
    assert "yes" not in outcome.err


def test_a_missing_extra_is_named_before_the_work_starts(croupier, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.calibration", None)
    outcome = croupier("mallows", "evaluate", "--dataset", "hospital")
    assert outcome.code == 1
    assert "pip install '.[learning]'" in outcome.err

import pytest

TABLE = ("sidechannels", "table", "--n", 60000, "--rounds", 60, "--batch", 1000)
PAPER = (*TABLE, "--max-epsilon-local", 2, "--delta", 1e-5)


def test_table(croupier):
    document = croupier(*PAPER, "--json").document
    cells = {(cell["model"], cell["attack"]): cell for cell in document["cells"]}
    assert len(cells) == 33
    assert document["direction"] == "upper"

    def epsilon(model, attack):
        return cells[model, attack]["epsilon_upper"]

    assert epsilon("multinomial", "nothing") == pytest.approx(0.0487181, abs=1e-6)
    assert epsilon("multinomial", "in-out") == pytest.approx(0.4681088, abs=1e-6)
    assert epsilon("divide", "in-out") == pytest.approx(0.4673691, abs=1e-6)
    assert epsilon("shuffle-then-randomize", "in-out") == pytest.approx(2, abs=1e-4)
    assert epsilon("rectified-multinomial", "in-out and length") == epsilon("single", "nothing")
    assert cells["multinomial", "in-out"]["population"] == pytest.approx(1000, abs=1)
    assert cells["subsample", "in-out"]["worst_epsilon_upper"] > 4
    costs = {model["model"]: model for model in document["models"]}
    assert costs["rectified-multinomial"]["messages"] == 60
    assert costs["rectified-bins"]["messages"] == 6
    assert costs["parallel"]["adaptive"] is False


def test_table_in_words_and_as_a_picture(croupier, tmp_path):
    flags = ("sidechannels", "table", "--n", 2000, "--rounds", 4, "--delta", 1e-5)
    target = tmp_path / "table.svg"
    outcome = croupier(
        *flags, "--mechanism", "k-rr", "--k", 3, "--max-epsilon-local", 1, "--plot", target
    )
    assert outcome.code == 0
    assert "rectified-bins" in outcome.out
    assert target.stat().st_size > 10_000


def test_simulate(croupier):
    flags = ("sidechannels", "simulate", "--n", 1000, "--rounds", 5, "--max-epsilon-local", 1)
    document = croupier(*flags, "--games", 5000, "--insecure-seed", 1, "--json").document
    assert len(document["attacks"]) == 33
    assert document["refuted"] is False
    again = croupier(*flags, "--games", 5000, "--insecure-seed", 1, "--json").document
    assert again == document
    assert "No proof refuted" in croupier(*flags, "--games", 2000, "--insecure-seed", 2).out


def test_population(croupier):
    flags = ("sidechannels", "population", "--n", 10000, "--max-epsilon-local", 2, "--delta", 1e-6)
    document = croupier(*flags, "--corrupt", 5000, "--json").document
    assert [found["honest"] for found in document["situations"]] == [10000, 5000, 1]
    assert document["situations"][1]["epsilon_upper"] == pytest.approx(0.2251634, abs=1e-6)
    assert "one credential per person" in croupier(*flags, "--corrupt", 5000).out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((*TABLE, "--delta", 1e-5), "--max-epsilon-local"),
        ((*PAPER, "--lengths", 0), "--lengths"),
        ((*PAPER, "--bins", 61), "--bins"),
        ((*PAPER, "--bins", 0), "--bins"),
        ((*PAPER, "--report-bytes", 0), "--report-bytes"),
        (
            ("sidechannels", "table", "--n", 10, "--delta", 0.1, "--max-epsilon-local", 1),
            "--rounds",
        ),
        (
            ("sidechannels", "simulate", "--n", 100, "--max-epsilon-local", 1, "--lengths", 0),
            "--lengths",
        ),
    ],
)
def test_usage_errors(croupier, arguments, problem):
    outcome = croupier(*arguments)
    assert outcome.code == 2
    assert problem in outcome.err

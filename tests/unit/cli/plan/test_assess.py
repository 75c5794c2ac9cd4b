"""`croupier assess`: what people and machines read."""

import json

import pytest

from croupier import Plan
from croupier.assessment.ladder.text import cell_text
from croupier.model.metric import Metric
from croupier.model.rung import Rung

EMOJI = """
schema = 2
name = "emoji"
randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
protections.minimum_batch = 200_000
guarantee.delta = 1e-8
"""


@pytest.fixture
def emoji(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(EMOJI)
    return file


@pytest.fixture(scope="module")
def ladder():
    return Plan.from_toml(EMOJI).assess()


def test_the_ladder_reads_as_in_the_readme(croupier, emoji):
    outcome = croupier("assess", emoji)
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    for line in (
        "who is looking epsilon re-identified guess of two",
        "by luck alone 0 1 in 200,000 50.0 %",
        "batch 0.0755-0.0756 1 in 3,660 50.4 %",
        "clients (5 %) 0.0878-0.0879 1 in 2,740 50.4 %",
        "collusion 4.00 certain 75.9 %",
        "30 such collections of one person: epsilon at most 0.448. If all 1,000,000",
        "report: epsilon at most 0.0326. Both hold for the row batch.",
    ):
        assert line in lines


def test_all_columns_are_shown_if_asked_for(croupier, emoji):
    lines = [
        " ".join(line.split())
        for line in croupier("assess", emoji, "--metric", "all").out.splitlines()
    ]
    for line in (
        "who is looking epsilon re-identified guess of two guess, knows nobody",
        "batch 0.0755-0.0756 1 in 3,660 50.4 % 2.04 %",
        "who is looking guess, knows others Bayes security",
        "batch 2.09 % 0.993",
    ):
        assert line in lines


def test_the_document_has_every_cell(croupier, emoji, ladder):
    document = croupier("assess", emoji, "--json").document
    assert document["plan_digest"] == ladder.plan.digest
    assert document["n_proved"] == 200_000
    assert document["headline"] == "clients"
    assert [rung["rung"] for rung in document["rungs"]] == list(ladder.plan.rungs)
    for rung in document["rungs"]:
        for cell in rung["cells"]:
            known = ladder[rung["rung"]][cell["metric"]]
            assert (cell["upper"], cell["lower"]) == (known.upper, known.lower)
            assert cell["status"] == "proved"
            assert cell["theorem"]


def test_each_cell_is_recomputed_by_the_command_that_it_names(croupier, emoji):
    document = croupier("assess", emoji, "--json").document
    cells = [cell for rung in document["rungs"] for cell in rung["cells"]]
    for cell in (cells[7], cells[-1]):
        command = cell["recompute"].split()
        again = croupier(*command[1:], "--json").document
        assert again["rungs"][0]["cells"] == [cell]


def test_one_cell_is_shown_with_its_proof(croupier, emoji):
    by_name, by_head = (
        croupier("assess", emoji, "--rung", "batch", "--metric", name).out
        for name in ("reidentification", "re-identified")
    )
    assert by_name == by_head != ""
    outcome = croupier("assess", emoji, "--rung", "batch", "--metric", "epsilon")
    assert outcome.out.splitlines()[0] == "batch, epsilon: 0.0755-0.0756"
    assert "Balle et al. 2019, Lemma 5.3" in outcome.out


def test_a_metric_of_something_else_is_refused(croupier, emoji):
    outcome = croupier("assess", emoji, "--metric", Metric.VULNERABLE_SHARE)
    assert outcome.code == 2
    assert "--metric" in outcome.err


@pytest.mark.parametrize("kind", ["list", "labels"])
def test_a_prior_adds_its_guesses(croupier, emoji, tmp_path, kind):
    chances = [0.51, *[0.01] * 49]
    prior = tmp_path / "prior.json"
    prior.write_text(json.dumps(chances if kind == "list" else dict(enumerate(chances))))
    document = croupier("assess", emoji, "--prior", prior, "--json").document
    batch = document["prior"][1]
    assert batch["rung"] == "batch"
    assert 0.51 <= batch["guess_uninformed_upper"] <= batch["guess_informed_upper"] < 0.52
    assert "guess, knows others" in croupier("assess", emoji, "--prior", prior).out


@pytest.mark.parametrize("text", ["{", "3", '{"a": 1}', "[0.5, 0.5]"])
def test_a_prior_that_does_not_fit_is_refused(croupier, emoji, tmp_path, text):
    prior = tmp_path / "prior.json"
    prior.write_text(text)
    assert croupier("assess", emoji, "--prior", prior).code == 2


def test_one_operator_is_said_to_be_collusion(croupier, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(EMOJI + 'analyzer.operator = "us"\n[[shufflers]]\noperator = "us"')
    assert "the row `collusion` applies" in croupier("assess", file).out


def test_a_missing_file_says_what_to_do(croupier, tmp_path):
    outcome = croupier("assess", tmp_path / "none.toml")
    assert outcome.code == 2
    assert "croupier init" in outcome.err


SURVEY = f"""
schema = 2
randomizer = {{mechanism = "k-rr", k = 5, max_epsilon_local = 2.0}}
population.enrolled = 3_000
protections.minimum_batch = 1_999
shuffling = {{order = "mallows", alpha = 1.0, groups = {{sha256 = "{"0" * 64}", sensitivity = 3}}}}
"""


def test_luck_is_a_point_and_not_rounded_as_a_bound():
    luck = Plan.from_toml(SURVEY).assess().blind
    assert cell_text(luck[Metric.REIDENTIFICATION]) == "1 in 1,999"


def test_what_is_proved_from_one_report_assumes_nothing_about_an_order():
    row = Plan.from_toml(SURVEY).assess()[Rung.BATCH]
    for metric in (Metric.GUESS_UNINFORMED, Metric.GUESS_INFORMED):
        assert not [text for text in row[metric].proved.assumptions if "order" in text]


def test_a_prior_is_shown_beside_one_column(croupier, emoji, tmp_path):
    prior = tmp_path / "prior.json"
    prior.write_text(json.dumps([1 / 50] * 50))
    assert (
        "with this prior" in croupier("assess", emoji, "--metric", "epsilon", "--prior", prior).out
    )


def test_questions_of_different_sizes_are_all_named(croupier, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text("""
schema = 2
population.enrolled = 3_000
protections.minimum_batch = 1_000
[[questions]]
mechanism = "k-rr"
k = 5
max_epsilon_local = 1.0
[[questions]]
mechanism = "k-rr"
k = 3
max_epsilon_local = 1.0
""")
    assert "k-rr, 3 or 5 values" in croupier("assess", file).out

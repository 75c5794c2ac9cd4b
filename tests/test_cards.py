"""Cards of results: numbers that are proved are rounded outward, and all are read at a glance."""

import html
import re

import pytest

import croupier

PLAN = croupier.Plan.from_toml("""
schema = 2
name = "pets"
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
population.enrolled = 3_000
protections.minimum_batch = 1_000
policy.batch.max_epsilon = 0.9
policy.clients.max_epsilon = 0.9
policy.batch.min_bayes_security = 0.1
policy.collusion.max_guess_of_two = 0.99
""")
UP = {"upper", "proved", "epsilon_local", "epsilon_batch", "epsilon_clients", "reidentification"}
DOWN = {"lower"}
LARGER = PLAN.replace(protections__minimum_batch=2_000, policy__batch__max_epsilon=0.8)


def cells(card):
    """The texts of a card by the names of their columns."""
    found = {}
    for label, text in re.findall(r'<td role="cell" data-label="([^"]*)"[^>]*>(.*?)</td>', card):
        found.setdefault(label, []).append(html.unescape(text))
    return found


@pytest.fixture(scope="module")
def attacks():
    return PLAN.attack(games=200, insecure_seed=1)


@pytest.mark.parametrize(
    "make",
    [
        lambda _: PLAN.assess()["batch"],
        lambda _: PLAN.check(),
        lambda _: croupier.sweep(PLAN, minimum_batch=[999]),
        lambda _: croupier.design(
            k=2, enrolled=1e4, target_error=0.1, max_epsilon=1.0, mechanisms=["k-rr"]
        ),
        lambda attacks: attacks,
    ],
    ids=["row", "check", "sweep", "designs", "attacks"],
)
def test_proved_numbers_are_rounded_outward(attacks, make):
    """Ceilings up; floors down, and with them what is proved about something that protects."""
    result = make(attacks)
    shown = cells(result._repr_html_())
    seen = 0
    for place, record in enumerate(result.to_frame("pyarrow").to_pylist()[:20]):
        floor = "min_bayes_security" in record.values()
        for name in record.keys() & (UP | DOWN):
            if record[name] is not None:
                text, value = float(shown[name.replace("_", " ")][place]), record[name]
                assert text <= value if name in DOWN or floor else text >= value, name
                assert text == pytest.approx(value, rel=0.01)
                seen += 1
    assert seen >= 3


def test_a_bound_is_a_plain_number_in_a_frame():
    frame = PLAN.check().to_frame("pyarrow")
    assert str(frame.schema.field("proved").type) == "double"
    assert frame["proved"].to_pylist()[0] == PLAN.assess()["batch"].epsilon.value


def test_an_attack_is_shown_beside_its_proof(attacks):
    shown = cells(attacks._repr_html_())
    assert shown["refuted"] == ["no"] * len(attacks)
    assert len(shown["proved"]) == len(shown["gap"]) == len(attacks)
    assert "no proof refuted" in attacks._repr_html_()
    assert attacks.to_dict()["played"][0]["refuted"] is False
    assert {"proved", "gap", "refuted"} <= set(attacks.to_frame("pyarrow").column_names)


def test_a_comparison_says_what_changes_and_for_better_or_worse():
    card = PLAN.compare(LARGER)._repr_html_()
    shown = cells(card)
    assert "protections.minimum_batch</th>" in card
    assert "batch max_epsilon</th>" in card
    assert {"better", "tightened"} == set(shown["change"])
    assert "guarantees change: 30 better, 0 worse." in card
    assert "RMS error at the minimum batch: 0.0382 -&gt; 0.0270" in card
    assert "Policy: met." in card
    back = LARGER.compare(PLAN)._repr_html_()
    assert {"worse", "loosened"} == set(cells(back)["change"])
    assert "1 limit is weaker than before." in back


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"epsilon_local": 4.0, "n": 1e5, "delta": 1e-6}, "epsilon <= 0.110"),
        ({"epsilon_local": 4.0, "epsilon": 0.1, "delta": 1e-6}, "n = 119,264"),
        ({"epsilon": 0.1, "n": 1e5, "delta": 1e-6}, "epsilon_local = 3.85"),
    ],
)
def test_a_solution_says_what_it_was_solved_from(known, said):
    found = croupier.solve("k-rr", k=10, **known)
    assert str(found) == f"Solution({said})"
    card = found._repr_html_()
    assert f"<caption>Solution: {html.escape(said, quote=False)}</caption>" in card
    shown = cells(card)
    assert shown["mechanism"] == ["k-rr"]
    assert "blanket" in shown["proof"][0]
    assert {name: float(shown[name][0].replace(",", "")) for name in known} == known
    assert known.items() <= found.to_dict()["given"].items()
    assert known.keys() < set(found.to_frame("pyarrow").column_names)


def test_only_words_are_broken_into_lines():
    card = PLAN.assess()["batch"]._repr_html_()
    assert re.search(r'data-label="upper" class="number">', card)
    assert not re.search(r'data-label="theorem" class', card)


def test_captions_are_sentences():
    response = croupier.randomizer("k-rr", k=3, max_epsilon_local=1.0)
    for result in (response.estimate([0, 1]), response.channel(), PLAN):
        caption = re.search("<caption>(.*?)</caption>", result._repr_html_())[1]
        assert caption.startswith(f"{type(result).__name__}: ")
        assert "(" not in caption
    assert f"<caption>Plan: pets {PLAN.digest[:8]}</caption>" in PLAN._repr_html_()


def test_large_numbers_have_separators():
    swept = croupier.sweep(PLAN, minimum_batch=[1e3, 2000])._repr_html_()
    assert '<th scope="row" role="rowheader">1,000</th>' in swept

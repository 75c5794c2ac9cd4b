import math
from dataclasses import replace
from fractions import Fraction

import pytest

from croupier.documents.explain.sentence import Form, Number
from croupier.documents.explain.sentences import (
    against,
    grown,
    inference,
    linkability,
    repeated,
    seen_on_the_wire,
    singling_out,
    two_values,
)
from croupier.documents.explain.trust_words import operators, trusted
from croupier.model.guarantee import Direction
from croupier.model.metric import Metric
from croupier.model.rung import Rung

PERCENT = Fraction(1, 100)
UNSEEN = 1e-11  # what printing in twelve digits may hide


def _sentences(ladder):
    for rung in ladder.plan.rungs:
        yield singling_out(ladder, rung)
        yield linkability(ladder, rung)
        yield from inference(ladder, rung)
    yield two_values(ladder)
    yield repeated(ladder)
    if (more := grown(ladder)) is not None:
        yield more


def _meant(number):
    """What is said, from the cell's value, by formulas of this file."""
    value = Fraction(number.value)
    match number.form:
        case Form.RATIO:
            return math.exp(number.value)
        case Form.SOME_ROUND:
            return 1 - (1 - value) ** number.rounds
        case Form.TWO_ROUNDS:
            return value**2
        case _:
            return value


def _read(number):
    """The printed text as a number again."""
    text = str(number).removeprefix("at most ")
    if text in ("certain", "no protection", "never"):
        return Fraction(text != "never")
    if text.startswith("10^"):
        return Fraction(10) ** int(text[3:])
    if text.startswith("1 in "):
        return 1 / Fraction(text[5:].replace(",", ""))
    if text.endswith(" %"):
        return Fraction(text[:-2]) * PERCENT
    return Fraction(text)


def test_every_number_is_on_the_safe_side_and_close(ladder):
    numbers = [number for sentence in _sentences(ladder) for number in sentence.numbers]
    assert numbers
    for number in numbers:
        meant, printed = float(_meant(number)), float(_read(number))
        if number.direction is Direction.UPPER:
            loose = 10 if str(number).startswith("10^") else 1.0101
            assert meant <= printed * (1 + UNSEEN) <= loose * meant, str(number)
        elif number.direction is Direction.LOWER:
            assert 0.9899 * meant <= printed <= meant, str(number)
        else:
            assert printed == pytest.approx(meant, rel=0.0051)


def test_every_number_is_of_its_cell(ladder):
    for sentence in _sentences(ladder):
        for number in sentence.numbers:
            if number.rung == ladder.blind.rung:
                assert number.value == ladder.blind[number.metric].upper
            elif number.rung in set(Rung):
                assert number.value == ladder[number.rung][number.metric].proved.value
            else:
                source = {"repeated": ladder.repeated, "enrolled": ladder.everybody}
                assert number.value == source[number.rung].value


def test_a_baseline_stands_beside_every_number(ladder):
    for rung in ladder.plan.rungs:
        for sentence in (singling_out(ladder, rung), *inference(ladder, rung)):
            if sentence.numbers:
                assert "by luck alone" in str(sentence) or "1: no difference" in str(sentence)


def test_no_reason_is_left_out(ladder):
    for rung in ladder.plan.rungs:
        cells = ladder[rung].cells
        if rung.sees_all and ladder.plan.randomizer.mechanism == "plain":
            (said,) = map(str, inference(ladder, rung))
            assert said.startswith("The device sends the answer itself; nothing protects it ")
            continue
        said = " ".join(map(str, (singling_out(ladder, rung), *inference(ladder, rung))))
        for metric, cell in cells.items():
            silent = ladder.plan.analyzer.publication == "none" and metric is not Metric.ALPHA
            if cell.proved is None and not silent:
                assert f"No proved limit ({cell.reason}): treat it as known." in said


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        ("uniform", "estimate", "The figures contain no individual reports."),
        ("none", "estimate", "Nothing is published."),
        ("histogram", "estimate", "The figures contain no individual reports."),
        ("sorted", "estimate", "Somebody who reads the published rows, even knowing"),
        ("released-order", "estimate", "Somebody who reads the published rows, even knowing"),
        ("mallows-released", "estimate", "may find your report. No proved limit ("),
        ("uniform", "batch", "Somebody who reads the batch, even knowing everybody's true"),
        ("uniform", "network", "reads the batch and watches the network, even"),
        ("uniform", "shuffler", "cannot open it while the encryption (HPKE) holds"),
        ("uniform", "shuffler", "at most 1 in 2,000 times; by luck alone, 1 in 2,000."),
        ("none", "shuffler", "Nothing is published."),
        ("released-order", "shuffler", "the report of everybody whose envelope it knows."),
        ("uniform", "clients", "controls 500 of the people in it, even knowing"),
        ("uniform", "clients", "by luck alone, 1 in 1,500."),
        ("nobody-corrupt", "clients", "Somebody who reads the batch, even"),
        ("mallows", "batch", "No proved limit (the released order is seen and is not uniform)"),
        ("mallows", "estimate", "The figures contain no individual reports."),
        ("reused", "batch", "No proved limit (the same report is in every batch"),
        ("same-operators", "collusion", "They know which report is yours."),
    ],
)
def test_singling_out(ladder_of, plan, rung, expected):
    assert expected in str(singling_out(ladder_of(plan), Rung(rung)))


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        ("uniform", "batch", "You send one report"),
        ("uniform", "shuffler", "You send one report"),
        ("uniform", "collusion", "You send one report"),
        ("rounds", "shuffler", "Your credential shows which envelopes are yours."),
        ("rounds", "collusion", "Your credential shows which envelopes are yours."),
        ("rounds", "batch", "Your report is found in at least one of 4 rounds: at most 1 in "),
        ("rounds", "clients", "In two chosen rounds: at most 1 in "),
        ("rounds", "estimate", "No reports are shown that could be matched"),
        ("reused", "batch", "No proved limit (the same report is in every batch"),
        ("reused", "estimate", "No reports are shown"),
        ("sorted", "estimate", "You send one report"),
    ],
)
def test_linkability(ladder_of, plan, rung, expected):
    assert expected in str(linkability(ladder_of(plan), Rung(rung)))


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        ("uniform", "collusion", "Only your device's noise protects you."),
        ("uniform", "batch", "the two that are easiest to tell apart: right at most "),
        ("uniform", "batch", "(by luck alone 50.0 %)"),
        ("uniform", "batch", "Knowing everybody else's answer: right at most "),
        ("uniform", "batch", "no promise against anybody who knows more"),
        ("uniform", "batch", "of a guesser's errors remains"),
        ("uniform", "batch", "times as likely as if you had answered otherwise"),
        ("uniform", "batch", "except with a chance of 1 in 1 million"),
        ("none", "estimate", "Nothing is published: a guess is right by luck alone."),
        ("none", "batch", "right at most "),
        ("mallows", "batch", "Of two ways to assign the reports inside one group"),
        ("mallows", "collusion", "No proved limit (whoever draws the order knows it)"),
    ],
)
def test_inference(ladder_of, plan, rung, expected):
    assert expected in " ".join(map(str, inference(ladder_of(plan), Rung(rung))))


def test_the_noise_of_the_device_is_all_only_under_collusion(ladder):
    noisy = ladder.plan.randomizer.mechanism != "plain"
    for rung in ladder.plan.rungs:
        said = " ".join(map(str, inference(ladder, rung)))
        alone = rung.sees_all or (rung is Rung.ALL_BUT_ONE and None in ladder.plan.dummies)
        assert ("Only your device's noise" in said) == (alone and noisy)


def test_the_headline_follows_the_operators(ladder_of):
    assert "if shuffler and analyzer collude" in str(two_values(ladder_of("uniform")))
    assert "collude" not in str(two_values(ladder_of("same-operators")))
    assert "only the row for collusion holds" in operators(ladder_of("same-operators").plan)


def test_the_network_sees_rounds_unless_all_send_in_all(ladder_of):
    plan = ladder_of("uniform").plan
    assert "in which rounds" not in seen_on_the_wire(plan)
    drawn = {"participation__model": "multinomial", "participation__weights": 3}
    assert "in which rounds" in seen_on_the_wire(plan.replace(**drawn))
    drawn["participation__model"] = "rectified-multinomial"
    assert "in which rounds" not in seen_on_the_wire(plan.replace(**drawn))
    assert "32 bytes" in seen_on_the_wire(plan)


def test_trust_of_every_rung(ladder):
    for rung in ladder.plan.rungs:
        words = trusted(ladder.plan, rung)
        assert words.relies_on.endswith(".")
        assert words.otherwise.endswith(".")
        assert against(ladder.plan, rung)
    assert f"{ladder.plan.corrupt:,} of" in trusted(ladder.plan, Rung.CLIENTS).relies_on or (
        not ladder.plan.corrupt or ladder.plan.randomizer.mechanism == "plain"
    )


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.0, "1.00"), (0.0755, "1.08"), (20.0, "10^9"), (5e3, "infinity")]
)
def test_ratios_of_all_sizes(epsilon, expected):
    number = Number(value=epsilon, metric=Metric.EPSILON, rung="batch", form=Form.RATIO)
    assert str(number).startswith(expected)


@pytest.mark.parametrize(
    ("chance", "some", "two"),
    [
        (0.001, "at most 1 in 83.7", "at most 1 in 1,000,000"),
        (0.1, "at most 71.8 %", "at most 1 in 100"),
        (0.96, "no protection", "at most 92.2 %"),
        (1.0, "no protection", "no protection"),
    ],
)
def test_odds_past_any_meaning_are_called_no_protection(chance, some, two):
    number = Number(value=chance, metric=Metric.REIDENTIFICATION, rung="batch", rounds=12)
    assert str(replace(number, form=Form.SOME_ROUND)).startswith(some)
    assert str(replace(number, form=Form.TWO_ROUNDS)).startswith(two)

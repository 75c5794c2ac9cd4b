"""Words for two shufflers, for dummies, and for answers that are sent as they are."""

import re
from importlib.util import find_spec

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.documents.dpia.draft import dpia
from croupier.documents.dpia.measures import measures
from croupier.documents.dpia.way import found_again, way_of_reports
from croupier.documents.explain.asked import asked_rows, collection_facts
from croupier.documents.explain.page import explain_in_markdown
from croupier.documents.explain.people.parties import added, colluders, sampled, some_trace
from croupier.documents.explain.sentences import inference, repeated, singling_out, two_values
from croupier.documents.explain.summary.answers import Asked, answers, how_it_works, not_promised
from croupier.documents.explain.summary.risk import if_they_collude
from croupier.documents.explain.trust_words import operators, trusted
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.policy import Policy

pytestmark = pytest.mark.skipif(find_spec("jinja2") is None, reason="needs jinja2")

ADDING = ["dummies", "plain", "two-plain", "two-rounds", "two-sorted", "two-half", "two-joined"]
NOTHING = "The device sends the answer itself; nothing protects it "


ONE = "the shuffler adds made-up reports, on average 36 of each answer"
FIRST = ONE.replace("the shuffler", "the first shuffler")
END = ", and the analyzer subtracts that"
TOLD = {
    "uniform": "",
    "two-bare": "",
    "dummies": ONE + END,
    "two-half": FIRST + END,
    "two-plain": f"{FIRST}, the second shuffler on average 69{END}",
}


@pytest.mark.parametrize(("plan", "expected"), TOLD.items())
def test_dummies_in_words(ladder_of, plan, expected):
    made = ladder_of(plan).plan
    assert added(made) == expected
    assert ("Dummies" in collection_facts(made)) == bool(expected)
    assert expected[1:] in how_it_works(made)
    assert ("made-up" in how_it_works(made)) == bool(expected)


def test_samples_in_words(ladder_of):
    assert sampled(ladder_of("dummies").plan) == ""
    assert sampled(ladder_of("two-plain").plan) == (
        "the second shuffler keeps 50 % of the reports, drawn by lot, and drops the others unseen"
    )


def test_those_who_collude_need_the_analyzer_only_if_nothing_is_published(ladder_of):
    """Two shufflers subtract all dummies from what is published."""
    plan = ladder_of("two-plain").plan
    assert colluders(plan) == "both shufflers"
    unpublished = plan.replace(analyzer=plan.analyzer.model_copy(update={"publication": "none"}))
    assert colluders(unpublished) == "both shufflers and the analyzer"
    assert colluders(ladder_of("dummies").plan) == "shuffler and analyzer"


def test_reports_are_traced_by_a_shuffler_and_the_analyzer_unless_both_add_dummies(ladder_of):
    unless = {"two-plain": "both shufflers", "two-half": "a shuffler and the analyzer"}
    unless |= {"two-bare": "a shuffler and the analyzer", "dummies": "shuffler and analyzer"}
    for plan, who in unless.items():
        assert some_trace(ladder_of(plan).plan) == f"{who} work together"
        assert f"unless {who} work together." in found_again(ladder_of(plan).plan)


def test_one_operator_of_everything_is_not_said_to_add_noise_that_there_is_not(ladder_of):
    plain = ladder_of("plain").plan
    parts = {"shufflers": [{**plain.shufflers[0].model_dump(exclude_none=True), "operator": "x"}]}
    joined = plain.replace(analyzer={"operator": "x"}, **parts)
    said = " ".join(map(str, answers(joined)[Asked.TRUSTED]))
    assert "Your own device must run the software of this plan." in said
    assert "noise" not in said


def test_luck_is_not_said_to_be_more_than_is_proved(ladder_of):
    few = ladder_of("plain").plan.replace(
        protections__minimum_batch=20, population={"enrolled": 5000}
    )
    assert "by luck alone, no more often." in str(singling_out(assess(few), Rung.BATCH))


def test_a_table_that_always_adds_something(ladder_of):
    """No chance is left that a report is alone of its kind."""
    table = {"epsilon": 3.0, "delta": 0.1, "weights": [0, 1, 4, 16, 4, 1]}
    plan = ladder_of("plain").plan.replace(shufflers=[{"dummies": table}])
    assert "This is an average" not in str(singling_out(assess(plan), Rung.BATCH))


def test_shufflers_that_sample_drop_nobody_but_by_lot(ladder_of):
    sampling, keeping = ladder_of("two-plain").plan, ladder_of("dummies").plan
    assert "drop nobody but by lot and" in trusted(sampling, Rung.BATCH).relies_on
    assert "drop none but by lot, add" in " ".join(map(str, answers(sampling)[Asked.TRUSTED]))
    assert "drops nobody and" in trusted(keeping, Rung.BATCH).relies_on
    assert "drop none and add none but" in " ".join(map(str, answers(keeping)[Asked.TRUSTED]))


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        (
            "two-plain",
            "shuffler_1",
            "knows your sealed envelope by your credential, and cannot open it",
        ),
        ("two-plain", "shuffler_2", "sealed reports that the first shuffler mixed, not whose"),
        ("two-plain", "shuffler_2", "cannot open them while"),
        ("two-plain", "all_but_one", "Everybody but one shuffler, even if they drop all other"),
        ("two-plain", "all_but_one", "by luck alone, 1 in 2,000. This is an average"),
        ("two-plain", "all_but_one", "1 in 268 million the report is the only one of its kind."),
        ("two-half", "all_but_one", "one honest shuffler is enough only if it adds dummies."),
        ("two-bare", "all_but_one", "one honest shuffler is enough only if it adds dummies."),
        ("two-plain", "everybody", "They know which report is yours."),
        ("plain", "batch", "This is an average over the dummies: with a chance of 1 in 268 milli"),
        ("two-sorted", "shuffler_2", "It finds your opened report at most 1 in "),
    ],
)
def test_singling_out(ladder_of, plan, rung, expected):
    assert expected in str(singling_out(ladder_of(plan), Rung(rung)))


def test_an_average_is_said_of_the_table_that_the_number_is_from(ladder_of):
    """The batch rests on the second table, everybody but one on the first, which is weaker."""
    ladder = ladder_of("two-plain")
    tables = {Rung.BATCH: ladder.plan.dummies[1], Rung.ALL_BUT_ONE: ladder.plan.dummies[0]}
    for rung, table in tables.items():
        never = table.weights[0] / table.total
        (said,) = re.findall(r"with a chance of 1 in ([\d.]+) million", str(_said(ladder, rung)))
        assert float(said) * 1e6 <= 1 / never <= float(said) * 1.01e6
    assert "average" not in str(_said(ladder_of("uniform"), Rung.BATCH))


def _said(ladder, rung):
    return singling_out(ladder, rung)


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        ("dummies", "shuffler", "knows its own dummies and subtracts them: they do not protect"),
        ("two-plain", "shuffler_1", "do not protect you here; those of the other shuffler do."),
        ("two-half", "shuffler_1", "subtracts them: they do not protect you here. Told"),
        ("two-plain", "all_but_one", "reports: the dummies of that shuffler protect you."),
        ("two-half", "all_but_one", "Only your device's noise protects you."),
        ("two-sorted", "everybody", "Only your device's noise protects you."),
        ("plain", "collusion", NOTHING + "against the shuffler."),
        ("two-plain", "everybody", NOTHING + "if both shufflers work together."),
        ("two-silent", "shuffler_2", "Nothing is published: a guess is right by luck alone."),
    ],
)
def test_inference(ladder_of, plan, rung, expected):
    assert expected in " ".join(map(str, inference(ladder_of(plan), Rung(rung))))


@pytest.mark.parametrize("plan", ["plain", "two-plain"])
def test_answers_without_noise_are_never_said_to_be_limited_or_one_in_one(ladder_of, plan):
    ladder = ladder_of(plan)
    page = explain_in_markdown(ladder)
    assert not re.search(r"1 in 1(?![\d,.]| million)", page)
    assert "infinity" not in page
    assert "epsilon_local inf" not in page
    assert "plain: none, the device sends the answer itself" in page
    assert next(asked_rows(ladder.plan)).noise.startswith("plain: none")
    assert NOTHING in str(two_values(ladder))
    assert "nothing protects your answer: your device sends it itself." in str(
        if_they_collude(ladder)
    )
    assert "Software that adds no noise" not in page


def test_one_honest_shuffler_is_told_first(ladder_of):
    said = str(if_they_collude(ladder_of("two-sorted")))
    guess = ladder_of("two-sorted")["all_but_one"][Metric.GUESS_OF_TWO].proved.value
    assert said.startswith("If only one shuffler is honest, and all others drop every report but ")
    assert f"right at most {100 * guess:.1f}"[:-1] in said
    assert "If both shufflers work together, they know which" in said
    assert "only one shuffler" not in str(if_they_collude(ladder_of("two-half")))


@pytest.mark.parametrize(
    ("plan", "rung", "expected"),
    [
        ("dummies", "batch", "tells nobody how many of each answer, drops nobody and lets"),
        ("dummies", "shuffler", "here they protect nobody. Only the noise of the devices"),
        ("plain", "shuffler", "here they protect nobody. Devices add no noise: nothing else"),
        ("dummies", "clients", "however many of the others are corrupt"),
        ("plain", "collusion", "Nothing helps here: the device sends the answer itself."),
        ("dummies", "collusion", "Only your own device and the software that adds the noise."),
        ("two-plain", "batch", "Both shufflers mix, add their dummies and tell nobody how many"),
        ("two-half", "batch", "Both shufflers mix; the first shuffler adds its dummies"),
        ("two-bare", "batch", "Both shufflers mix, drop nobody and let nobody in twice"),
        ("two-plain", "shuffler_1", "The second shuffler mixes, adds its dummies and tells"),
        ("two-plain", "shuffler_2", "The first shuffler mixes, adds its dummies and tells"),
        ("two-half", "shuffler_1", "The second shuffler mixes and drops nobody; the analyzer"),
        ("two-plain", "all_but_one", "one of the two shufflers, whichever it is"),
        ("two-half", "all_but_one", "One honest shuffler is not enough: the second shuffler adds"),
        ("two-bare", "all_but_one", "not enough: either of them adds no dummies"),
        ("two-plain", "everybody", "Nothing helps here"),
    ],
)
def test_who_is_trusted(ladder_of, plan, rung, expected):
    assert expected in trusted(ladder_of(plan).plan, Rung(rung)).relies_on


def test_rows_that_hold_otherwise_are_rows_of_the_plan(ladder):
    for rung in ladder.plan.rungs:
        words = trusted(ladder.plan, rung).otherwise
        named = re.findall(r"\bsee ([a-z_0-9]+)(?: and ([a-z_0-9]+))?", words)
        assert {name for pair in named for name in pair if name} <= set(ladder.plan.rungs)


def test_operators_of_two_shufflers(ladder_of):
    assert "the row for all_but_one holds; if both" in operators(ladder_of("two-joined").plan)
    assert "does not name all operators" in operators(ladder_of("two-plain").plan)
    assert ladder_of("two-joined").headline.rung == "all_but_one"


def test_no_sentence_of_two_shufflers_speaks_of_rows_it_does_not_have(ladder_of):
    for plan in ("two-plain", "two-rounds", "two-sorted", "two-half", "two-bare", "two-joined"):
        page = explain_in_markdown(ladder_of(plan))
        assert not re.search(r"\bcollusion\b", page), plan
        assert not re.search(r"(see|against|row for) shuffler\b", page), plan


@pytest.mark.parametrize("plan", ADDING)
def test_figures_are_not_promised_to_be_correct(ladder_of, plan):
    made = ladder_of(plan).plan
    assert "and nobody notices" in not_promised(made)["Correct figures"]
    assert "nobody notices" not in not_promised(ladder_of("uniform").plan)["Correct figures"]
    assert "moves every count" in explain_in_markdown(ladder_of(plan))
    assert "moves every count" in dpia(ladder_of(plan), checked(ladder_of(plan)), gaussian=())


def test_the_ten_answers_of_two_shufflers(ladder_of):
    said = {
        plan: {asked: " ".join(map(str, told)) for asked, told in answers(ladder.plan).items()}
        for plan, ladder in ((plan, ladder_of(plan)) for plan in ("plain", "two-plain", "two-half"))
    }
    assert "run by first and second, must mix" in said["two-plain"][Asked.TRUSTED]
    assert "however many people of a batch work against you" in said["two-plain"][Asked.TRUSTED]
    otherwise = said["two-plain"][Asked.OTHERWISE]
    assert "the dummies of the other shuffler still protect your answer." in otherwise
    assert "If both shufflers work together, nothing protects" in otherwise
    assert "unless the other shuffler adds dummies" in said["two-half"][Asked.OTHERWISE]
    assert "they do not protect you against it" in said["plain"][Asked.OTHERWISE]
    assert "mixed with made-up ones" in said["plain"][Asked.LEARNS]
    assert "each shuffler destroys" in said["two-plain"][Asked.KEPT]


def test_deltas_of_dummies_add_up(ladder_of):
    assert ladder_of("two-plain").repeated is not None  # at a delta of 1e-6
    strict = ladder_of("two-plain").plan.replace(guarantee__delta=1e-8)
    said = str(repeated(strict.assess()))
    assert "except with a chance of 1 in 3.33 million" in said
    assert said.endswith(" at delta 3e-07.")
    few = {"dummies": {"epsilon": 1.0, "delta": 0.05}}
    loose = strict.replace(guarantee__delta=0.05, shufflers=[few])
    assert "since the deltas of dummies add up: treat" in str(repeated(loose.assess()))


def test_measures_of_a_plan_with_two_shufflers(ladder_of):
    found = {str(each.name): each for each in measures(ladder_of("two-plain").plan)}
    assert "not taken: the device sends" in found["Noise on the device"].here
    assert "on average 69" in found["Dummies"].here
    assert "One honest shuffler is enough" in str(found["Second shuffler"].does)
    assert not {"Dummies", "Second shuffler"} & {
        str(each.name) for each in measures(ladder_of("uniform").plan)
    }
    way = list(way_of_reports(ladder_of("two-plain").plan))
    assert way[0].startswith("The device pads and seals the answer. The answer itself leaves")
    assert len(way) == 5


def test_a_policys_name_for_two_rows_is_explained(ladder_of):
    policy = Policy.from_toml("schema = 1\npolicy.shuffler.max_epsilon = 2.0")
    ladder = ladder_of("two-plain")
    found = checked(ladder, policy)
    assert "| shuffler |" in explain_in_markdown(ladder, found)
    draft = dpia(ladder, found, gaussian=())
    assert "shuffler (shuffler_1 and shuffler_2)" in draft

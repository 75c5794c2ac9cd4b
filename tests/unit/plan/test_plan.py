import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from croupier.errors import ParameterError, RenamedError
from croupier.numerics.validate import is_one_line
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

FULL = """
schema = 2
name = "emoji"
[randomizer]
mechanism = "k-rr"
k = 50
max_epsilon_local = 4.0
[population]
enrolled = 1_000_000
corrupt_fraction = 0.05
[participation]
model = "parallel"
noise = "fresh"
[collection]
every = "24h"
rounds = 1
[shuffling]
order = "uniform"
[protections]
minimum_batch = 200_000
report_size = 32
messages = 1
disposal_age = "72h"
[analyzer]
publication = "estimate"
[guarantee]
adjacency = "replace-one"
delta = 1e-8
[policy]
batch = {max_epsilon = 0.1, max_reidentification = 5e-4}
collusion = {max_epsilon = 4.0}
"""
PLAN = Plan.from_toml(FULL)
DIGEST = "3ca24523349e58c5a0d6e62f76a86c143db40db7fd10d4ed15efe3573e17a4eb"
GROUPS = {"sha256": "ab" * 32, "sensitivity": 16}


def small(**changes):
    return Plan.model_validate(
        {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            "population": {"enrolled": 100},
            "protections": {"minimum_batch": 50},
        }
        | changes
    )


def asking(*questions, **changes):
    """A plan that lists what it asks."""
    document = small().document() | {"questions": list(questions)} | changes
    return Plan.from_document({name: own for name, own in document.items() if name != "randomizer"})


epsilons = st.floats(0.1, 8.0)
sizes = st.integers(2, 12)
labels = st.lists(
    st.text(max_size=5).filter(is_one_line) | st.integers(0, 99), min_size=2, unique=True
)
grids = st.builds(
    lambda low, steps, step: {"low": low, "high": low + steps * step, "step": step},
    st.integers(-5, 5),
    st.integers(1, 8),
    st.sampled_from([0.25, 0.5, 1.0, 3.0]),
)


def table(mechanism, **parameters):
    return st.fixed_dictionaries({"mechanism": st.just(mechanism), **parameters})


mechanisms = st.one_of(
    [table(name, k=sizes, max_epsilon_local=epsilons) for name in ("k-rr", "hadamard")]
    + [
        table(f"{kind}-unary", k=sizes, max_epsilon_local=epsilons)
        for kind in ("symmetric", "optimized")
    ]
    + [table(name, grid=grids, max_epsilon_local=epsilons) for name in ("laplace", "one-bit-mean")]
    + [
        table("k-rr", labels=labels, max_epsilon_local=epsilons),
        table("rappor", k=sizes, max_epsilon_local=epsilons, hashes=st.integers(1, 3)),
        table("local-hashing", k=sizes, max_epsilon_local=epsilons, buckets=st.integers(2, 9)),
        table(
            "subset-selection",
            k=st.just(12),
            max_epsilon_local=epsilons,
            subset_size=st.integers(1, 11),
        ),
        table("gaussian", grid=grids, max_epsilon_local=st.floats(1.0, 8.0), tail=st.floats(2, 4)),
        table("sampled-sign", dimension=sizes, max_epsilon_local=epsilons),
        table("matrix", matrix=st.sampled_from([[[3, 1], [1, 3]], [[0.75, 0.25], [0.25, 0.75]]])),
    ]
)
words = st.fixed_dictionaries(
    {},
    optional={
        "name": st.from_regex(r"[a-z0-9]{1,9}([_-][a-z0-9]{1,9}){0,3}", fullmatch=True),
        "text": st.text(max_size=30).filter(is_one_line),
    },
)
questions = st.builds(lambda given, own: given | own, words, mechanisms)
weights = st.integers(1, 9) | st.lists(st.integers(1, 9), min_size=1, max_size=4)
participations = st.one_of(
    st.just({"model": "single"}),
    st.fixed_dictionaries({"model": st.just("divide"), "groups": st.integers(1, 9)}),
    st.fixed_dictionaries({"model": st.just("subsample"), "repeats": st.integers(1, 9)}),
    *(
        st.fixed_dictionaries({"model": st.sampled_from([model, f"rectified-{model}"]), own: value})
        for model, own, value in (
            ("parallel", "weights", weights),
            ("multinomial", "weights", weights),
            ("bins", "bins", st.lists(weights, min_size=1, max_size=3)),
        )
    ),
)
shufflings = st.one_of(
    st.just({"order": "uniform"}),
    st.just({"order": "uniform", "groups": {"sha256": "ab" * 32}}),
    st.fixed_dictionaries(
        {"order": st.just("mallows"), "alpha": st.floats(0, 9), "groups": st.just(GROUPS)}
    ),
)
signing_keys = st.binary(min_size=32, max_size=32).map(bytes.hex)
operators = st.sampled_from(["Example Foundation", "Example Ltd"])
limits = st.dictionaries(
    st.sampled_from(["max_epsilon", "max_guess_of_two", "max_alpha", "min_bayes_security"]),
    st.floats(0, 1),
)
documents = st.fixed_dictionaries(
    {
        "schema": st.just(2),
        "randomizer": questions,
        "population": st.fixed_dictionaries(
            {
                "enrolled": st.integers(10**6, 10**9),
                "corrupt_fraction": st.floats(0, 1e-4),
                "corrupt_fraction_of": st.sampled_from(["enrolled", "batch"]),
            }
        ),
        "participation": participations,
        "shuffling": shufflings,
        "protections": st.fixed_dictionaries({"minimum_batch": st.integers(200_000, 10**6)}),
        "collection": st.fixed_dictionaries(
            {},
            optional={
                "every": st.sampled_from(
                    ["1s", "90s", "45m", "24h", "2 d", "366d", "31_622_399s".replace("_", "")]
                )
            },
        ),
    },
    optional={
        "name": st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True),
        "shufflers": st.fixed_dictionaries(
            {}, optional={"operator": operators, "key": signing_keys}
        ).map(lambda entries: [entries]),
        "analyzer": st.fixed_dictionaries(
            {"publication": st.sampled_from(["none", "sorted"])},
            optional={"operator": operators, "key": signing_keys},
        ),
        "guarantee": st.fixed_dictionaries({"delta": st.floats(1e-300, 0.5)}),
        "policy": st.dictionaries(st.sampled_from(["batch", "network", "collusion"]), limits),
    },
)


@settings(deadline=None, max_examples=100)
@given(documents)
def test_a_plan_is_read_again_from_what_it_writes(document):
    document["protections"]["report_size"] = 4096
    plan = Plan.model_validate(document)
    again = Plan.from_toml(plan.to_toml())
    assert again == plan
    assert again.digest == plan.digest
    assert again.document() == plan.document()
    assert again.to_toml() == plan.to_toml()


def _named(question):
    return question.get("name", id(question))


@settings(deadline=None)
@given(
    st.lists(questions, min_size=1, max_size=4, unique_by=_named),
    st.sampled_from(["parallel", "multinomial"]),
)
def test_several_questions_are_read_again(asked, model):
    plan = Plan.model_validate(
        {
            "schema": 2,
            "questions": asked,
            "population": {"enrolled": 100},
            "participation": {"model": model},
            "protections": {"minimum_batch": 50, "report_size": 4096},
        }
    )
    assert Plan.from_toml(plan.to_toml()) == plan
    assert plan.participation_model.rounds == len(asked)
    assert [question.name for question in plan.questions] == [own.get("name") for own in asked]
    assert [question.text for question in plan.questions] == [own.get("text") for own in asked]
    assert plan.randomizers == tuple(question.randomizer for question in plan.questions)


def test_one_question_is_the_same_plan_in_either_spelling():
    single = small()
    (question,) = single.questions
    document = single.document()
    listed = Plan.from_document(
        {name: table for name, table in document.items() if name != "randomizer"}
        | {"questions": [document["randomizer"]]}
    )
    assert listed == single
    assert listed.digest == single.digest
    assert question.randomizer == single.randomizer


OMITTED = {
    "name": "x",
    "population__enrolled": 2 * 10**6,
    "population__corrupt_fraction": 0.01,
    "population__corrupt_fraction_of": "batch",
    "policy__batch": {"max_epsilon": 0.2},
    "record__controller": "Example Ltd",
    "record__processors": ["Example Foundation"],
    "record__legal_basis": "consent",
    "record__retention": "estimates for 2 years",
    "record__contact": "privacy@example.org",
    "record__rights": "ask the contact",
    "record__date": "2026-01-31",
    "admission__origins": ["https://www.example"],
}
DIGESTED = {
    "title": "Which shoes fit",
    "purpose": "We order the sizes that people wear.",
    "randomizer__mechanism": "hadamard",
    "randomizer__k": 49,
    "randomizer__max_epsilon_local": 3.9,
    "randomizer__denominator": 2**32,
    "questions": None,
    "participation__model": "single",
    "collection__rounds": 2,
    "collection__window": "30d",
    "participation__weights": 2,
    "shuffling__groups": {"sha256": "ab" * 32},
    "protections__minimum_batch": 200_001,
    "protections__report_size": 33,
    "collection__every": "25h",
    "protections__disposal_age": "73h",
    "shufflers__operator": "Example Foundation",
    "analyzer__operator": "Example Foundation",
    "randomizer__name": "shoes",
    "randomizer__text": "Which size are your shoes?",
    "analyzer__publication": "sorted",
    "shufflers__key": "ab" * 32,
    "analyzer__key": "ab" * 32,
    "guarantee__delta": 2e-8,
    "guarantee__within": 3.0,
    "admission__by": "token",
    "admission__operator": "Example Foundation",
    "admission__key": "cd" * 32,
    "admission__relay": "Example Relay",
}
ONE_VALUE_ONLY = {"schema", "protections.messages", "guarantee.adjacency"}
OTHER_MODELS = {
    "divide": "groups",
    "subsample": "repeats",
    "bins": "bins",
}


@pytest.mark.parametrize("change", OMITTED)
def test_digest_omits_what_no_client_needs(change):
    assert PLAN.replace(**{change: OMITTED[change]}).digest == PLAN.digest


@pytest.mark.parametrize("change", [name for name in DIGESTED if name != "questions"])
def test_digest_changes_with_what_is_deployed(change):
    assert PLAN.replace(**{change: DIGESTED[change]}).digest != PLAN.digest


@pytest.mark.parametrize(("model", "key"), OTHER_MODELS.items())
def test_digest_changes_with_a_models_own_key(model, key):
    values = {"bins": ([6, 6], [6, 5])}.get(key, (4, 5))
    first, second = (
        PLAN.replace(participation={"model": model, key: value}, shuffling__order="uniform").digest
        for value in values
    )
    assert first != second


def test_digest_changes_with_noise_that_is_reused():
    fresh, reused = (small(participation={"noise": noise}) for noise in ("fresh", "reused"))
    assert fresh.digest != reused.digest


def test_digest_tells_the_signing_keys_apart():
    keys = [name for name in DIGESTED if name.endswith("__key")]
    assert len({PLAN.replace(**{name: "ab" * 32}).digest for name in keys}) == len(keys) == 3


def test_digest_changes_with_a_mallows_order():
    mallows = {"order": "mallows", "alpha": 4.0, "groups": GROUPS}
    plans = [
        mallows,
        mallows | {"alpha": 3.0},
        mallows | {"groups": GROUPS | {"sensitivity": 15}},
        mallows | {"groups": GROUPS | {"sha256": "cd" * 32}},
        {"order": "uniform"},
    ]
    assert len({PLAN.replace(shuffling=own).digest for own in plans}) == len(plans)


def test_digest_changes_with_the_crowd_of_a_mallows_order():
    mallows = PLAN.replace(shuffling={"order": "mallows", "alpha": 4.0, "groups": GROUPS})
    crowds = [mallows.replace(protections__minimum_crowd=crowd) for crowd in (2, None)]
    assert len({plan.digest for plan in [mallows, *crowds]}) == 2


def test_a_crowd_is_one_that_the_order_can_give():
    """With theta 2, the first of the order has 1 + 0.138 near; with 0.02, 25.99."""
    mallows = {"order": "mallows", "alpha": 0.32, "groups": GROUPS}
    plan = PLAN.replace(shuffling=mallows, protections__minimum_crowd=25)
    assert plan.protections.minimum_crowd == 25
    with pytest.raises(
        PlanError, match=r"minimum_crowd must be at most 25: the first of the order"
    ):
        plan.replace(protections__minimum_crowd=26)
    with pytest.raises(PlanError, match=r"minimum_crowd must be at most 1:"):
        plan.replace(shuffling__alpha=32.0, protections__minimum_crowd=2)
    with pytest.raises(PlanError, match=r"minimum_crowd must be left out unless"):
        plan.replace(shuffling={"order": "uniform"})


def test_digest_changes_with_dummies_and_samples():
    made = {"epsilon": 1.0, "delta": 1e-8}
    shufflers = [
        [{}],
        [{"dummies": made}],
        [{"dummies": made | {"epsilon": 0.5}}],
        [{"dummies": made | {"delta": 1e-6}}],
        [{"dummies": {"epsilon": 20.0, "delta": 0.1, "weights": [1, 40, 1]}}],
        [{"dummies": {"epsilon": 20.0, "delta": 0.1, "weights": [1, 41, 1]}}],
        [{"dummies": made, "keep": 0.5}],
        [{"dummies": made}, {}],
        [{}, {"dummies": made}],
    ]
    single = {"participation": {"model": "single"}, "policy": {}}
    digests = {PLAN.replace(shufflers=own, **single).digest for own in shufflers}
    assert len(digests) == len(shufflers)


def test_digest_changes_with_the_order_of_questions():
    two = [{"mechanism": "k-rr", "k": k, "max_epsilon_local": 1.0} for k in (2, 3)]
    first, second = (asking(*order) for order in (two, two[::-1]))
    assert first.digest != second.digest


def test_every_key_is_tried_in_the_digest(plan_keys):
    """A new key must be put on one of the lists above."""
    tried = {name.replace("__", ".") for name in (*OMITTED, *DIGESTED)} | ONE_VALUE_ONLY
    tried |= {f"participation.{key}" for key in OTHER_MODELS.values()}
    tried |= {"participation.noise"}
    tried |= {"shuffling.order", "shuffling.alpha", "shuffling.groups.sha256"}
    tried |= {"protections.minimum_crowd"}
    tried |= {"shuffling.groups.sensitivity", "randomizer"}
    tried |= {"questions.name", "questions.text", "shufflers.keep"}
    tried |= {f"shufflers.dummies.{name}" for name in ("epsilon", "delta", "weights")}
    assert {key for key in plan_keys if not key.startswith("policy.")} <= tried


SPELLINGS = {
    "minimum_batch = 200_000": "minimum_batch = 2e5",
    "k = 50": "k = 0x32",
    "max_epsilon_local = 4.0": "max_epsilon_local = 4 # nats",
    "delta = 1e-8": "delta = 0.000_000_01",
    'every = "24h"': 'every = "1d"',
    'disposal_age = "72h"': "",
    'noise = "fresh"': "noise = 'fresh'",
    "[shuffling]\n": "[ 'shuffling' ] # by name\n",
}


@pytest.mark.parametrize("old", SPELLINGS)
def test_digest_does_not_depend_on_spelling(old):
    text = FULL.replace(old, SPELLINGS[old])
    assert text != FULL
    assert Plan.from_toml(text).digest == PLAN.digest


@given(st.randoms(use_true_random=False))
def test_digest_does_not_depend_on_the_order_of_keys(random):
    def shuffled(value):
        if not isinstance(value, dict):
            return value
        return {name: shuffled(value[name]) for name in random.sample(sorted(value), len(value))}

    assert Plan.model_validate(shuffled(PLAN.document())).digest == PLAN.digest


def test_digest_of_a_grid_does_not_depend_on_spelling():
    whole, decimal = (
        small(randomizer={"mechanism": "laplace", "grid": grid, "max_epsilon_local": 1})
        for grid in ({"low": 0, "high": 1, "step": 1}, {"low": -0.0, "high": 1.0, "step": 1.0})
    )
    assert whole.digest == decimal.digest


def test_golden_digest():
    """Whoever changes it gives every client a new key: say so under Guarantees."""
    assert PLAN.digest == DIGEST


def test_canonical_text_is_sorted_json_without_spaces():
    document = json.loads(PLAN.canonical)
    assert json.dumps(document, sort_keys=True, separators=(",", ":")).encode() == PLAN.canonical
    assert set(document) == {
        "analyzer",
        "collection",
        "guarantee",
        "participation",
        "protections",
        "questions",
        "schema",
        "shufflers",
        "shuffling",
    }


def test_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        PLAN.name = "other"
    with pytest.raises(ValidationError, match="frozen"):
        PLAN.protections.minimum_batch = 2
    with pytest.raises(AttributeError):
        PLAN.randomizer.k = 2


def test_defaults():
    plan = small()
    assert plan.guarantee.delta == 0.01 / 100
    assert plan.document()["protections"]["disposal_age"] == "72h"
    assert plan.participation_model.model == "single"
    assert "questions" not in plan.document()
    assert plan.operators == "separate"
    assert (plan.shuffler_key, plan.analyzer_key) == (None, None)
    assert "policy" not in plan.document()


WORDS = {"name": "shoes", "text": "Which size are your shoes?"}


def test_words_of_a_question_are_no_part_of_a_plan_that_has_none():
    bare = small()
    assert b"name" not in bare.canonical
    assert b"text" not in bare.canonical
    worded = {
        key: small(randomizer=bare.document()["randomizer"] | {key: WORDS[key]}) for key in WORDS
    }
    assert len({bare.digest, *(plan.digest for plan in worded.values())}) == 3
    assert b'"name":"shoes"' in worded["name"].canonical


def test_words_of_questions_are_read_again():
    two = [{"mechanism": "k-rr", "k": k, "max_epsilon_local": 1.0} for k in (2, 3)]
    plan = asking(two[0] | WORDS, two[1])
    again = Plan.from_toml(plan.to_toml())
    assert again == plan
    assert [question.name for question in again.questions] == ["shoes", None]
    assert again.questions[0].text == "Which size are your shoes?"
    assert again.randomizers == asking(*two).randomizers
    assert again.digest != asking(*two).digest


def test_changes_are_checked_as_a_whole():
    with pytest.raises(PlanError, match=r"plan: minimum_batch must be in \[2, 1,000,000\]"):
        PLAN.replace(protections__minimum_batch=10**7)
    with pytest.raises(PlanError, match="protection is not a key of a plan"):
        PLAN.replace(protection__minimum_batch=5)
    assert PLAN.replace(population__enrolled=2 * 10**6).guarantee.delta == 1e-8


def test_a_plan_that_samples_people_cannot_be_run():
    small().require_deployable()
    with pytest.raises(ParameterError, match="nobody draws the sample here; got 'subsample'"):
        small(participation={"model": "subsample", "repeats": 2}).require_deployable()


def test_a_former_name_is_no_attribute():
    assert not hasattr(PLAN, "protocol")
    with pytest.raises(RenamedError, match=r"plan\.protocol is now plan\.participation_model"):
        PLAN.protocol  # noqa: B018 - it raises


def test_the_error_is_that_of_the_answers_of_a_round():
    """Of 1,000 people who draw one of ten rounds by lot, a hundred answer in each."""
    plan = asking({"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0}).replace(
        participation={"model": "multinomial", "weights": 10},
        population__enrolled=2_000,
        protections__minimum_batch=1_000,
    )
    assert plan.answers == 100
    assert plan.rms_error == plan.randomizers[0].rms_error(100)


def test_shares_and_means_have_no_error_together():
    mean = {"mechanism": "one-bit-mean", "grid": {"low": 0, "high": 60, "step": 10}}
    share = {"mechanism": "k-rr", "k": 2}
    plan = asking(*(own | {"max_epsilon_local": 1.0} for own in (share, mean)))
    assert plan.rms_error is None
    assert asking(share | {"max_epsilon_local": 1.0}).rms_error is not None


def test_tokens_do_not_fit_groups_and_the_issuer_has_a_key_of_its_own():
    with pytest.raises(PlanError, match="a token belongs to no place"):
        PLAN.replace(admission__by="token", shuffling__groups={"sha256": "ab" * 32})
    with pytest.raises(PlanError, match="a key of its own"):
        PLAN.replace(admission__key="ab" * 32, shufflers__key="ab" * 32)
    with pytest.raises(PlanError, match="who runs a shuffler"):
        PLAN.replace(admission__relay="Both", shufflers__operator="Both")


@pytest.mark.parametrize(
    "origin",
    [
        "https://www.example/",
        "https://WWW.example",
        "http://www.example",
        "*",
        "null",
        "https://a b",
        "https://user@www.example",
    ],
)
def test_an_origin_is_what_browsers_send(origin):
    assert PLAN.replace(admission__origins=["https://www.example:8443", "http://127.0.0.1:8000"])
    with pytest.raises(PlanError, match="a list of origins"):
        PLAN.replace(admission__origins=[origin])
    with pytest.raises(PlanError, match="differ"):
        PLAN.replace(admission__origins=["https://www.example"] * 2)

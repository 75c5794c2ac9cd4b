"""The root: the names that programs use, and what every result can do."""

import json
import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import croupier
from croupier.analyzer.analysis import Analysis, QuestionEstimate
from croupier.errors import CroupierError, ParameterError, RenamedError
from croupier.model.result import _column

NOUNS = {
    *("Adversary", "Bracket", "Channel", "Client", "CroupierError", "Estimate", "Evidence", "Grid"),
    *("Guarantee", "Keystream", "Ladder", "Plan", "Randomizer", "Shuffler", "UniformShuffler"),
}
FUNCTIONS = {
    *("analyze", "audit", "bayes_security", "bracket", "design", "gain", "guess_informed"),
    *("guess_uninformed", "randomizer", "reidentification", "solve", "sweep"),
}
RENAMED = {
    "amplify": "randomizer.bracket(n=, delta=).upper",
    "assess": 'croupier.Plan.load("plan.toml").assess()',
    "attack": 'croupier.Plan.load("plan.toml").attack()',
    "check": 'croupier.Plan.load("plan.toml").check()',
    "compare": 'croupier.Plan.load("plan.toml").compare(other)',
    "explain": 'croupier.Plan.load("plan.toml").explain()',
    "vulnerability": "croupier.guess_uninformed(",
}
RESPONSE = croupier.randomizer("k-rr", k=3, max_epsilon_local=1.0)
PLAN = croupier.Plan.from_toml("""
schema = 2
name = "pets"
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
population.enrolled = 3_000
protections.minimum_batch = 1_000
policy.batch.max_epsilon = 0.9
policy.clients.max_epsilon = 0.9
""")


@pytest.fixture(scope="module")
def results():
    """One of every kind."""
    ladder, attacks = PLAN.assess(), PLAN.attack(games=200, insecure_seed=1)
    bracket = RESPONSE.bracket(n=1e3, delta=1e-6)
    wanted = {"k": 2, "enrolled": 1e4, "target_error": 0.1, "max_epsilon": 1.0}
    designs = croupier.design(**wanted, mechanisms=["k-rr"])
    estimate = RESPONSE.estimate(RESPONSE.randomize([0, 1, 2, 2]))
    answered = QuestionEstimate(question=0, asked=None, rounds=(0,), estimate=estimate)
    return {
        "Analysis": Analysis(
            plan_digest=PLAN.digest, estimates=(answered,), batches=(), warnings=()
        ),
        "Attacks": attacks,
        "Audit": croupier.audit(RESPONSE, inputs=[0, 1], samples=1000, insecure_seed=1),
        "Bracket": bracket,
        "Check": PLAN.check(),
        "Comparison": PLAN.compare(PLAN.replace(protections__minimum_batch=2e3)),
        "Design": designs[0],
        "Designs": designs,
        "Estimate": estimate,
        "Evidence": attacks["reidentification"].evidence,
        "Guarantee": bracket.upper,
        "Ladder": ladder,
        "Plan": PLAN,
        "Played": attacks["reidentification"],
        "Row": ladder["batch"],
        "Solution": croupier.solve("k-rr", k=3, epsilon_local=1.0, n=1e3, delta=1e-6),
        "Sweep": croupier.sweep(PLAN, max_epsilon_local=[0.5, 1], minimum_batch=[1e3, 1e4]),
    }


KINDS = [
    *("Analysis", "Attacks", "Audit", "Bracket", "Check", "Comparison", "Design", "Designs"),
    *("Estimate", "Evidence", "Guarantee", "Ladder", "Plan", "Played", "Row", "Solution", "Sweep"),
]


def test_the_root_has_these_names():
    assert set(croupier.__all__) == NOUNS | FUNCTIONS
    assert set(croupier.__all__) <= set(dir(croupier))
    for name in croupier.__all__:
        found = getattr(croupier, name)
        assert isinstance(found, type) is (name in NOUNS), name
        assert found.__name__ == name


@pytest.mark.parametrize("name", RENAMED)
def test_a_former_name_tells_the_new_one(name):
    with pytest.raises(RenamedError) as caught:
        getattr(croupier, name)
    assert str(caught.value).startswith(f"croupier.{name} is now ")
    assert RENAMED[name] in str(caught.value)
    with pytest.raises(CroupierError, match=f"croupier.{name} is now"):
        exec(f"from croupier import {name}")  # noqa: S102 - one of the names above
    assert name not in dir(croupier)


PACKAGES = {
    "audit": "croupier.auditing",
    "pipeline": "croupier.protocol, croupier.client",
    "service": "croupier.shuffler.http",
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_former_package_tells_the_new_one(name):
    for module in (f"croupier.{name}", f"croupier.{name}.wire"):
        with pytest.raises(RenamedError) as caught:
            import_module(module)
        assert str(caught.value).startswith(f"the package croupier.{name} is now {PACKAGES[name]}")
    assert callable(croupier.audit)
    exec("from croupier import audit\nassert callable(audit)")  # noqa: S102 - a constant


def test_a_former_name_of_a_plan_tells_the_new_one():
    with pytest.raises(RenamedError, match=r"plan\.having is now plan\.replace\(\.\.\.\)\."):
        PLAN.having(protections__minimum_batch=900)
    with pytest.raises(RenamedError, match=r"plan\.protocol is now plan\.participation_model\."):
        _ = PLAN.protocol
    with pytest.raises(AttributeError, match="'Plan' object has no attribute 'protocoll'"):
        _ = PLAN.protocoll


def test_the_root_lists_only_what_is_public():
    assert dir(croupier) == sorted(croupier.__all__)


def test_other_names_are_missing_as_usual():
    with pytest.raises(AttributeError, match="no attribute 'shuffel'"):
        _ = croupier.shuffel
    with pytest.raises(ImportError):
        exec("from croupier import shuffel")  # noqa: S102 - a constant


def test_the_root_imports_nothing_but_what_is_asked_for():
    program = "import sys, croupier; print(sorted(m for m in sys.modules if 'croupier' in m))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['croupier', 'croupier.errors']"


def test_every_kind_is_looked_at(results):
    assert {name: type(result).__name__ for name, result in results.items()} == dict(
        zip(KINDS, KINDS, strict=True)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_short_in_words(results, kind):
    text = repr(results[kind])
    assert text.startswith(f"{kind}(")
    assert text.endswith(")")
    assert "\n" not in text
    assert len(text) < 120


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_card(results, kind):
    card = results[kind]._repr_html_()
    assert card.startswith('<div class="croupier">')
    assert "</table>" in card


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_json(results, kind):
    document = results[kind].to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_frame_of_any_library(results, kind, backend):
    frame = results[kind].to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    assert len(frame)


def test_a_library_that_is_not_known_is_refused(results):
    with pytest.raises(ParameterError, match="`backend` must be one of pandas, polars, pyarrow"):
        results["Ladder"].to_frame("excel")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_an_estimate_comes_in_the_library_of_the_reports(library):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    make = {"pandas": pandas.Series, "polars": polars.Series, "pyarrow": pa.array}[library]
    reports = RESPONSE.randomize(make([0, 1, 2, 2]))
    for estimate in (RESPONSE.estimate(reports), RESPONSE.estimate(reports, project=True)):
        assert type(estimate.to_frame()).__module__.startswith(library)
        assert type(estimate.simultaneous().to_frame()).__module__.startswith(library)


def test_scalars_of_other_libraries_are_numbers():
    assert PLAN.replace(protections__minimum_batch=np.int64(900)).protections.minimum_batch == 900
    for grid in (np.array([900, 1000]), pa.array([900, 1000]), iter([900, 1000])):
        found = croupier.sweep(PLAN, minimum_batch=grid)
        assert [one.values["minimum_batch"] for one in found] == [900, 1000]
        assert all(one.ladder for one in found)
    assert _column([np.float64(1), 2.0]) == [1.0, 2.0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_is_taken_wherever_a_list_is(library):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    inputs, sizes = [0, 1], [900, 1000]
    make = {
        "pandas": lambda entries: pandas.Series(entries, index=["a", "b"]),
        "polars": polars.Series,
        "pyarrow": pa.array,
    }[library]
    found = croupier.audit(RESPONSE, inputs=make(inputs), samples=1000, insecure_seed=1)
    assert found == croupier.audit(RESPONSE, inputs=inputs, samples=1000, insecure_seed=1)
    frame = croupier.sweep(PLAN, minimum_batch=make(sizes)).to_frame()
    assert type(frame).__module__.startswith(library)


def test_a_row_shows_its_metrics(results):
    row = results["Row"]
    names = {"epsilon", "reidentification", "guess_of_two", "guess_uninformed", "guess_informed"}
    assert names | {"bayes_security", "alpha"} <= set(dir(row))
    assert row.epsilon.upper == row["epsilon"].upper == row.epsilon.value
    assert row.epsilon.lower is None
    assert row.bayes_security.lower == row["bayes_security"].lower
    with pytest.raises(AttributeError):
        _ = row.epsilom


def test_verbs_are_the_functions(results):
    assert PLAN.assess() == results["Ladder"]
    assert RESPONSE.bracket(n=1e3, delta=1e-6) == croupier.bracket(RESPONSE, n=1000, delta=1e-6)
    assert PLAN.check().met
    assert not PLAN.compare(PLAN).differences


def test_an_explanation_is_saved(tmp_path):
    page = PLAN.explain()
    page.save(tmp_path / "explain.html")
    assert (tmp_path / "explain.html").read_text(encoding="utf-8") == page.html
    assert page.html.startswith("<!DOCTYPE html>")
    assert repr(page).startswith("Explanation(pets ")
    assert "<iframe srcdoc=" in page._repr_html_()
    with pytest.raises(ParameterError, match="be in a folder that exists"):
        page.save(tmp_path / "nowhere" / "explain.html")


@pytest.mark.parametrize("given", ["plan.toml", os.fspath("plan.toml"), None, {}])
def test_the_name_of_a_file_is_no_plan(given):
    with pytest.raises(ParameterError, match=r"Pass a Plan: croupier\.Plan\.load\(path\)"):
        PLAN.compare(given)
    with pytest.raises(ParameterError, match=r"Pass a Plan: croupier\.Plan\.load\(path\)"):
        croupier.sweep(given, minimum_batch=[1e3])
    with pytest.raises(ParameterError, match=r"Pass a Plan: croupier\.Plan\.load\(path\)"):
        croupier.analyze(given, [], key=None, engine=None)


DRAWS = {
    "randomize": lambda **given: RESPONSE.randomize([0, 1, 2] * 30, **given).tolist(),
    "order": lambda **given: croupier.UniformShuffler().order(100, **given).tolist(),
    "shuffle": lambda **given: croupier.UniformShuffler().shuffle(range(100), **given).tolist(),
    "audit": lambda **given: croupier.audit(RESPONSE, inputs=[0, 1], samples=1000, **given),
    "attack": lambda **given: PLAN.attack(games=100, **given),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_repeats_all_that_is_drawn(name):
    draw = DRAWS[name]
    assert draw(insecure_seed=7) == draw(insecure_seed=7) != draw(insecure_seed=8)
    assert draw(rng=croupier.Keystream(insecure_seed=7)) == draw(insecure_seed=7)
    assert draw() != draw()


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("rng", [7, np.random.default_rng(7)])
def test_another_source_of_randomness_is_refused(name, rng):
    sentence = "`rng` must be a croupier Keystream; got .* Pass insecure_seed=7 for a repeatable"
    with pytest.raises(ParameterError, match=sentence):
        DRAWS[name](rng=rng)
    with pytest.raises(ParameterError, match="`insecure_seed` must be left out"):
        DRAWS[name](rng=croupier.Keystream(), insecure_seed=7)
    with pytest.raises(ParameterError, match="`insecure_seed` must be a whole number; got 'str'"):
        DRAWS[name](insecure_seed="7")


def test_what_is_missing_is_said():
    with pytest.raises(ParameterError, match="got 'none of them'"):
        croupier.solve("k-rr", k=3)
    with pytest.raises(ParameterError, match="got 'epsilon, delta, epsilon_local, n'"):
        croupier.solve("k-rr", k=3, epsilon=1.0, delta=1e-6, epsilon_local=1.0, n=9)


def test_a_name_is_no_randomizer():
    for call in (croupier.bracket, croupier.reidentification):
        given = {"delta": 1e-6} if call is croupier.bracket else {}
        with pytest.raises(ParameterError, match="`randomizer` must be a Randomizer; got 'str'"):
            call("k-rr", n=1e3, **given)


def test_a_rung_or_a_metric_that_is_misspelled_is_named(results):
    with pytest.raises(ParameterError, match=r"`btach` is not a rung\. Did you mean batch"):
        _ = results["Ladder"]["btach"]
    with pytest.raises(ParameterError, match=r"`epsilom` is not a metric\. Did you mean epsilon"):
        _ = results["Row"]["epsilom"]


def test_priors_and_gains_are_at_the_root():
    blind = croupier.gain(RESPONSE, [0.8, 0.1, 0.1])
    assert blind == 0.8
    assert croupier.gain(RESPONSE, gain=[[1, 1, 0], [0, 0, 1]]) >= 2 / 3
    found = croupier.guess_uninformed(RESPONSE, n=1e2, prior=[0.8, 0.1, 0.1])
    assert found.value == pytest.approx(0.8, abs=0.01)
    informed = croupier.guess_informed(RESPONSE, others=(40, 30, 30), prior=[0.8, 0.1, 0.1])
    assert 0.8 <= informed.value < 1


def test_a_whole_number_that_is_written_as_a_float_is_named():
    with pytest.raises(ParameterError, match=r"got 10\.0\. Try 10\.$"):
        croupier.randomizer("k-rr", k=1e1, max_epsilon_local=1.0)


def test_a_plan_is_loaded_from_a_name():
    with pytest.raises(ParameterError, match=r"`path` must be the name of a file; got 7\. Try"):
        croupier.Plan.load(7)


def test_the_name_of_a_function_is_no_target():
    with pytest.raises(ParameterError, match=r"`target` must be .*Pass "):
        croupier.audit("noise:respond", inputs=[0, 1], claim=1.0)

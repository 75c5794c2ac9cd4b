"""What the page may ask, and that every answer is about the plan that it was asked about."""

import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.ladder.text import cell_text
from croupier.assessment.policy import checked
from croupier.documents.explain.limits import verdict_line
from croupier.explorer.controls.panel import Rejected, control, moved, panel
from croupier.explorer.explorer import Explorer
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

ROOT = Path(__file__).parents[3]
PLANS = sorted((ROOT / "examples" / "plans").glob("*.toml"))

SMALL = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population = {enrolled = 9_000, corrupt_fraction = 0.01}
protections.minimum_batch = 1_000
policy.batch.max_epsilon = 0.5
policy.clients.max_epsilon = 0.5
""")


def parts(plan, verb, **body):
    found = [part for part in Explorer(plan).answer(verb, body) if part is not None]
    assert found[-1] == {"part": "end"}
    return json.loads(json.dumps(found[:-1], allow_nan=False))


def after(plan, *changes):
    listed = [{"control": name, "value": value} for name, value in changes]
    return parts(plan, "state", document=plan.document(), changes=listed)


def plan_of(found):
    return Plan.from_document(next(part for part in found if part["part"] == "plan")["document"])


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_every_number_is_that_of_the_ladder(path):
    plan = Plan.load(path)
    found, ladder = after(plan), assess(plan)
    columns = {part["metric"]: part["cells"] for part in found if part["part"] == "column"}
    assert set(columns) == set(ladder.rungs.metrics)
    for metric, cells in columns.items():
        rows = {cell["rung"]: cell for cell in cells}
        for row in (ladder.blind, *ladder):
            cell, shown = row[metric], rows.pop(row.rung)
            assert shown["text"] == cell_text(cell)
            assert (shown["lower"], shown["upper"]) == (cell.lower, cell.upper)
            assert cell.proved is None or row is ladder.blind or shown["theorem"]
            assert cell.proved is not None or shown["reason"]
        assert not rows


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_that_nobody_moved_is_the_plan(path):
    plan = Plan.load(path)
    assert plan_of(after(plan)).digest == plan.digest
    for group in panel(plan):
        for each in group.controls:
            if each.value is None or each.kind == "button" or each.id.startswith("limit_"):
                continue
            if each.id in ("kind", "every", "labels", "k", "mechanism", "longest", "model"):
                continue  # these choose anew what follows from them
            assert moved(plan.document(), [(each.id, each.value)]).digest == plan.digest, each.id


def test_the_verdict_is_that_of_check():
    verdict = next(part for part in after(SMALL) if part["part"] == "verdict")
    assert (verdict["judgement"] == "MET") is checked(assess(SMALL)).met
    assert [(limit["rung"], limit["metric"]) for limit in verdict["limits"]] == [
        ("batch", "epsilon"),
        ("clients", "epsilon"),
    ]
    broken = after(SMALL, ("max_epsilon_local", 5.0))
    *_, last = (part for part in broken if part["part"] == "verdict")
    assert last["judgement"] == "NOT MET"
    assert last["advice"]
    none = after(SMALL, ("limit.batch.max_epsilon", None), ("limit.clients.max_epsilon", None))
    assert next(p for p in none if p["part"] == "verdict")["judgement"] == "NO LIMIT SET"


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_last_verdict_says_what_the_officers_page_says(path):
    plan = Plan.load(path)
    *_, last = (part for part in after(plan) if part["part"] == "verdict")
    ladder = assess(plan)
    line = verdict_line(ladder, checked(ladder))
    assert (last["kind"], last["words"]) == (line.kind, [line.judged, *line.besides])
    assert last["kind"] != "met"  # that is for limits that somebody else sets


def test_a_limit_on_a_late_column_is_judged_with_it():
    given = {"who": "batch", "what": "max_guess_uninformed", "value": 0.5}
    found = after(SMALL, ("limit_add", given))
    kinds = [part.get("metric", part["part"]) for part in found]
    assert kinds.index("guess_uninformed") < kinds.index("verdict")
    proved = {each["metric"]: each["proved"] for each in found[kinds.index("verdict")]["limits"]}
    assert proved["guess_uninformed"] == cell_text(assess(SMALL)["batch"]["guess_uninformed"])
    late = [part.get("metric", part["part"]) for part in after(SMALL)]
    assert late.index("verdict") < late.index("guess_uninformed")


def test_a_problem_has_no_numbers_and_names_its_input():
    found = after(SMALL, ("minimum_batch", 10_000))
    [problem] = found
    assert problem["part"] == "problem"
    assert problem["control"] == "minimum_batch"
    assert "minimum_batch must be in [2, 9,000]" in problem["message"]
    shown = {each["id"]: each for group in problem["groups"] for each in group["controls"]}
    assert shown["minimum_batch"]["value"] == 10_000


def test_changes_are_applied_one_after_the_other():
    found = after(SMALL, ("enrolled", 500), ("minimum_batch", 100), ("corrupt_fraction", 0.0))
    plan = plan_of(found)
    assert (plan.population.enrolled, plan.protections.minimum_batch) == (500, 100)


@pytest.mark.parametrize("kind", ["list", "number", "text", "several"])
def test_every_kind_of_question_can_be_asked(kind):
    found = after(SMALL, ("kind", kind))
    assert plan_of(found)
    result = next(part for part in found if part["part"] == "result")
    assert result["rows"]
    assert all(row["lower"] < row["estimate"] < row["upper"] for row in result["rows"])


def test_a_second_shuffler_renames_limits_and_never_loosens_one():
    plan = moved(
        SMALL.document(),
        [
            ("limit_add", {"who": "apart", "what": "max_epsilon", "value": 1}),
            ("limit.collusion.max_guess_of_two", 0.9),
        ],
    )
    two = moved(plan.document(), [("shufflers", 2)])
    assert {str(rung) for rung in two.policy} == {
        "batch",
        "network",
        "shuffler_1",
        "shuffler_2",
        "clients",
        "everybody",
    }
    strict = moved(two.document(), [("limit.all_but_one.max_guess_of_two", 0.7)])
    again = moved(strict.document(), [("shufflers", 1)])
    assert {(str(each.rung), each.key): each.value for each in again.limits}[
        "collusion", "max_guess_of_two"
    ] == 0.7


def test_limits_of_all_apart_satisfy_check():
    bare = moved(
        SMALL.document(), [("limit.batch.max_epsilon", None), ("limit.clients.max_epsilon", None)]
    )
    plan = moved(
        bare.document(),
        [("limit_add", {"who": "apart", "what": "max_guess_of_two", "value": 0.55})],
    )
    assert checked(assess(plan)).met
    two = moved(
        bare.document(),
        [
            ("mechanism", "plain"),
            ("dummies", "yes"),
            ("shufflers", 2),
            ("limit_add", {"who": "apart", "what": "max_guess_of_two", "value": 0.65}),
        ],
    )
    assert checked(assess(two)).met


@pytest.mark.parametrize(
    "change",
    [
        ("nothing", 1),
        ("limit.nobody.max_epsilon", 0.1),
        ("limit.batch.nothing", 0.1),
        ("max_epsilon_local", "four"),
        ("kind", "guess"),
        ("labels", ["same", "same"]),
        ("mechanism", "no-such"),
        ("shufflers", 3),
        ("every", "never"),
        ("limit_add", {"who": "nobody", "what": "max_epsilon", "value": 1}),
        ("limit_add", None),
        ("grid_low", 1),
        ("max_epsilon_local", 10**400),
        ("minimum_batch", float("nan")),
    ],
)
def test_what_does_not_fit_is_a_problem(change):
    with pytest.raises(Rejected) as raised:
        moved(SMALL.document(), [change])
    assert raised.value.problem


def test_unknown_questions_fail_politely():
    assert parts(SMALL, "steal")[0]["part"] == "failure"
    assert parts(SMALL, "curve", control=3)[0]["part"] == "failure"
    assert parts(SMALL, "state", document=[1])[0]["part"] == "failure"
    assert parts(SMALL, "state", changes=3)[0]["part"] == "failure"
    assert parts(SMALL, "edge", control="nothing")[0]["part"] == "failure"
    assert "end to look for" in parts(SMALL, "edge", control="k")[0]["message"]
    assert parts(SMALL, "export", form="nothing")[0]["part"] == "failure"
    assert parts(SMALL, "state", document={"schema": 2})[0]["part"] == "problem"


def test_points_of_a_curve_are_the_ladders_of_other_plans():
    values = [100, 3_000, 20_000]
    found = parts(SMALL, "curve", document=SMALL.document(), control="minimum_batch", xs=values)
    assert [point["x"] for point in found] == values
    ladder = assess(SMALL.replace(protections__minimum_batch=3_000))
    cell = ladder["batch"][Metric.EPSILON]
    assert found[1]["cells"]["epsilon"]["batch"] == [cell.lower, cell.upper]
    assert "minimum_batch" in found[2]["problem"]
    assert not found[2]["cells"]


@pytest.mark.parametrize("name", ["minimum_batch", "max_epsilon_local", "corrupt_fraction"])
def test_an_edge_is_kept_and_the_value_beyond_is_not(name):
    [found] = parts(SMALL, "edge", document=SMALL.document(), control=name)
    value, one = found["value"], control(SMALL, name)
    assert not checked(assess(moved(SMALL.document(), [(name, value)]))).failed
    step = 1 if one.integer else 10.0 ** (math.floor(math.log10(value)) - 2)
    beyond = value - step if one.edge == "smallest" else value + step
    assert checked(assess(moved(SMALL.document(), [(name, beyond)]))).failed


def test_an_edge_needs_a_limit_and_may_not_exist():
    bare = moved(
        SMALL.document(), [("limit.batch.max_epsilon", None), ("limit.clients.max_epsilon", None)]
    )
    [found] = parts(bare, "edge", document=bare.document(), control="minimum_batch")
    assert found["value"] is None
    assert "No limit is set" in found["words"]
    hard = moved(SMALL.document(), [("limit.batch.max_epsilon", 1e-6)])
    [found] = parts(hard, "edge", document=hard.document(), control="minimum_batch")
    assert found["value"] is None


def test_the_plan_that_is_written_passes_check_and_the_command_gives_the_same(tmp_path):
    [file] = parts(SMALL, "export", document=SMALL.document(), form="plan")
    path = tmp_path / file["name"]
    path.write_text(file["text"])
    assert Plan.load(path).digest == SMALL.digest
    assert "# nats, a ceiling" in file["text"]
    assert Plan.load(path).check().met
    [command] = parts(SMALL, "export", document=SMALL.document(), form="command")
    program = "import sys; from croupier.cli import main; main()"
    text = command["text"].replace("croupier assess", f"'{sys.executable}' -c '{program}' assess")
    shell = shutil.which("bash") or "bash"
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, check=True)
    cells = next(part for part in after(SMALL) if part.get("metric") == "epsilon")["cells"]
    assert all(cell["text"] in done.stdout for cell in cells)


def test_pages_are_written():
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    [page] = parts(SMALL, "export", document=SMALL.document(), form="page")
    assert page["name"] == "explain.html"
    assert "<script" not in page["text"]
    other = SMALL.replace(protections__minimum_batch=2_000)
    [page] = parts(
        other, "export", document=other.document(), other=SMALL.document(), form="compare"
    )
    assert "minimum_batch" in page["text"]


def test_whatever_is_moved_the_answer_is_a_plan_or_a_problem():
    rng = random.Random(29)  # noqa: S311 - moves of inputs, no secret
    plans = [
        Plan.load(path) for path in PLANS if path.stem in ("emoji", "health-survey", "new-words")
    ]
    seen = set()
    for _ in range(60):
        plan = rng.choice(plans)
        inputs = [each for group in panel(plan) for each in group.controls]
        one = rng.choice([each for each in inputs if not each.id.startswith("limit_")])
        value = rng.choice([None, -1, 0, 1e30, "x", True, one.low, one.high, one.value])
        found = after(plan, (one.id, value))
        seen.add(found[0]["part"])
        assert found[0]["part"] in ("plan", "problem")
        assert not [part for part in found if part["part"] == "failure"]
        if found[0]["part"] == "problem":
            assert len(found) == 1
    assert seen == {"plan", "problem"}


def test_an_edge_is_looked_for_from_what_is_met_now():
    """Less noise moves what liars can do the other way: the present value meets this limit."""
    plan = moved(
        SMALL.document(),
        [
            ("limit.batch.max_epsilon", None),
            ("limit.clients.max_epsilon", None),
            ("corrupt_fraction", 0.05),
            ("limit_add", {"who": "apart", "what": "max_manipulation", "value": 0.9}),
        ],
    )
    for value in (2.0, 4.0):
        there = moved(plan.document(), [("max_epsilon_local", value)])
        if checked(assess(there)).failed:
            continue
        [found] = parts(there, "edge", document=there.document(), control="max_epsilon_local")
        assert found["value"] == 10.0
        return
    pytest.fail("the limit is met nowhere")


def test_points_stay_only_where_moving_back_leads_to_the_same_plan():
    lossy = set()
    for path in PLANS:
        plan = Plan.load(path)
        for each in (each for group in panel(plan) for each in group.controls):
            if not each.movable or not each.low:
                continue
            value = round((each.low + each.high) / 2) if each.integer else each.high
            try:
                away = moved(plan.document(), [(each.id, value)])
                back = moved(away.document(), [(each.id, each.value)])
                once = moved(plan.document(), [(each.id, each.value)])
            except Rejected:
                continue
            if back.digest != once.digest:
                lossy.add(each.id)
                assert each.lossy, each.id
    assert lossy <= {"questions", "max_epsilon_local"}


def test_tiny_shares_have_a_page():
    assert after(SMALL, ("corrupt_fraction", 1e-320))[0]["part"] == "plan"


def test_other_numbers_of_answers_keep_what_a_mechanism_must_be_given():
    kept = moved(
        SMALL.replace(
            randomizer__mechanism="memoised-k-rr", randomizer__max_epsilon_permanent=3.0
        ).document(),
        [("k", 6)],
    )
    assert kept.randomizer.specification["max_epsilon_permanent"] == 3.0
    assert kept.randomizer.domain.size == 6

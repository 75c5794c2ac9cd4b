"""A sweep assesses every combination, and keeps what is no plan with its reason."""

import pytest
from matplotlib.figure import Figure

import croupier
from croupier.assessment.sweep import sweep
from croupier.errors import ParameterError, UnknownNameError
from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
name = "pets"
randomizer = {mechanism = "k-rr", k = 3, max_epsilon_local = 1.0}
population.enrolled = 9_000
protections.minimum_batch = 1_000
""")
TWO = Plan.from_toml("""
schema = 2
population.enrolled = 9_000
protections.minimum_batch = 1_000
participation.model = "divide"
[[questions]]
mechanism = "k-rr"
k = 2
max_epsilon_local = 1.0
[[questions]]
mechanism = "k-rr"
k = 3
max_epsilon_local = 1.0
""")


def test_every_combination_is_the_plan_with_these_values():
    done = []
    found = sweep(
        PLAN, advance=done.append, max_epsilon_local=[0.5, 1], minimum_batch=[1e3, 4e3, 1e5]
    )
    assert done == [1] * 6
    assert [tuple(one.values.values()) for one in found] == [
        (local, batch) for local in (0.5, 1) for batch in (1e3, 4e3, 1e5)
    ]
    for one in found:
        if one.values["minimum_batch"] == 1e5:
            assert one.ladder is None
            assert "minimum_batch must be in [2, 9,000]" in one.reason
            continue
        changed = PLAN.replace(
            randomizer__max_epsilon_local=one.values["max_epsilon_local"],
            protections__minimum_batch=one.values["minimum_batch"],
        )
        assert one.ladder == changed.assess()
    assert repr(found).endswith(
        "6 combinations of max_epsilon_local, minimum_batch; 2 without a ladder)"
    )


def test_the_frame_has_a_row_per_combination_rung_and_metric():
    found = sweep(PLAN, minimum_batch=[1e3, 1e5])
    frame = found.to_frame("pandas")
    names = ["minimum_batch", "rung", "metric", "lower", "upper", "status", "reason"]
    assert list(frame.columns) == names
    ladder = found.combinations[0].ladder
    chosen = frame[(frame["rung"] == "batch") & (frame["metric"] == "epsilon")]
    assert chosen["upper"].tolist() == [ladder["batch"].epsilon.value]
    cells = sum(len(row.cells) for row in ladder)
    assert len(frame) == cells + 1
    assert "minimum_batch" in frame["reason"].iloc[-1]


def test_a_parameter_is_set_for_every_question():
    (one,) = sweep(TWO, max_epsilon_local=[0.25])
    assert [each.epsilon_local for each in one.ladder.plan.randomizers] == pytest.approx([0.25] * 2)


def test_keys_are_found_by_their_last_name():
    given = {"shuffling__order": ["uniform"], "delta": [1e-7], "mechanism": ["subset-selection"]}
    (one,) = sweep(PLAN, **given)
    assert one.ladder.plan.randomizer.mechanism == "subset-selection"
    assert one.ladder.plan.guarantee.delta == 1e-7
    (same,) = sweep(PLAN, policy__batch__max_epsilon=[0.5])
    assert [limit.value for limit in same.ladder.plan.limits] == [0.5]


def test_what_cannot_be_swept_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean minimum_batch"):
        sweep(PLAN, minimun_batch=[1e3])
    with pytest.raises(ParameterError, match="Write participation__groups or shuffling__groups"):
        sweep(PLAN, groups=[2])
    with pytest.raises(ParameterError, match="be a list of values"):
        sweep(PLAN, minimum_batch=1e3)
    with pytest.raises(ParameterError, match="be a list of values"):
        sweep(PLAN, mechanism="k-rr")
    with pytest.raises(ParameterError, match="be at least one key"):
        sweep(PLAN)


def test_a_sweep_is_drawn_on_the_axes_that_are_given():
    found = croupier.sweep(PLAN, minimum_batch=[1e3, 4e3, 1e5], max_epsilon_local=[0.5, 1])
    ax = Figure().subplots()
    assert found.plot(y="reidentification", rung="clients", ax=ax) is ax
    names = {line.get_label(): line for line in ax.lines}
    assert set(names) == {"max_epsilon_local = 0.5", "max_epsilon_local = 1"}
    proved = list(found)[1].ladder["clients"].reidentification.value
    assert (1e3, proved) in zip(*names["max_epsilon_local = 1"].get_data(), strict=True)
    assert ax.get_ylabel() == "re-identified, at most"
    assert "2 of 6 combinations could not be assessed" in ax.get_title()
    named = sweep(PLAN, mechanism=["k-rr", "subset-selection"]).plot(ax=Figure().subplots())
    assert [text.get_text() for text in named.get_xticklabels()] == ["k-rr", "subset-selection"]
    assert {line.get_linestyle() for line in named.lines} == {"None"}
    with pytest.raises(UnknownNameError, match=r"`btach` is not a rung\. Did you mean batch"):
        found.plot(rung="btach")
    with pytest.raises(UnknownNameError, match="`epsilom` is not a metric"):
        found.plot(y="epsilom")

"""The harness of overload on a small scale: it measures, counts what is missing, and can fail."""

from benchmarks import overload
from benchmarks.overload import Answer
from tests.conftest import SERVER


def test_everything_acknowledged_under_overload_is_stored(database):  # noqa: ARG001 - or skipped
    result = overload.measure(SERVER, usual=16, seconds=2.0, hammer=True)
    assert result["acknowledged"] > 100
    assert (result["missing"], result["broken"], result["other"]) == (0, 0, 0)
    assert result["after"]["accepted_per_s"] > 0


def result(**changed):
    over = {"accepted_p99_ms": changed.pop("p99", 900.0)}
    return {"overload": over, "missing": 0, "recovery_s": 1.0} | changed


def test_late_answers_missing_reports_and_a_slow_recovery_fail():
    assert overload.failures(result()) == []
    for bad in ({"p99": 1000.0}, {"p99": None}, {"missing": 1}, {"recovery_s": 5.1}):
        assert len(overload.failures(result(**bad))) == 1


def test_recovery_ends_with_the_last_late_or_refused_answer():
    good, late, busy = Answer(202, 13.0, 0.1), Answer(202, 11.0, 1.5), Answer(503, 12.0, 0.01)
    assert overload.recovery([good], ended=10.0) == 0
    assert overload.recovery([late, busy, good], ended=10.0) == 2.0

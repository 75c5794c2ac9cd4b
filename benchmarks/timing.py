"""The time that a task takes."""

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["least", "median", "per_call", "seconds", "timed"]

Answer = TypeVar("Answer")


def timed(task: Callable[[], Answer]) -> tuple[Answer, dict[str, float]]:
    """The result of a task, its seconds, and its seconds of processor time."""
    start, busy = time.perf_counter(), time.process_time()
    answer = task()
    return answer, {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - busy,
    }


def seconds(task: Callable[[], object]) -> float:
    """The seconds that one call takes."""
    return timed(task)[1]["seconds"]


def least(task: Callable[[], object], rounds: int) -> float:
    """The least of a few calls: the time without disturbance."""
    return min(seconds(task) for _ in range(rounds))


def median(task: Callable[[], object], rounds: int) -> float:
    """The median of a few calls."""
    return statistics.median(seconds(task) for _ in range(rounds))


def per_call(task: Callable[[], object], at_least: float = 0.1) -> float:
    """Seconds of one call, over as many calls as fill `at_least` seconds."""
    first = seconds(task)
    if first >= at_least:
        return first
    calls = int(at_least / max(first, 1e-7)) + 1
    return seconds(lambda: [task() for _ in range(calls)]) / calls

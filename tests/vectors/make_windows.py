"""Writes the vectors of collection windows, ``windows.json``, to the standard output.

The rule is written here a second time, from docs/wire.md alone. Nothing of croupier is used. A
history is a list of moments at which clients that share one memory look; the vectors say who
answers then, and what the memory holds in the end.
"""

import json
import sys
from fractions import Fraction

DAY = 86_400


def plan(window=30, answers=30, *, every=DAY, epsilon=2.0, delta=0.0, permanent=False):
    return {
        "every": every,
        "window": None if window is None else window * DAY,
        "answers": answers,
        "epsilon": epsilon,
        "delta": delta,
        "is_permanent": permanent,
    }


class Device:
    """One memory, and the plans that use it."""

    def __init__(self, plans, budgets):
        self.plans, self.budgets = plans, budgets
        self.answered = {}
        self.spent, self.spent_delta = {}, {}

    def step(self, name, attribute, round_, clock):
        """True if the plan is answered; None if it says that the budget is used up for ever."""
        own = self.plans[name]
        self.pass_time(name, round_, clock)
        mine = self.answered.get(name, [])
        if own["window"] is not None and len(mine) >= own["answers"]:
            return False
        if not own["is_permanent"]:
            for entry in mine:
                entry["epsilon"], entry["delta"] = own["epsilon"], own["delta"]
        counted = [
            entry
            for other, entries in self.answered.items()
            for entry in entries
            if entry["attribute"] == attribute and not (own["is_permanent"] and other == name)
        ]
        nats = sum(map(Fraction, self.spent.get(attribute, [])))
        nats += sum(Fraction(entry["epsilon"]) for entry in counted) + Fraction(own["epsilon"])
        chance = sum(Fraction(repr(e)) for e in self.spent_delta.get(attribute, []))
        chance += sum(Fraction(repr(entry["delta"])) for entry in counted)
        chance += Fraction(repr(own["delta"]))
        most, most_chance = self.budgets[attribute]
        if nats > Fraction(most) or (own["delta"] and chance > Fraction(repr(most_chance))):
            return None if own["window"] is None else False
        if own["window"] is None:
            self.spent.setdefault(attribute, []).append(own["epsilon"])
            if own["delta"]:
                self.spent_delta.setdefault(attribute, []).append(own["delta"])
            return True
        if own["is_permanent"]:
            for entry in mine:
                if entry["attribute"] == attribute:
                    entry["epsilon"] = entry["delta"] = 0.0
        made = {"attribute": attribute, "epsilon": own["epsilon"], "delta": own["delta"]}
        made |= {"at": clock, "length": own["window"], "rounds": {name: round_}}
        self.answered[name] = [*mine, made]
        return True

    def pass_time(self, name, round_, clock):
        every = self.plans[name]["every"]
        for other, entries in list(self.answered.items()):
            kept = []
            for entry in entries:
                entry["at"] = min(entry["at"], clock)
                first = entry["rounds"].setdefault(name, round_)
                by_round = (round_ - first) * every >= entry["length"]
                by_clock = clock - entry["at"] >= entry["length"] - every
                has_left = by_round and by_clock
                if has_left and other != name:
                    entry["epsilon"] = entry["delta"] = 0.0
                if not has_left or other != name:
                    kept.append(entry)
            self.answered[other] = kept
            if not kept:
                del self.answered[other]

    def move(self, name, round_, clock):
        """The latest report was sealed again, for a later round."""
        last = self.answered[name][-1]
        last["at"] = max(last["at"], clock)
        last["rounds"] = {name: round_}


def daily(days, *, name="a", attribute="x", start=0, hour=0.0):
    return [
        (name, attribute, start + day, (start + day) * DAY + hour * 3600) for day in range(days)
    ]


def history(title, plans, steps, *, budgets=None):
    budgets = budgets or {"x": [1000.0, 1e-6]}
    device, seen = Device(plans, budgets), []
    for step in steps:
        if step[0] == "move":
            device.move(*step[1:])
            seen.append([*step, None])
        else:
            seen.append([*step, device.step(*step)])
    steps = [{"step": entry[:-1], "answers": entry[-1]} for entry in seen]
    return {
        "history": title,
        "plans": plans,
        "budgets": budgets,
        "steps": [[*each["step"], each["answers"]] for each in steps],
        "days": sum(each["answers"] is True for each in steps),
        "memory": {
            "answered": device.answered,
            "spent": device.spent,
            "spent_delta": device.spent_delta,
        },
    }


def jittered(days):
    """Rounds that are answered at another hour each day."""
    hours = [9, 3, 23, 0, 12, 6, 17]
    return [("a", "x", day, day * DAY + hours[day % 7] * 3600) for day in range(days)]


def clock_ahead(days, at, by):
    """The clock jumps ahead by so many days, and stays there."""
    return [("a", "x", day, (day + (by if day >= at else 0)) * DAY) for day in range(days)]


def clock_back(days, at, by):
    return [("a", "x", day, (day - (by if day >= at else 0)) * DAY) for day in range(days)]


def clock_visits_the_future(days, at, by):
    """The clock is ahead in one round only."""
    return [("a", "x", day, (day + (by if day == at else 0)) * DAY) for day in range(days)]


def hurried(rounds, pace):
    """The server opens so many rounds per day."""
    return [("a", "x", number, number * DAY / pace) for number in range(rounds)]


def slow(rounds, pace):
    """The server needs so many days per round."""
    return [("a", "x", number, number * DAY * pace) for number in range(rounds)]


def two(days):
    return [
        step
        for day in range(days)
        for step in (("a", "x", day, day * DAY), ("b", "x", day // 7, day * DAY + 60.0))
    ]


def histories():
    fresh, twelve = plan(), plan(answers=12)
    kept = plan(answers=10, epsilon=6.0, permanent=True)
    yield history("every day of a window that allows every day", {"a": fresh}, daily(400))
    yield history("twelve in any thirty days", {"a": twelve}, daily(400))
    yield history(
        "a budget of 8 nats, 2 per report", {"a": fresh}, daily(400), budgets={"x": [8.0, 1e-6]}
    )
    yield history("ten reports of one permanent answer", {"a": kept}, daily(400))
    yield history(
        "a permanent answer costs once per window",
        {"a": kept | {"answers": 30}},
        daily(100),
        budgets={"x": [6.0, 1e-6]},
    )
    yield history(
        "a permanent answer beyond the budget",
        {"a": kept},
        daily(40),
        budgets={"x": [5.999999999999999, 1e-6]},
    )
    yield history("another hour each day", {"a": twelve}, jittered(100))
    yield history("one answer in any two days", {"a": plan(2, 1)}, daily(11))
    yield history("a window of one round", {"a": plan(1, 1)}, daily(9))
    yield history("a window of 36 hours is two rounds", {"a": plan(1.5, 1)}, daily(9))
    yield history(
        "weeks",
        {"a": plan(28, 2, every=7 * DAY)},
        [("a", "x", n, n * 7.0 * DAY) for n in range(20)],
    )
    yield history("asked only every third day", {"a": plan(30, 5)}, daily(200)[::3])
    yield history(
        "an answer that is counted twice in one round",
        {"a": plan(3, 2)},
        [s for s in daily(9) for _ in "12"],
    )
    yield history("the clock jumps ahead by a year", {"a": twelve}, clock_ahead(80, 5, 365))
    yield history("the clock is set back by a year", {"a": twelve}, clock_back(80, 5, 365))
    yield history(
        "the clock shows the year 2099 once", {"a": twelve}, clock_visits_the_future(80, 5, 27_000)
    )
    yield history("the clock is set back below zero", {"a": plan(3, 1)}, clock_back(12, 2, 5))
    yield history("the server opens five rounds a day", {"a": twelve}, hurried(200, 5))
    yield history("the server opens a round every other day", {"a": twelve}, slow(60, 2))
    yield history(
        "a hurried server and a clock that jumps ahead",
        {"a": twelve},
        [("a", "x", n, n * DAY * 2.0) for n in range(0, 200, 5)],
    )
    yield history(
        "two plans ask about one attribute",
        {"a": plan(30, 30, epsilon=1.0), "b": plan(28, 4, every=7 * DAY, epsilon=1.5)},
        two(120),
        budgets={"x": [10.0, 1e-6]},
    )
    yield history(
        "a plan of long rounds does not end the window of another one",
        {"a": plan(28, 2, epsilon=1.0), "b": plan(28, 1, every=14 * DAY, epsilon=1.0)},
        [s for day in range(60) for s in (*daily(1, start=day), ("b", "x", day // 14, day * DAY))],
        budgets={"x": [3.0, 1e-6]},
    )
    yield history(
        "two plans ask about two attributes",
        {"a": plan(answers=3), "b": plan(answers=2)},
        daily(40) + daily(40, name="b", attribute="y", start=40),
        budgets={"x": [4.0, 1e-6], "y": [2.0, 1e-6]},
    )
    yield history(
        "the next plan meets the answers of the last",
        {"a": twelve, "b": twelve},
        daily(12) + daily(50, name="b", start=12),
        budgets={"x": [24.0, 1e-6]},
    )
    yield history(
        "two permanent answers in one window cost twice",
        {"a": kept, "b": kept},
        daily(5) + daily(50, name="b", start=5),
        budgets={"x": [11.0, 1e-6]},
    )
    yield history(
        "a plan without a window spends for ever",
        {"a": plan(answers=3), "b": plan(None, 5)},
        daily(3) + daily(60, name="b", start=3) + daily(40, start=63),
        budgets={"x": [8.0, 1e-6]},
    )
    yield history(
        "chances of failure run out",
        {"a": plan(delta=1e-8)},
        daily(70),
        budgets={"x": [1000.0, 7e-8]},
    )
    yield history(
        "a report that was sealed again for the next round counts from there",
        {"a": plan(5, 1)},
        [*daily(1), ("move", "a", 1, 1.5 * DAY), *daily(12, start=1)],
    )
    yield history(
        "hours of fractions of a nat",
        {"a": plan(1, 24, every=3600, epsilon=0.1)},
        [("a", "x", hour, hour * 3600.0) for hour in range(60)],
        budgets={"x": [0.7, 1e-6]},
    )


def vectors():
    return {"format": "croupier windows, version 1", "histories": [*histories()]}


def text():
    """One history a line."""
    own = vectors()
    body = ",\n".join(json.dumps(each, separators=(",", ":")) for each in own["histories"])
    return f'{{\n"format": {json.dumps(own["format"])},\n"histories": [\n{body}\n]\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text())

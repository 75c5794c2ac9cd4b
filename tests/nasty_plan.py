"""A plan whose texts are as long as they may be: its page must be readable all the same."""

from dataclasses import replace

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.plan.plan import Plan

__all__ = ["nasty_ladder"]

_RECORD = ("controller", "legal_basis", "retention", "contact", "rights")


def nasty_ladder(sign: str = "W") -> Ladder:
    """Long texts of one broad sign, six questions, 300 labels; the numbers are of a small plan."""
    questions = [
        {"text": sign * 1000, "mechanism": "k-rr", "max_epsilon_local": 1.5}
        | {"labels": [f"{sign * 60} {label}" for label in range(3 if number else 300)]}
        for number in range(5)
    ]
    questions.append(
        {"text": sign * 1000, "mechanism": "text", "longest": 4, "max_epsilon_local": 1.5}
    )
    small = {
        "schema": 2,
        "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.5},
        "population": {"enrolled": 5_000, "corrupt_fraction": 0.1},
        "protections": {"minimum_batch": 2_000},
        "analyzer": {"publication": "released-order", "operator": f"{sign * 199}a"},
        "shufflers": [{"operator": sign * 200}],
        "admission": {"by": "token", "operator": f"{sign * 199}i", "relay": f"{sign * 199}r"},
        "policy": {"batch": {"max_epsilon": 0.001}},
    }
    large = {name: part for name, part in small.items() if name != "randomizer"} | {
        "name": "n" * 64,
        "title": sign * 200,
        "purpose": sign * 2000,
        "questions": questions,
        "participation": {"model": "rectified-parallel"},
        "record": dict.fromkeys(_RECORD, sign * 1000),
    }
    ladder = assess(Plan.from_document(small))
    known = {"repeated": ladder.repeated, "everybody": ladder.everybody}
    found = replace(ladder, plan=Plan.from_document(large))
    vars(found).update(known)  # computed from the plan otherwise, in minutes
    return found

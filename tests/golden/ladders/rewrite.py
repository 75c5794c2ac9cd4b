"""Rewrite the ladders of the example plans: ``python tests/golden/ladders/rewrite.py``."""

import json
from pathlib import Path
from typing import Any

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.plan.plan import Plan

HERE = Path(__file__).parent
PLANS = HERE.parents[2] / "examples" / "plans"


def summary(ladder: Ladder) -> dict[str, Any]:
    """What is proved and what is attained in every cell, without the words."""
    return {
        "plan_digest": ladder.plan.digest,
        "n_proved": ladder.plan.protections.minimum_batch,
        "repeated": ladder.repeated.value if ladder.repeated else None,
        "everybody": ladder.everybody.value if ladder.everybody else None,
        "rungs": {
            step.rung: {
                metric: {"upper": cell.upper, "lower": cell.lower, "status": cell.status}
                for metric, cell in step.cells.items()
            }
            for step in ladder
        },
    }


if __name__ == "__main__":
    for path in sorted(PLANS.glob("*.toml")):
        document = json.dumps(summary(assess(Plan.load(path))), indent=1)
        (HERE / f"{path.stem}.json").write_text(document + "\n")

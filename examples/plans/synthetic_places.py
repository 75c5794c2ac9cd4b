"""Write synthetic_places.csv: the places of 2,000 invented people in 25 invented towns.

Run: python examples/plans/synthetic_places.py
"""

from pathlib import Path

import numpy as np

PEOPLE, TOWNS = 2_000, 25
SPREAD = 0.02


def places() -> str:
    """Two coordinates in the unit square, to three digits, one row per person."""
    rng = np.random.default_rng(7)
    towns = rng.random((TOWNS, 2))
    homes = towns[rng.integers(TOWNS, size=PEOPLE)] + rng.normal(0, SPREAD, (PEOPLE, 2))
    rows = [f"{x:.3f},{y:.3f}" for x, y in np.clip(homes, 0, 1)]
    return "\n".join(["x,y", *rows, ""])


if __name__ == "__main__":
    Path(__file__).with_name("synthetic_places.csv").write_text(places(), encoding="utf-8")

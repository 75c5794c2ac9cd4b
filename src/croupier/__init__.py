"""Design, run and audit data collection in the shuffle model of differential privacy.

Clients randomise, a shuffler hides who sent what, an analyzer estimates.

>>> import croupier
>>> response = croupier.randomizer("k-rr", k=3, epsilon_local=2.0)
>>> reports = response.randomize([0, 1, 1, 2])
>>> response.estimate(reports).values
range(0, 3)
"""

from croupier.errors import CroupierError
from croupier.model import (
    Adversary,
    Channel,
    Estimate,
    Evidence,
    Guarantee,
    Randomizer,
    Shuffler,
)
from croupier.randomizers import randomizer

__all__ = [
    "Adversary",
    "Channel",
    "CroupierError",
    "Estimate",
    "Evidence",
    "Guarantee",
    "Randomizer",
    "Shuffler",
    "randomizer",
]

"""The types of the domain, one file each."""

from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.bracket import Bracket
from croupier.model.channel import Channel
from croupier.model.domain import Categories, Domain, Grid, Product, SignVectors
from croupier.model.estimate import Estimate
from croupier.model.evidence import Evidence
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.model.shuffler import Shuffler

__all__ = [
    "Adversary",
    "Bracket",
    "Categories",
    "Channel",
    "Direction",
    "Domain",
    "Estimate",
    "Evidence",
    "Goal",
    "Grid",
    "Guarantee",
    "Knowledge",
    "LikelihoodClasses",
    "Metric",
    "Product",
    "Randomizer",
    "Shuffler",
    "SignVectors",
    "View",
]

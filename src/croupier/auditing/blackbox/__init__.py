"""Black-box audits: evidence from samples alone, with intervals valid at every sample size."""

from croupier.auditing.blackbox.bayes_risk import LearningStep, SampledBayesRisk, sampled_bayes_risk
from croupier.auditing.blackbox.bayes_security import SampledBayesSecurity, sampled_bayes_security
from croupier.auditing.blackbox.games import epsilon_local_from_games
from croupier.auditing.blackbox.reidentification import (
    SampledReidentification,
    sampled_reidentification,
)

__all__ = [
    "LearningStep",
    "SampledBayesRisk",
    "SampledBayesSecurity",
    "SampledReidentification",
    "epsilon_local_from_games",
    "sampled_bayes_risk",
    "sampled_bayes_security",
    "sampled_reidentification",
]

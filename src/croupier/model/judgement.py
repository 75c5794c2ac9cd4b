"""The three answers to whether a plan keeps its policy."""

from enum import StrEnum

__all__ = ["Judgement"]


class Judgement(StrEnum):
    """What was found about a policy; only the first opens a gate."""

    MET = "met"
    NOT_MET = "not met"
    NO_LIMIT = "no limit set"

"""The three possible results of checking a plan against its policy."""

from enum import StrEnum

__all__ = ["Judgement"]


class Judgement(StrEnum):
    """The result of checking a policy; only the first passes."""

    MET = "met"
    NOT_MET = "not met"
    NO_LIMIT = "no limit set"

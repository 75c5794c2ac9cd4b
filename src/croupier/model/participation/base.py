"""A rule by which people take part in rounds."""

from abc import ABC, abstractmethod
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

from croupier.model.participation.crowd import Crowd

__all__ = ["Participation"]


class Participation(ABC):
    """A rule by which people take part in rounds, independent of their values.

    A subclass is a frozen dataclass of public numbers: the same value enters the plan, the client
    and the proof.

    Attributes:
        model: The name in plans and on the command line.
        adaptive: True if a round's question may depend on what earlier rounds published.
        grouping: If there are groups: assigned by a public rule, or chosen by everybody.
    """

    model: ClassVar[str]
    adaptive: ClassVar[bool]
    grouping: ClassVar[Literal["none", "assigned", "chosen"]] = "none"

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The number of rounds, or of questions."""

    @property
    def padded(self) -> bool:
        """True if all messages have one length."""
        return False

    @property
    def one_batch(self) -> bool:
        """True if all questions share one batch, in which everybody answers."""
        return False

    @property
    def answers_all(self) -> bool:
        """True if one report answers all questions of a shared batch."""
        return False

    @property
    def everybody_sends(self) -> bool:
        """True if everybody sends in every round, so that nobody is seen to stay away."""
        return self.one_batch

    @property
    def sampled(self) -> bool:
        """True if each round asks a fresh random sample of the people."""
        return False

    @property
    def question_weights(self) -> tuple[int, ...]:
        """The weight of each question of a shared batch."""
        return (1,)

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The weights of the rounds of each group or bin of people."""
        return ((1,),)

    def unpadded(self) -> "Participation":
        """The same model without nulls that fill rounds, and without padding."""
        return self

    def chance(self, n: int) -> Fraction:
        """The chance that a person is asked in a round."""
        del n
        return Fraction(1)

    @abstractmethod
    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """The crowds in which a person may hide, if everybody's rounds are seen or not."""

    @property
    def batches(self) -> int:
        """The number of batches of one collection in which a person may be."""
        return 1

    def messages(self, n: int) -> tuple[Fraction, int]:
        """The number of messages that a person sends: on average and at most."""
        del n
        return Fraction(1), 1

    def answering(self, round_number: int) -> Fraction:
        """The chance that somebody who sends in a round answers, instead of sending a null."""
        del round_number
        return Fraction(1)

    @property
    def specification(self) -> dict[str, Any]:
        """The name and the parameters, from which `participation` builds the value again."""
        names = [entry.name for entry in fields(self) if entry.name != "rectified"]  # type: ignore[arg-type]
        return {"model": self.model} | {name: getattr(self, name) for name in names}

"""Who takes part in which round, and who hides among whom."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from croupier.errors import ParameterError
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["Bins", "Crowd", "Divide", "Multinomial", "Parallel", "Participation", "SingleRound"]
__all__ += ["Subsample", "participation"]

_MOST_WEIGHT = 2**62


@dataclass(frozen=True)
class Crowd:
    """Those among whom a person hides.

    Attributes:
        probability: The chance that the person is in this crowd, given the group.
        people: From how many people, the person included, the crowd is drawn.
        share: With what chance each of the others is in it.
        group: The public group, or bin, to which the person belongs; no coin decides it.
    """

    probability: Fraction
    people: int
    share: Fraction
    group: int = 0

    @property
    def expected(self) -> float:
        """The expected number of people in the crowd, the person included."""
        return float(1 + (self.people - 1) * self.share)

    @property
    def blind_guess(self) -> Fraction:
        """How often a guess at one of the crowd is right, if who is in it is seen and no more.

        The mean of 1/(1 + Bin(people - 1, share)): (1 - (1 - share)^people)/(people share), where
        that is no fraction of small numbers rounded up by 1e-14 of it.
        """
        if self.share == 1:
            return Fraction(1, self.people)
        somebody = -math.expm1(self.people * math.log1p(-float(self.share)))
        return Fraction(somebody) / (self.people * self.share) * (1 + Fraction(1, 10**14))


class Participation(ABC):
    """A rule by which people take part in rounds, independent of their values.

    A subclass is a frozen dataclass of public numbers: the same value enters the plan, the client
    and the proof.

    Attributes:
        model: The name in plans and on the command line.
        adaptive: Whether a round's question may depend on what earlier rounds published.
        grouping: How people come to their group, if there are groups: a public rule assigns it, or
            everybody chooses one.
    """

    model: ClassVar[str]
    adaptive: ClassVar[bool]
    grouping: ClassVar[Literal["none", "assigned", "chosen"]] = "none"

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many rounds, or questions, there are."""

    @property
    def padded(self) -> bool:
        """Whether all messages have one length."""
        return False

    @property
    def one_batch(self) -> bool:
        """Whether all questions share one batch, in which everybody answers."""
        return False

    @property
    def everybody_sends(self) -> bool:
        """Whether everybody sends in every round, so that nobody is seen to stay away."""
        return self.one_batch

    @property
    def sampled(self) -> bool:
        """Whether each round asks a fresh random sample of the people."""
        return False

    @property
    def question_weights(self) -> tuple[int, ...]:
        """How likely each question of a shared batch is."""
        return (1,)

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """For each group or bin of people, how likely each of its rounds is."""
        return ((1,),)

    def unpadded(self) -> "Participation":
        """The same without nulls that fill rounds, and without padding."""
        return self

    def chance(self, n: int) -> Fraction:
        """With what chance a person is asked in a round."""
        del n
        return Fraction(1)

    @abstractmethod
    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Among whom a person hides if the rounds in which each person sends are seen, or not."""

    @property
    def batches(self) -> int:
        """In how many batches of one collection a person may be."""
        return 1

    def messages(self, n: int) -> tuple[Fraction, int]:
        """How many messages a person sends: on average and at most."""
        del n
        return Fraction(1), 1

    def answering(self, round_number: int) -> Fraction:
        """With what chance somebody who sends in a round answers in it, and sends no null."""
        del round_number
        return Fraction(1)

    @property
    def specification(self) -> dict[str, Any]:
        """The name and the parameters, from which `participation` builds the value again."""
        names = [entry.name for entry in fields(self) if entry.name != "rectified"]  # type: ignore[arg-type]
        return {"model": self.model} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class SingleRound(Participation):
    """Everybody answers the one question, in one batch."""

    model = "single"
    adaptive = False

    @property
    def rounds(self) -> int:
        """One."""
        return 1

    @property
    def one_batch(self) -> bool:
        """The one there is."""
        return True

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody."""
        del rounds_seen
        return _everybody(n)


@dataclass(frozen=True, kw_only=True)
class Divide(Participation):
    """Public groups of people, each of which answers one question in a batch of its own.

    Attributes:
        groups: The number of groups, of nearly equal size.

    Example:
        >>> [crowd.people for crowd in Divide(groups=3).crowds(10, rounds_seen=True)]
        [4, 3, 3]
    """

    model = "divide"
    adaptive = True
    grouping = "assigned"

    groups: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", number_of_people("groups", self.groups, least=1))

    @property
    def rounds(self) -> int:
        """One a group."""
        return self.groups

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The round of each group."""
        return ((1,),) * self.groups

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """The own group, which is public anyway."""
        del rounds_seen
        return _groups(n, self.groups)


@dataclass(frozen=True, kw_only=True)
class Subsample(Participation):
    """In each round the shuffler asks a fresh random batch.

    Attributes:
        repeats: How many rounds.
        batch: How many people are asked in each.
    """

    model = "subsample"
    adaptive = True

    repeats: int
    batch: int

    def __post_init__(self) -> None:
        for name in ("repeats", "batch"):
            object.__setattr__(self, name, number_of_people(name, getattr(self, name), least=1))

    @property
    def rounds(self) -> int:
        """As many as there are repeats."""
        return self.repeats

    @property
    def sampled(self) -> bool:
        """In every round."""
        return True

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Of one round: the batch, by chance or, if rounds are seen, for certain."""
        share = self.chance(n)
        probability = Fraction(1) if rounds_seen else share
        return (Crowd(probability, self.batch, Fraction(1)),)

    def chance(self, n: int) -> Fraction:
        """The share of a sample."""
        people = number_of_people("n", n, least=1)
        whole_number("batch", self.batch, least=1, most=people)
        return Fraction(self.batch, people)

    @property
    def batches(self) -> int:
        """One a round."""
        return self.rounds

    def messages(self, n: int) -> tuple[Fraction, int]:
        """Some rounds on average, all of them at most."""
        return self.rounds * self.chance(n), self.rounds


@dataclass(frozen=True, kw_only=True)
class _Rectifiable(Participation):
    """A model in which nulls may fill what is not taken, and all messages may have one length.

    Attributes:
        rectified: Whether they do.
    """

    plain: ClassVar[str]

    rectified: bool = False

    @property
    def model(self) -> str:  # type: ignore[override]
        """The name."""
        return f"rectified-{self.plain}" if self.rectified else self.plain

    @property
    def padded(self) -> bool:
        """As rectified."""
        return self.rectified

    def unpadded(self) -> Participation:
        """The same, not rectified."""
        return replace(self, rectified=False)


@dataclass(frozen=True, kw_only=True)
class Parallel(_Rectifiable):
    """All questions are asked at once; each person secretly answers one, drawn by lot.

    Attributes:
        weights: How likely each question is, as integers.
        rectified: Whether all answers are padded to one length.
    """

    plain = "parallel"
    adaptive = False

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _weights(self.weights))

    @property
    def rounds(self) -> int:
        """One a question."""
        return len(self.weights)

    @property
    def one_batch(self) -> bool:
        """That of all questions."""
        return True

    @property
    def question_weights(self) -> tuple[int, ...]:
        """The weights."""
        return self.weights

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody: there is one batch."""
        del rounds_seen
        return _everybody(n)


@dataclass(frozen=True, kw_only=True)
class Multinomial(_Rectifiable):
    """Each person draws one round by lot and answers in it; rectified, sends nulls in all others.

    Attributes:
        weights: How likely each round is, as integers.
        rectified: Whether nulls fill all other rounds, and all messages have one length.
    """

    plain = "multinomial"
    adaptive = True

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _weights(self.weights))

    @property
    def rounds(self) -> int:
        """One a weight."""
        return len(self.weights)

    @property
    def everybody_sends(self) -> bool:
        """If nulls fill the rounds."""
        return self.rectified

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The weights, for everybody."""
        return (self.weights,)

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody, or those of the same round if rounds are seen and not filled."""
        if not rounds_seen or self.rectified:
            return _everybody(n)
        return tuple(Crowd(share, n, share) for share in _shares(self.weights))

    @property
    def batches(self) -> int:
        """Any of the rounds, whether or not nulls fill the others."""
        return self.rounds

    def messages(self, n: int) -> tuple[Fraction, int]:
        """One, or one a round if rectified."""
        del n
        count = self.rounds if self.rectified else 1
        return Fraction(count), count

    def answering(self, round_number: int) -> Fraction:
        """Everybody who sends, or those who drew the round if nulls fill it."""
        return _shares(self.weights)[round_number % self.rounds] if self.rectified else Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Bins(_Rectifiable):
    """People choose a bin of rounds, independently of their value, and draw one of its rounds.

    Attributes:
        bins: For each bin, how likely each of its rounds is, as integers. The bins are taken to be
            chosen by nearly equal numbers of people.
        rectified: Whether nulls fill the other rounds of the bin, and all messages have one length.
    """

    plain = "bins"
    adaptive = True
    grouping = "chosen"

    bins: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.bins:
            raise ParameterError("bins", must="be at least one")
        object.__setattr__(self, "bins", tuple(_weights(weights) for weights in self.bins))

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The bins."""
        return self.bins

    @property
    def rounds(self) -> int:
        """Those of all bins."""
        return sum(map(len, self.bins))

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Those of the same bin, or of the same round if rounds are seen and not filled."""
        groups = _groups(n, len(self.bins))
        if not rounds_seen or self.rectified:
            return groups
        return tuple(
            Crowd(share, own.people, share, own.group)
            for own, weights in zip(groups, self.bins, strict=True)
            for share in _shares(weights)
        )

    @property
    def batches(self) -> int:
        """Any of the rounds of a bin."""
        return max(map(len, self.bins))

    def messages(self, n: int) -> tuple[Fraction, int]:
        """One, or one for each round of the bin if rectified."""
        if not self.rectified:
            return Fraction(1), 1
        sizes = [len(weights) for weights in self.bins]
        groups = zip(_groups(n, len(self.bins)), sizes, strict=True)
        return sum((Fraction(own.people * size, n) for own, size in groups), Fraction(0)), max(
            sizes
        )

    def answering(self, round_number: int) -> Fraction:
        """Everybody who sends, or those of the bin who drew the round if nulls fill it."""
        if not self.rectified:
            return Fraction(1)
        shares = [share for weights in self.bins for share in _shares(weights)]
        return shares[round_number % self.rounds]


def participation(model: str, **parameters: Any) -> Participation:
    """A participation model by its name.

    >>> participation("rectified-multinomial", weights=(1, 1, 2)).rounds
    3
    """
    if model not in _MODELS:
        raise ParameterError(
            "model", must="be a participation model", got=model, hint=f"Try {', '.join(_MODELS)}."
        )
    return _MODELS[model](**parameters)


_MODELS: dict[str, Callable[..., Participation]] = {
    "single": SingleRound,
    "divide": Divide,
    "subsample": Subsample,
    "parallel": Parallel,
    "multinomial": Multinomial,
    "bins": Bins,
    "rectified-parallel": lambda **given: Parallel(rectified=True, **given),
    "rectified-multinomial": lambda **given: Multinomial(rectified=True, **given),
    "rectified-bins": lambda **given: Bins(rectified=True, **given),
}


def _everybody(n: int) -> tuple[Crowd, ...]:
    return (Crowd(Fraction(1), number_of_people("n", n, least=1), Fraction(1)),)


def _groups(n: int, groups: int) -> tuple[Crowd, ...]:
    """Groups of people whose sizes differ by at most one."""
    n = number_of_people("n", n, least=groups)
    sizes = [n // groups + (number < n % groups) for number in range(groups)]
    return tuple(Crowd(Fraction(1), size, Fraction(1), group) for group, size in enumerate(sizes))


def _weights(weights: Sequence[int]) -> tuple[int, ...]:
    if not len(weights):
        raise ParameterError("weights", must="be at least one")
    whole = tuple(whole_number("weights", weight, least=1) for weight in weights)
    if sum(whole) > _MOST_WEIGHT:
        raise ParameterError("weights", must=f"sum to at most {_MOST_WEIGHT:,}")
    return whole


def _shares(weights: Sequence[int]) -> list[Fraction]:
    total = sum(weights)
    return [Fraction(weight, total) for weight in weights]

"""Shares of texts that nobody listed, found prefix by prefix in one round."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError, TooLargeError
from croupier.model.channel import Channel
from croupier.model.texts import Texts
from croupier.numerics.arrays import np
from croupier.numerics.validate import whole_number
from croupier.randomizers.family_hashing import FamilyHashing
from croupier.randomizers.parameter import NORMALISATION, TEXT, WHOLE, WHOLE_NUMBERS, declares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from croupier.model.texts import Normalisation
    from croupier.randomizers.estimates.found_texts import FoundTexts

__all__ = ["Text"]

_FIRST_PREFIXES = 100_000
_CHILDREN = 1000
_MOST_CHILDREN = 1 << 21
_MOST_ENTRIES = 1 << 22
_LETTER_SIZE = 2
_FEWEST_FUNCTIONS = 64
"""With fewer, many of the texts that are tested share all buckets with a frequent one."""


@dataclass(frozen=True, kw_only=True)
class Text(FamilyHashing):
    """Draw a level, and answer with the prefix of the text at that level, by local hashing.

    Level l is about the first `levels[l]` letters; a shorter text is its own prefix, and differs
    from that of a longer one. Each person answers one level, drawn with a function of it, with the
    whole epsilon. The analyzer walks the prefixes: it extends those that stand out at one level by
    every letter, tests them at the next, which other people answered, and publishes the texts that
    the last level confirms. Two texts that differ from the first letter on are the easiest to tell
    apart.

    Attributes:
        longest: The number of letters that are kept of a text.
        alphabet: The letters; the 256 bytes of UTF-8 if not given.
        normalisation: What makes two texts the same answer: see `Texts`.
        levels: The lengths of the prefixes, ascending, the last `longest`. If not given, the first
            has as many letters as 100,000 prefixes allow, each further one as many more as 1,000
            extensions of a prefix allow. If given, 2^21 extensions at most lead from one to the
            next. ``(longest,)`` asks for whole texts only, which a list at the analysis must name.

    Reference: bassily2017, TreeHist, for the walk of the prefixes.

    Example:
        >>> Text(longest=12, alphabet="abcdefghijklmnopqrstuvwxyz", max_epsilon_local=6.0).lengths
        (3, 5, 7, 9, 11, 12)
    """

    mechanism = "text"

    longest: int = field(metadata=declares(WHOLE, "letters that are kept of a text"))
    alphabet: str | None = field(
        default=None, metadata=declares(TEXT, "letters of a text; bytes of UTF-8 if left out")
    )
    normalisation: Normalisation = field(
        default="none", metadata=declares(NORMALISATION, "before texts are compared")
    )
    levels: tuple[int, ...] | None = field(
        default=None, metadata=declares(WHOLE_NUMBERS, "lengths of prefixes; chosen if left out")
    )

    def __post_init__(self) -> None:
        _ = self.lengths  # refuses what is no list of lengths
        super().__post_init__()

    @cached_property
    def domain(self) -> Texts:
        """The texts."""
        return Texts(self.longest, self.alphabet, self.normalisation)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The length of the prefixes at each level."""
        longest, signs = self.domain.longest, self.domain.letters + 1
        if self.levels is None:
            first = max(1, _letters_within(_FIRST_PREFIXES, signs))
            step = max(1, _letters_within(_CHILDREN, signs))
            return (*range(first, longest, step), longest)
        given = tuple(whole_number("levels", each, least=1, most=longest) for each in self.levels)
        ascending = all(one < two for one, two in pairwise(given))
        if not given or given[-1] != longest or not ascending:
            must = f"be ascending lengths of prefixes, the last {longest}"
            raise ParameterError("levels", must=must, got=given)
        widest = _letters_within(_MOST_CHILDREN, signs)
        if any(two - one > widest for one, two in pairwise(given)):
            must = f"ascend by at most {widest}, so that every extension can be tried"
            hint = "Put lengths between, or leave it out."
            raise ParameterError("levels", must=must, got=given, hint=hint)
        return given

    def require_findable(self) -> None:
        """Refuse so few functions that texts which nobody sent would be found."""
        if self.functions < _FEWEST_FUNCTIONS:
            raise ParameterError(
                "functions",
                must=f"be at least {_FEWEST_FUNCTIONS} for text, to tell texts apart",
                got=self.functions,
                hint="Try 1024.",
            )

    @property
    def level_count(self) -> int:
        """The number of levels."""
        return len(self.lengths)

    def message(self, index: Sequence[int], level: int) -> bytes:
        """Return the level in 2 bytes, and 2 bytes per letter of the prefix."""
        prefix = index[: self.lengths[level]]
        return level.to_bytes(_LETTER_SIZE) + b"".join(e.to_bytes(_LETTER_SIZE) for e in prefix)

    def messages(self, indices: NDArray[Any], levels: NDArray[np.int64]) -> Iterator[bytes]:
        """Yield the message of each text, at the level beside it."""
        width = _LETTER_SIZE * self.longest
        data = np.asarray(indices).astype(f">u{_LETTER_SIZE}").tobytes()
        heads = [level.to_bytes(_LETTER_SIZE) for level in range(self.level_count)]
        ends = [_LETTER_SIZE * length for length in self.lengths]
        for start, level in zip(range(0, len(data), width), levels.tolist(), strict=True):
            yield heads[level] + data[start : start + ends[level]]

    def channel(self) -> Channel:
        """The law of a report given the text, with the functions of its batch.

        Raises:
            TooLargeError: There are too many texts or reports, or no batch is named.
        """
        self.require_named()
        entries = self.domain.size * self.rows * self.g
        if entries > _MOST_ENTRIES:
            raise TooLargeError(
                f"The channel of {self.mechanism}",
                entries=entries,
                limit=_MOST_ENTRIES,
                hint="Use likelihood_classes, which does not list the texts.",
            )
        inputs = list(self._inputs())
        return Channel.from_weights(
            self.rows_of_channel(inputs),
            self.rows * self.denominator,
            inputs=[self.domain.decode(each) for each in inputs],
            outputs=self.outputs_of_channel(),
        )

    def _inputs(self) -> Iterator[tuple[int, ...]]:
        for length in range(self.longest + 1):
            for letters in product(range(1, self.domain.letters + 1), repeat=length):
                yield (*letters, *(0,) * (self.longest - length))

    def representative_pairs(self) -> Sequence[tuple[Any, Any]]:
        """One pair, that differs from the first letter: it is taken to share no bucket."""
        empty = (0,) * self.longest
        return [(empty, (1, *empty[1:]))]

    def representative_others(self, first: Any, second: Any) -> Sequence[Any]:
        """Either text, and a third one that differs from the first letter if there is one."""
        third = [(2, *(0,) * (self.longest - 1))] if self.domain.letters > 1 else []
        return [first, second, *third]

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> FoundTexts:
        """The texts that stand out, with shares whose intervals hold together."""
        return self.find(tally, n, confidence=confidence)

    def answered(self, tally: NDArray[np.int64]) -> tuple[int, ...]:
        """Return the number of people who answered each level."""
        counts = tally.reshape(self.batch_count, self.level_count, -1).sum(axis=(0, 2))
        return tuple(counts.tolist())

    def lots(self, tally: NDArray[np.int64]) -> list[tuple[int, Fraction]]:
        """The levels."""
        chance = Fraction(1, self.level_count)
        return [(answered, chance) for answered in self.answered(tally)]

    def made_up(self, n: int, *, corrupt: int) -> float:
        """Return about the largest share of a text that corrupt people among `n` make up.

        All of them answer the last level, each with the text's own bucket.
        """
        high, low = map(float, self.likelihoods)
        scale = 1 / ((high - low) * (1 - 1 / self.g))
        return min(1.0, corrupt * scale * self.level_count / n)

    def find(
        self,
        tally: NDArray[np.int64],
        n: int,
        *,
        confidence: float = 0.95,
        listed: Sequence[str] = (),
    ) -> FoundTexts:
        """Find the texts that stand out, also among listed ones.

        Args:
            tally: The counts.
            n: The number of reports.
            confidence: The coverage of all intervals together; 1 minus it is the chance that any
                text is published that nobody sent.
            listed: Texts that are tested beside those that the walk finds.
        """
        from croupier.randomizers.estimates.prefix_walk import find_texts  # noqa: PLC0415 - it needs scipy

        return find_texts(self, tally, n, confidence=confidence, listed=listed)


def _letters_within(most: int, signs: int) -> int:
    """Return the number of letters up to which there are at most so many texts."""
    length = 0
    while signs ** (length + 1) <= most:
        length += 1
    return length

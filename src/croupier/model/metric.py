"""The numbers that measure a leak: one name, one heading and one meaning each, everywhere."""

from collections.abc import Sequence
from enum import StrEnum

from croupier.errors import RenamedError, UnknownNameError

__all__ = ["LADDER", "NEAR", "RENAMED", "Metric", "metric_named"]


class Metric(StrEnum):
    """A measure of leakage: its value is the name in policies, options, JSON and Python."""

    EPSILON = "epsilon"
    EPSILON_PERMANENT = "epsilon_permanent"
    REIDENTIFICATION = "reidentification"
    GUESS_OF_TWO = "guess_of_two"
    GUESS_UNINFORMED = "guess_uninformed"
    GUESS_INFORMED = "guess_informed"
    WITHIN_UNINFORMED = "within_uninformed"
    WITHIN_INFORMED = "within_informed"
    BAYES_SECURITY = "bayes_security"
    ALPHA = "alpha"
    VULNERABLE_SHARE = "vulnerable_share"
    GUESSED_SHARE = "guessed_share"
    MANIPULATION = "manipulation"

    @property
    def protects(self) -> bool:
        """Tell whether a high value is good: a guarantee is a floor, and an attack lowers it."""
        return self is Metric.BAYES_SECURITY

    @property
    def is_epsilon(self) -> bool:
        """Tell whether it is the logarithm of a ratio, of which no value is certainty."""
        return self in (Metric.EPSILON, Metric.EPSILON_PERMANENT)

    @property
    def guesses(self) -> bool:
        """Tell whether it is the chance of a right guess, which people read in percent."""
        return self in _GUESSES

    @property
    def heading(self) -> str:
        """The heading of its column, and the name of its axis."""
        return _HEADINGS.get(self, self.replace("_", " "))

    @property
    def meaning(self) -> str:
        """A few words that say what it measures."""
        return _MEANINGS[self]

    @property
    def limit(self) -> str:
        """The key of its limit in a policy."""
        return f"{'min' if self.protects else 'max'}_{self}"


LADDER = (
    Metric.EPSILON,
    Metric.EPSILON_PERMANENT,
    Metric.REIDENTIFICATION,
    Metric.GUESS_OF_TWO,
    Metric.GUESS_UNINFORMED,
    Metric.GUESS_INFORMED,
    Metric.WITHIN_UNINFORMED,
    Metric.WITHIN_INFORMED,
    Metric.BAYES_SECURITY,
    Metric.ALPHA,
)
"""The columns of the trust ladder, in order.

The second is for plans with a window only, `NEAR` for numbers, the last for groups.
"""

NEAR = (Metric.WITHIN_UNINFORMED, Metric.WITHIN_INFORMED)
"""The guesses of a number that are right if they are near it."""

RENAMED = {
    "guess_coin": Metric.GUESS_OF_TWO,
    "coin": Metric.GUESS_OF_TWO,
    "guess_uniform": Metric.GUESS_UNINFORMED,
    "uniform": Metric.GUESS_UNINFORMED,
    "informed": Metric.GUESS_INFORMED,
    "linked": Metric.REIDENTIFICATION,
    "link": Metric.REIDENTIFICATION,
    "security": Metric.BAYES_SECURITY,
}
"""Names, headings and attacks of version 0.1, and what they measure."""

_GUESSES = {Metric.GUESS_OF_TWO, Metric.GUESS_UNINFORMED, Metric.GUESS_INFORMED, *NEAR}

_HEADINGS = {
    Metric.EPSILON_PERMANENT: "epsilon for ever",
    Metric.REIDENTIFICATION: "re-identified",
    Metric.GUESS_UNINFORMED: "guess, knows nobody",
    Metric.GUESS_INFORMED: "guess, knows others",
    Metric.WITHIN_UNINFORMED: "within, knows nobody",
    Metric.WITHIN_INFORMED: "within, knows others",
    Metric.BAYES_SECURITY: "Bayes security",
    Metric.ALPHA: "order",
}

_MEANINGS = {
    Metric.EPSILON: "how much one answer can move any conclusion",
    Metric.EPSILON_PERMANENT: "how much all answers ever can move any conclusion",
    Metric.REIDENTIFICATION: "how often your report is traced to you",
    Metric.GUESS_OF_TWO: "between two answers, how often the guess is right",
    Metric.GUESS_UNINFORMED: "among all answers, by somebody who knows nobody's",
    Metric.GUESS_INFORMED: "among all answers, by somebody who knows everybody else's",
    Metric.WITHIN_UNINFORMED: "a number to within w, by somebody who knows nobody's",
    Metric.WITHIN_INFORMED: "a number to within w, by somebody who knows everybody else's",
    Metric.BAYES_SECURITY: "the share of a guesser's errors that remains",
    Metric.ALPHA: "how much the order gives away about a group",
    Metric.VULNERABLE_SHARE: "the share of people whose value their neighbours give away",
    Metric.GUESSED_SHARE: "the share of values that the best guesses find",
    Metric.MANIPULATION: "how far corrupt people move a share, or a mean in its range",
}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


_SPELLINGS = {_letters(text): metric for metric in Metric for text in (metric, metric.heading)}


def metric_named(
    text: str, *, among: Sequence[Metric] = tuple(Metric), what: str = "a metric"
) -> Metric:
    """Return the metric with this name or heading, in any case, with or without hyphens.

    >>> metric_named("Bayes-Security"), metric_named("re-identified")
    (<Metric.BAYES_SECURITY: 'bayes_security'>, <Metric.REIDENTIFICATION: 'reidentification'>)
    >>> metric_named("guess_coin")
    Traceback (most recent call last):
    croupier.errors.RenamedError: guess_coin is now guess_of_two.

    Args:
        text: The name or the heading.
        among: The metrics that may be named.
        what: What the text must be, for errors.
    """
    found = _SPELLINGS.get(_letters(str(text)))
    if found is not None and found in among:
        return found
    for old, new in RENAMED.items():
        if _letters(old) == _letters(str(text)) and new in among:
            raise RenamedError(str(text), new)
    raise UnknownNameError(str(text), what=what, known=among)

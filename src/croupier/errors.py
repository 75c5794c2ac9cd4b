"""The errors that croupier raises.

    CroupierError
    ├── ParameterError      a parameter outside its range; also a ValueError
    │   └── UnknownNameError a name that does not exist
    ├── DataError           a column or a report that does not fit; also a ValueError
    ├── UnreadableFileError a file that is not of the kind that its name says
    ├── MalformedReportError bytes that are not a report of the plan; also a ValueError
    ├── SealError           a ciphertext that does not open under this key, plan, round and batch
    ├── UntrustedError      a document not signed by a party that the plan names
    ├── SupersededError     a plan that another one has replaced, by its shuffler's signed word
    ├── NotOfferedError     a server that does not have the plan
    ├── CertificateError    a server whose TLS certificate cannot be trusted
    ├── NotAdmittedError    an issuer that does not admit the device
    ├── NotPublishedError   estimates that would break the plan's promises
    ├── PolicyError         a policy that is not met, sets no limit, or was never judged
    ├── RenamedError        a public name that has changed
    │   └── RenamedAttributeError   the same for an attribute; also an AttributeError
    ├── TooLargeError       an answer that would not fit in memory
    └── MissingExtraError   an optional package that is not installed; also an ImportError

Messages say what must hold, what was given and what to do next. They never contain a person's
value.
"""

import sys
from collections.abc import Iterable
from decimal import Decimal
from difflib import get_close_matches
from importlib.util import find_spec

__all__ = ["CertificateError", "CroupierError", "DataError", "MalformedReportError"]
__all__ += ["MissingExtraError", "NotAdmittedError"]
__all__ += ["NotOfferedError", "NotPublishedError", "ParameterError", "PolicyError"]
__all__ += ["RenamedAttributeError", "RenamedError", "SealError", "SupersededError"]
__all__ += [
    "TooLargeError",
    "UnknownNameError",
    "UnreadableFileError",
    "UntrustedError",
    "how_to_install",
    "nearest_name",
]


class CroupierError(Exception):
    """The root of every error that croupier raises on purpose."""


class ParameterError(CroupierError, ValueError):
    """A parameter is outside what the mathematics or the implementation allows.

    >>> raise ParameterError("delta", must="be in (0, 1)", got=1.5, hint="Try 1e-6.")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `delta` must be in (0, 1); got 1.5. Try 1e-6.
    """

    def __init__(self, parameter: str, *, must: str, got: object = None, hint: str = "") -> None:
        self.parameter = parameter
        self.must = must
        self.got = got
        self.hint = hint
        found = "" if got is None else f"; got {got!r}"
        advice = f" {hint}" if hint else ""
        super().__init__(f"`{parameter}` must {must}{found}.{advice}")


class UnknownNameError(ParameterError):
    """A name that does not exist, with the nearest one that does.

    >>> raise UnknownNameError("kk", what="a parameter of k-rr", known=["k", "labels"])
    Traceback (most recent call last):
    croupier.errors.UnknownNameError: `kk` is not a parameter of k-rr. Did you mean k?
    """

    def __init__(self, parameter: str, *, what: str, known: Iterable[str]) -> None:
        hint = nearest_name(parameter, known)
        super().__init__(parameter, must=f"be {what}", hint=hint)
        self.what = what
        self.args = (f"`{parameter}` is not {what}. {hint}",)


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Suggest what to write instead of an unknown name."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]}?" if close else f"Try one of {', '.join(names)}."


class DataError(CroupierError, ValueError):
    """Some entries of a column do not fit; says how many and why, never which or their values.

    >>> raise DataError(3, "values are missing", hint="Drop or fill them first.")
    Traceback (most recent call last):
    croupier.errors.DataError: 3 values are missing. Drop or fill them first.
    """

    def __init__(self, count: int, problem: str, *, hint: str) -> None:
        self.count = count
        self.problem = problem
        self.hint = hint
        super().__init__(f"{count:,} {problem}. {hint}")


class UnreadableFileError(CroupierError):
    """A file is not of the kind that its name says; the error never shows its content."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name} cannot be read to its end. Check that it is a well-formed file of its kind "
            "and that every entry of the column has one type."
        )


class MalformedReportError(CroupierError, ValueError):
    """The bytes are not a report of the plan; the error never shows them.

    Attributes:
        reason: "length", "version", "kind", "body" or "padding".
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"Not a report of this plan: its {reason} is wrong. Refuse it.")


class SealError(CroupierError):
    """A ciphertext does not open: altered, or sealed to another key, plan, round or batch.

    Attributes:
        reason: "length" or "seal".
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"Cannot be opened: its {reason} is wrong. Refuse it.")


class UntrustedError(CroupierError):
    """A signed document that must not be believed.

    >>> raise UntrustedError("the shuffler's key list", "is of another plan")
    Traceback (most recent call last):
    croupier.errors.UntrustedError: the shuffler's key list is of another plan. Do not use it; ask
    its operator.
    """

    def __init__(self, what: str, problem: str) -> None:
        self.what = what
        self.problem = problem
        super().__init__(f"{what} {problem}. Do not use it; ask its operator.")


class SupersededError(CroupierError):
    """A plan was superseded: its shuffler's root has signed which plan took its place.

    Nobody is moved to the other plan by this error, because people agree to one plan.

    >>> raise SupersededError("5e" * 32)
    Traceback (most recent call last):
    croupier.errors.SupersededError: This plan was superseded by plan 5e5e5e5e5e5e5e5e…: install
    the version of the app that has it.

    Attributes:
        successor: The digest of the plan that took its place.
        date: The day that the pointer names, if any.
    """

    def __init__(self, successor: str, *, date: str | None = None) -> None:
        self.successor = successor
        self.date = date
        super().__init__(
            f"This plan was superseded by plan {successor[:16]}…: install the version of the app "
            "that has it."
        )


class NotOfferedError(CroupierError):
    """A server, or a mirror of it, answers that it does not have a plan, or a round of it.

    >>> raise NotOfferedError(404)
    Traceback (most recent call last):
    croupier.errors.NotOfferedError: This server does not offer the plan (404). Check the address
    and the plan's digest.
    """

    def __init__(self, status: int, *, who: str = "server", what: str = "the plan") -> None:
        self.status = status
        super().__init__(
            f"This {who} does not offer {what} ({status}). Check the address and the plan's digest."
        )


class CertificateError(CroupierError):
    """A connection cannot be trusted, and asking again does not help.

    >>> raise CertificateError("reports.example", "certificate expired", hint="Renew it.")
    Traceback (most recent call last):
    croupier.errors.CertificateError: The connection to reports.example cannot be trusted:
    certificate expired. Renew it.

    Attributes:
        host: The host that was asked.
        reason: The reason in a few words, such as "self-signed certificate".
        hint: The advice.
    """

    def __init__(self, host: str, reason: str, *, hint: str) -> None:
        self.host = host
        self.reason = reason
        self.hint = hint
        super().__init__(f"The connection to {host} cannot be trusted: {reason}. {hint}")


class NotAdmittedError(CroupierError):
    """An issuer does not give this device a credential; its own words are not repeated.

    >>> raise NotAdmittedError(409)
    Traceback (most recent call last):
    croupier.errors.NotAdmittedError: The invitation was used by another device (409). Ask for
    another one.

    Attributes:
        status: The issuer's answer.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        said = {
            403: "The issuer does not admit this device (403). Check the proof of enrolment.",
            409: "The invitation was used by another device (409). Ask for another one.",
        }
        unknown = f"The issuer does not enrol devices ({status}). Check its address."
        super().__init__(said.get(status, unknown))


class NotPublishedError(CroupierError):
    """The rows left of a batch do not support the plan's promises, so nothing is published.

    >>> raise NotPublishedError("Round 0 has 40 people", hint="Nothing was written.")
    Traceback (most recent call last):
    croupier.errors.NotPublishedError: NOT PUBLISHED  Round 0 has 40 people. Nothing was written.
    """

    def __init__(self, problem: str, *, hint: str) -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"NOT PUBLISHED  {problem}. {hint}")


class PolicyError(CroupierError):
    """A plan's policy is not met, sets no limit, or was not judged, so the plan must not run.

    >>> raise PolicyError("The policy of emoji is not met", hint="Run: croupier check plan.toml.")
    Traceback (most recent call last):
    croupier.errors.PolicyError: The policy of emoji is not met. Run: croupier check plan.toml.
    """

    def __init__(self, problem: str, *, hint: str = "") -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"{problem}. {hint}" if hint else f"{problem}.")


class RenamedError(CroupierError):
    """A public name that is spelled differently now.

    >>> raise RenamedError("croupier.amplify", "randomizer.bracket(n=, delta=).upper")
    Traceback (most recent call last):
    croupier.errors.RenamedError: croupier.amplify is now randomizer.bracket(n=, delta=).upper.
    """

    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new
        super().__init__(f"{old} is now {new}.")


class RenamedAttributeError(RenamedError, AttributeError):
    """The same for an attribute, so that `hasattr` returns False."""


class TooLargeError(CroupierError):
    """The requested object would have too many entries to fit in memory."""

    def __init__(self, what: str, *, entries: int, limit: int, hint: str) -> None:
        self.entries = entries
        self.limit = limit
        self.hint = hint
        many = Decimal(entries)
        super().__init__(f"{what} would have {many:.3g} entries, more than {limit:.3g}. {hint}")


def how_to_install(extra: str) -> str:
    """Say how to install the packages of an extra.

    >>> how_to_install("plots")
    "In a clone of the repository, run: pip install '.[plots]'"
    """
    project = "." if find_spec("croupier.cli") else "./clients/python"
    return f"In a clone of the repository, run: pip install '{project}[{extra}]'"


class MissingExtraError(CroupierError, ImportError):
    """A feature needs a package that the plain installation leaves out.

    Raised while an import's error is handled, it names that import too: a package may be there, and
    one that it needs itself may not.
    """

    def __init__(self, feature: str, *, package: str, extra: str) -> None:
        self.feature = feature
        self.package = package
        self.extra = extra
        error = sys.exception()
        failed = error.name if isinstance(error, ImportError) else None
        named = f" (import {failed} failed)" if failed and failed != package else ""
        super().__init__(f"{feature} needs {package}{named}. {how_to_install(extra)}")

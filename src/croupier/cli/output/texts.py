"""Texts that were found, in words and as JSON, and the file of texts to look for."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.cli.output.terminal import out, print_table, say
from croupier.errors import ParameterError
from croupier.model import Randomizer
from croupier.numerics.validate import one_line
from croupier.randomizers.estimates.found_texts import FoundTexts
from croupier.randomizers.text import Text

__all__ = ["Candidates", "print_texts", "read_candidates", "texts_document"]

Candidates = Annotated[
    Path | None,
    typer.Option(
        help="Texts to look for where a question asks for text, one per line.", metavar="FILE"
    ),
]

_SHOWN = 20


def read_candidates(file: Path | None, asked: Iterable[Randomizer]) -> list[str]:
    """Read the lines of a file of texts, without empty ones.

    Args:
        file: The file, if one is named.
        asked: The mechanisms; every line must be an answer to each that asks for text.
    """
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (FileNotFoundError, IsADirectoryError):
        raise ParameterError("--candidates", must="be a file", got=str(file)) from None
    except UnicodeDecodeError:
        raise ParameterError(
            "--candidates", must="be a text file in UTF-8", got=str(file)
        ) from None
    listed = [line for line in (line.removesuffix("\r") for line in lines) if line]
    for made in asked:
        if isinstance(made, Text):
            made.domain.require_all(listed, name="--candidates")
    return listed


def print_texts(found: FoundTexts, *, confidence: float, everything: bool, corrupt: int) -> None:
    """Print texts with shares and intervals, the largest first, and what could be made up.

    Args:
        found: The texts.
        confidence: The coverage of all intervals together.
        everything: True to print all texts.
        corrupt: The number of people whom the plan takes for dishonest.
    """
    places = range(len(found.values) if everything else min(_SHOWN, len(found.values)))
    doubtful = found.doubtful(corrupt)
    marked = any(doubtful[i] for i in places)
    shares = 100 * found.points.clip(found.lower, found.upper)
    rows = [
        (
            one_line(str(found.values[i])),
            f"{shares[i]:.2f} %{'?' if doubtful[i] else ' ' * marked}",
            f"{100 * found.lower[i]:.2f} to {100 * found.upper[i]:.2f}",
        )
        for i in places
    ]
    if rows:
        print_table(("text", "share", f"{100 * confidence:g} % interval"), rows, right=(1, 2))
    if marked:
        say(f"? The {corrupt:,} corrupt people of the plan could have made this text up.")
    if len(rows) < len(found.values):
        out.print(f"The largest {len(rows)} of {len(found.values):,} texts; all of them: --all")
    say(_how_found(found))
    if rows:
        say(_how_moved(found, corrupt))


def _how_found(found: FoundTexts) -> str:
    """Say what was tested, and how often a text is shown that nobody sent."""
    count = len(found.values)
    if not found.candidates:
        return "No text stands out: no beginning of a text is frequent enough to be followed."
    stand = f"{count:,} texts stand" if count > 1 else f"{count or 'No'} text stands"
    return (
        f"{stand} out, of {found.candidates:,} that were tested, with intervals that hold "
        "together. If everybody is honest, a text that nobody sent is shown with a chance of "
        f"at most {100 * _false_chance(found):.3g} %."
    )


def _how_moved(found: FoundTexts, corrupt: int) -> str:
    """Say how far dishonest people move a share."""
    most = 100 * float(found.moved_by_one.max())
    told = f"One dishonest person moves a share by at most {most:.3g} percentage points"
    if corrupt:
        told += f", the {corrupt:,} corrupt people of the plan by {min(100, corrupt * most):.3g}"
    return f"{told}."


def _false_chance(found: FoundTexts) -> float:
    return round(1 - found.confidence, 12)


def texts_document(found: FoundTexts) -> dict[str, Any]:
    """Return what was tested, and the chance of a text that nobody sent, as JSON."""
    return {
        "candidates": found.candidates,
        "answered": list(found.answered),
        "false_text_chance_upper": _false_chance(found),
    }

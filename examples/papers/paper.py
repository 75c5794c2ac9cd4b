"""One paper: its figures and tables regenerated, its printed numbers beside ours."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from comparison import Comparison
from left_out import LEFT_OUT

from croupier.documents.plots.figure import panels

__all__ = ["Item", "Paper", "add_options", "alone", "regenerated"]

_ROMAN = ("", "I", "II", "III", "IV", "V")

Regenerate = Callable[["Paper"], None]


@dataclass(frozen=True, kw_only=True)
class Item:
    """A figure or a table.

    Attributes:
        number: The paper's number.
        what: What it shows.
        differs: The difference of ours, and why.
        picture: The file of a figure.
        table: The lines of a table.
    """

    number: str
    what: str
    differs: str = ""
    picture: str = ""
    table: tuple[str, ...] = ()


@dataclass(eq=False)
class Paper:
    """The reproduction of one paper, and where it is saved.

    Attributes:
        key: The first letters of all files, such as s2.
        title: Authors and title.
        directory: The directory of all files.
        full: Whether at full size.
        suffix: The format of pictures.
    """

    key: str
    title: str
    directory: Path
    full: bool = False
    suffix: str = ".svg"
    items: list[Item] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    def size(self, reduced: int, full: int) -> int:
        """Choose a number of people, points or repetitions."""
        return full if self.full else reduced

    @contextmanager
    def figure(  # noqa: PLR0913 - keyword-only facts about one figure
        self,
        number: str,
        what: str,
        labels: Sequence[tuple[str, str, str]],
        *,
        inches: tuple[float, float] = (7, 4.5),
        rows: int = 1,
        differs: str = "",
    ) -> Iterator[list[Any]]:
        """Open the axes of a figure with these panels: a title and two names of axes each."""
        name = f"{self.key}-{_short(number)}{self.suffix}"
        with panels(self.directory / name, labels, inches=inches, rows=rows) as grid:
            yield grid
        self._add(Item(number=number, what=what, differs=differs, picture=name))

    def points(self, number: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Save the numbers of a figure as CSV."""
        rows = list(zip(*columns.values(), strict=True))
        self._write_csv(f"{self.key}-{_short(number)}.csv", list(columns), rows)

    def table(
        self,
        number: str,
        what: str,
        header: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        differs: str = "",
    ) -> None:
        """Save a table as CSV and as Markdown."""
        self._write_csv(f"{self.key}-{_short(number)}.csv", header, rows)
        shown = tuple(_markdown(header, rows))
        path = self.directory / f"{self.key}-{_short(number)}.md"
        path.write_text("\n".join(shown) + "\n")
        self._add(Item(number=number, what=what, differs=differs, table=shown))

    def agrees(
        self, what: str, *, printed: float, ours: float, within: float, why: str = ""
    ) -> None:
        """Record a printed number that ours must reproduce; `why` describes ours."""
        self.comparisons.append(
            Comparison(what=what, printed=printed, ours=float(ours), within=within, why=why)
        )

    def corrects(  # noqa: PLR0913 - keyword-only facts about one number
        self,
        what: str,
        *,
        printed: float,
        ours: float,
        correct: float,
        within: float,
        why: str,
        sharper: bool = False,
    ) -> None:
        """Record a printed number that is wrong or not sharp, and what ours must be."""
        self.comparisons.append(
            Comparison(
                what=what,
                printed=printed,
                ours=float(ours),
                correct=correct,
                within=within,
                why=why,
                sharper=sharper,
            )
        )

    @property
    def holds(self) -> bool:
        """Tell whether every difference is explained."""
        return all(comparison.holds for comparison in self.comparisons)

    def section(self) -> str:
        """Write the section of the gallery: figures, numbers, pictures, and what is left out."""
        found = sorted(self.items, key=lambda item: _place(item.number))
        listed = [(item.number, item.what, item.differs) for item in found]
        lines = [f"## {self.title}", *_markdown(("", "shows", "ours differs"), listed), ""]
        lines += ["### Numbers", *self.compared(), ""]
        for item in found:
            lines.append(f"### {item.number}: {item.what}")
            lines += item.table or (f"![{item.what}](pictures/{item.picture})",)
            lines.append("")
        lines += ["### Missing or partial", *(f"- {entry}" for entry in LEFT_OUT[self.key]), ""]
        return "\n".join(lines)

    def compared(self) -> list[str]:
        """The comparisons, in Markdown."""
        header = ("number", "printed", "ours", "", "why")
        return _markdown(
            header, [(c.what, c.printed, c.ours, c.verdict, c.why) for c in self.comparisons]
        )

    def conclude(self) -> None:
        """Save the comparisons and say how many agree."""
        header = ("what", "printed", "ours", "within", "verdict", "why")
        rows = [(c.what, c.printed, c.ours, c.within, c.verdict, c.why) for c in self.comparisons]
        self._write_csv(f"{self.key}-numbers.csv", header, rows)
        (self.directory / f"{self.key}-numbers.md").write_text("\n".join(self.compared()) + "\n")
        (self.directory / f"{self.key}-section.md").write_text(self.section())
        for comparison in self.comparisons:
            print(f"  {comparison.verdict:11}  {comparison.what}: ", end="")
            print(f"printed {comparison.printed:g}, ours {comparison.ours:.6g}")
        verdicts = [comparison.verdict for comparison in self.comparisons]
        counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
        print(f"  {len(self.comparisons)} printed numbers: {counts}")

    def _add(self, item: Item) -> None:
        self.items.append(item)
        print(f"  {item.number}: {item.what}", flush=True)

    def _write_csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        with (self.directory / name).open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([_plain(entry) for entry in row] for row in rows)


def regenerated(key: str, title: str, regenerate: Regenerate, given: argparse.Namespace) -> Paper:
    """Regenerate and save one paper, as the command line says."""
    given.output.mkdir(parents=True, exist_ok=True)
    paper = Paper(key, title, given.output, given.full, ".png" if given.png else ".svg")
    print(title)
    regenerate(paper)
    paper.conclude()
    return paper


def alone(key: str, title: str, regenerate: Regenerate) -> None:
    """Run the command line of one paper; exit with 1 where a difference is unexplained."""
    parser = argparse.ArgumentParser(description=f"Regenerate {title}.")
    add_options(parser)
    sys.exit(0 if regenerated(key, title, regenerate, parser.parse_args()).holds else 1)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every script."""
    parser.add_argument("-o", "--output", type=Path, default=Path("papers"), help="directory")
    parser.add_argument("--full", action="store_true", help="at full size")
    parser.add_argument("--png", action="store_true", help="pictures as PNG, not SVG")


def _short(number: str) -> str:
    return number.lower().replace(" ", "")


def _place(number: str) -> tuple[str, int, str]:
    """The sort key of an item: figures in their order, then tables in theirs."""
    kind, _, name = number.partition(" ")
    digits = "".join(letter for letter in name if letter in "IVX0123456789")
    return kind, int(digits) if digits.isdigit() else _ROMAN.index(digits), name


def _plain(entry: Any) -> Any:
    """Round to twelve digits; differences beyond are rounding errors."""
    return f"{entry:.12g}" if isinstance(entry, float) else entry


def _shown(entry: Any) -> str:
    return f"{entry:.6g}" if isinstance(entry, float) else str(entry)


def _markdown(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(_shown(entry) for entry in line) + " |" for line in lines]

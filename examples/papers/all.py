"""Regenerate all five papers, and the page that shows them.

Run: python examples/papers/all.py [--full] [-o DIRECTORY] [--gallery docs]

The page is written from a reduced run, so that its numbers can be checked in seconds; a full run
replaces the pictures only.
"""

import argparse
import shutil
import sys
from pathlib import Path

import s0_reidentification
import s1_mallows
import s2_bayes_security
import s3_information_flow
import s4_side_channels
from paper import add_options, regenerated

PAPERS = (
    s0_reidentification,
    s1_mallows,
    s2_bayes_security,
    s3_information_flow,
    s4_side_channels,
)

HEAD = """# Five papers, regenerated

croupier implements results of five papers. Each of their figures and tables has a counterpart here,
made by calls of the library. Printed numbers stand beside ours: a printed number agrees within half
a unit of its last digit or within the stated tolerance, or it is corrected, with the reason. A test
fails if one of ours changes or a difference is not explained. Each section ends with a list of what
is missing or covered only in part.

| paper | script |
| --- | --- |
"""

SIZES = """
Each script runs alone, in about half a minute on one core, and saves pictures, tables and numbers:
`python examples/papers/s2_bayes_security.py -o papers`. `--full` uses the sizes of the papers;
`python examples/papers/all.py --full -o papers` makes everything. The pictures here are of the
reduced size. If a paper's data are not available, the people are invented and marked as synthetic:
then only the shape of a curve is claimed, not its values.

In the tables of numbers, claims of yes or no count as 1 and 0.
"""


def page(directory: Path) -> str:
    """The gallery, from the sections that the scripts saved."""
    scripts = "".join(
        f"| {paper.TITLE} | `examples/papers/{Path(paper.__file__).name}` |\n" for paper in PAPERS
    )
    sections = [(directory / f"{paper.KEY}-section.md").read_text() for paper in PAPERS]
    return HEAD + scripts + SIZES + "\n" + "\n".join(sections)


def main() -> None:
    """Run all papers; exit with 1 if a difference is unexplained."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--gallery", type=Path, help="directory of the page and its pictures")
    given = parser.parse_args()
    done = [regenerated(paper.KEY, paper.TITLE, paper.regenerate, given) for paper in PAPERS]
    if given.gallery is not None:
        pictures = given.gallery / "pictures"
        pictures.mkdir(parents=True, exist_ok=True)
        for picture in given.output.glob("s[0-4]-*.svg"):
            shutil.copy(picture, pictures)
        if not given.full:
            (given.gallery / "papers.md").write_text(page(given.output))
    sys.exit(0 if all(paper.holds for paper in done) else 1)


if __name__ == "__main__":
    main()

"""`croupier estimate`: shares or a mean, from a column of reports."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from croupier.cli.options.mechanism import Choice, takes_mechanism
from croupier.cli.options.server import as_typed
from croupier.cli.output.column_files import ColumnFile, parse_reports, stored_randomizer
from croupier.cli.output.distributions import Quantiles, Ranges, Statements, distribution_document
from croupier.cli.output.estimates import (
    PROJECTED,
    All,
    Confidence,
    Project,
    Simultaneous,
    estimate_document,
    how_intervals_hold,
    print_estimate,
    require_confidence,
)
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress, say
from croupier.cli.output.texts import Candidates, read_candidates, texts_document
from croupier.errors import ParameterError
from croupier.model import Estimate, Randomizer
from croupier.randomizers.distribution import Distribution
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.found_texts import FoundTexts
from croupier.randomizers.text import Text

__all__ = ["HELP", "command"]

HELP = """Estimate shares or a mean from a column of reports, with intervals.

The mechanism is read from the file if `croupier randomize` wrote it as Parquet.

Example: croupier estimate reports.parquet
"""


@takes_mechanism()
def command(
    chosen: Choice,
    file: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file of reports.", metavar="FILE")
    ],
    column: Annotated[str | None, typer.Option(help="The column. Default: the only one.")] = None,
    confidence: Confidence = 0.95,
    simultaneous: Simultaneous = False,
    project: Project = False,
    candidates: Candidates = None,
    quantile: Quantiles = None,
    ranges: Ranges = None,
    all_values: All = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Estimate from reports."""
    require_confidence(confidence)
    randomizer, source = _reports(chosen.randomizer, file, column)
    listed = _listed(candidates, randomizer)
    asked = Statements.of(quantile, ranges, unasked=_unasked(randomizer))
    n, tally = 0, np.zeros(1, dtype=np.int64)
    with progress("Counting", total=source.rows, quiet=quiet or json) as advance:
        for entries in source.batches():
            tally = tally + randomizer.tally(parse_reports(entries, randomizer))
            n += len(entries)
            advance(len(entries))
    if not n:
        raise ParameterError("FILE", must="contain at least one report")
    if isinstance(randomizer, Text):
        estimate: Estimate = randomizer.find(tally, n, confidence=confidence, listed=listed)
    else:
        estimate = randomizer.estimate_tally(tally, n, confidence=confidence)
    estimate = estimate.simultaneous() if simultaneous else estimate
    with as_typed(project="--project"):
        estimate = estimate.projected() if project else estimate
    if json:
        print_json(
            mechanism=randomizer.mechanism,
            epsilon_local=randomizer.epsilon_local,
            n=n,
            confidence=estimate.confidence,
            estimates=estimate_document(estimate),
            **_more(estimate, asked),
        )
    elif not quiet:
        print_estimate(estimate, confidence, everything=all_values, asked=asked, projected=project)
        held = how_intervals_hold([estimate], everything=all_values)
        out.print(f"\n{estimate.n:,} reports. {held}")
        if project:
            say(PROJECTED)


def _reports(
    named: Randomizer | None, file: Path, column: str | None
) -> tuple[Randomizer, ColumnFile]:
    """Return the mechanism and the reports, which may say themselves how they were made."""
    if named is None:
        source = ColumnFile(file, column)
        return stored_randomizer(source), source
    hexadecimal = len(named.report_format.bounds) > 1 and file.suffix.lower() == ".csv"
    source = ColumnFile(file, column, text=hexadecimal)
    if source.specification and stored_randomizer(source) != named:
        raise ParameterError(
            "--mechanism",
            must="be the one that the file was randomised with",
            hint="Leave it out to have it read from the file.",
        )
    return named, source


def _listed(candidates: Path | None, randomizer: Randomizer) -> list[str]:
    """Read the texts to look for, or refuse them where nobody was asked for text."""
    if candidates is not None and not isinstance(randomizer, Text):
        must = f"be left out: {randomizer.mechanism} asks for no text"
        raise ParameterError("--candidates", must=must)
    return read_candidates(candidates, [randomizer])


def _unasked(randomizer: Randomizer) -> str | None:
    """Say that the mechanism asks for no distribution, if so."""
    if isinstance(randomizer, Distribution):
        return None
    return f"{randomizer.mechanism} asks for no distribution"


def _more(estimate: Estimate, asked: Statements) -> dict[str, Any]:
    """Return what else is known of a distribution, or of texts."""
    if isinstance(estimate, DistributionEstimate):
        return {"distribution": distribution_document(estimate, asked)}
    return {"texts": texts_document(estimate)} if isinstance(estimate, FoundTexts) else {}

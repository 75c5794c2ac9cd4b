"""`croupier analyze`: estimates from released batches."""

from dataclasses import dataclass, replace
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from croupier.analyzer.parts import FileParts
from croupier.assessment.ladder.ladder import batch_epsilon
from croupier.assessment.ladder.realised import realised_epsilon
from croupier.cli.analyzer.fetched import BATCH, fetched
from croupier.cli.options.engine import (
    EngineName,
    EngineOption,
    Master,
    Memory,
    Scratch,
    make_engine,
)
from croupier.cli.options.groups import Public
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.parts import By, Least, PartOptions, Side, Value
from croupier.cli.options.plan import Force, PlanOption, read_plan, require_new
from croupier.cli.options.public_groups import (
    Columns,
    Edges,
    Geodesic,
    GroupColumn,
    Nearest,
    Radius,
    RuleOptions,
    Sets,
    Steps,
)
from croupier.cli.options.query import verified_query
from croupier.cli.options.server import as_typed
from croupier.cli.options.signed_keys import ListBeside, read_shuffler
from croupier.cli.output.analysis import Found
from croupier.cli.output.distributions import Quantiles, Ranges, Statements
from croupier.cli.output.estimates import (
    All,
    Confidence,
    Project,
    Simultaneous,
    require_confidence,
)
from croupier.cli.output.metrics_file import (
    Gauge,
    MetricsFile,
    require_metrics_file,
    write_metrics,
)
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress
from croupier.cli.output.texts import Candidates, read_candidates
from croupier.cli.output.two_way import Crossings, crossings
from croupier.documents.plots.figure import require_plottable
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.key_directory import KeyDirectory, passphrase
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.query import Query
from croupier.protocol.signed_document import LAST_ROUND
from croupier.protocol.wire import asks_by_query
from croupier.randomizers.distribution import Distribution

if TYPE_CHECKING:
    from croupier.engines.base import Engine

__all__ = ["HELP", "command"]

HELP = """Estimate what people answered, from batches that the plan's shuffler released.

Checks receipts and files, opens and decodes every report, counts people again, and estimates every
question; rounds that ask the same are pooled. The receipt of a batch must lie beside it, and the
list of the shuffler's keys, shuffler-keys.json, too; the newest that was seen is remembered in
--keys, and an older one refused. Run it where the analyzer's keys are, not on the shuffler's host.

Batches in an object store are named by their address, or all together: s3://BUCKET/PREFIX. They are
copied to --scratch, or where temporary files are kept, and the copies removed at the end.

--project moves the shares of each question to the nearest that are possible: none below 0, and
100 % in all. --simultaneous makes the intervals of all questions hold together.

Where the plan mixes by groups, --by estimates parts of its public file as well: squares of a map,
groups, or the entries of a column. It needs --public and the options of the plan's groups, as
release does, since they say how far reports were moved.

Where rounds ask by query, --query names what the analysed rounds asked, and --publish-round signs
what a coming one asks.

Exits with 4, and writes nothing, if fewer people than the plan's minimum less the corrupt ones sent
a valid report, or if too many rows do not open: more than the plan's corrupt people and
--most-unopened explain.

Example: croupier analyze released/2026-03-02-round-0.parquet --plan plan.toml
"""

_ANALYZER = "analyzer"

Batches = Annotated[
    list[str] | None,
    typer.Argument(
        help="Released .parquet files, in any order, or s3:// addresses.", metavar="BATCH"
    ),
]
Keys = Annotated[
    Path,
    typer.Option(
        "--keys", "--key", help="The directory of the analyzer's keys.", metavar="DIRECTORY"
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="A .parquet file for the estimates.")
]
Plot = Annotated[
    Path | None, typer.Option(help="Draw the estimates as .png, .svg or .pdf.", metavar="FILE")
]
Queries = Annotated[
    list[Path] | None,
    typer.Option("--query", help="The signed query of a round; once per round.", metavar="FILE"),
]
MostUnopened = Annotated[
    float,
    typer.Option(
        help="The share of rows that may fail to open, beyond corrupt people's.", min=0, max=1
    ),
]
PublishRound = Annotated[
    int | None,
    typer.Option(help="Sign the query of this round; needs --question.", min=0, max=LAST_ROUND),
]
Question = Annotated[str | None, typer.Option(help="Words of the query, for the clients' program.")]
QueryOutput = Annotated[
    Path | None,
    typer.Option(help="File of the signed query. Default: query-ROUND.json.", metavar="FILE"),
]


def command(
    plan: PlanOption,
    keys: Keys = Path("keys/analyzer"),
    batches: Batches = None,
    shuffler: ListBeside = None,
    passphrase_file: PassphraseFile = None,
    engine: EngineOption = EngineName.DUCKDB,
    master: Master = None,
    memory: Memory = None,
    scratch: Scratch = None,
    query: Queries = None,
    publish_round: PublishRound = None,
    question: Question = None,
    query_output: QueryOutput = None,
    output: Output = None,
    force: Force = False,
    plot: Plot = None,
    confidence: Confidence = 0.95,
    most_unopened: MostUnopened = 0.01,
    simultaneous: Simultaneous = False,
    project: Project = False,
    candidates: Candidates = None,
    cross: Crossings = None,
    quantile: Quantiles = None,
    ranges: Ranges = None,
    by: By = None,
    public: Public = None,
    columns: Columns = None,
    radius: Radius = None,
    nearest: Nearest = None,
    geodesic: Geodesic = False,
    group_column: GroupColumn = None,
    edges: Edges = None,
    steps: Steps = None,
    sets: Sets = None,
    cell: Side = None,
    least: Least = None,
    value: Value = None,
    all_values: All = False,
    metrics_file: MetricsFile = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Analyse released batches."""
    made = read_plan(plan, option="--plan")
    require_confidence(confidence)
    if not batches and publish_round is None:
        raise ParameterError("BATCH", must="be at least one released file")
    _require_targets(output, plot, force=force)
    require_metrics_file(metrics_file)
    texts = read_candidates(candidates, made.randomizers)
    pairs = crossings(cross, made)
    numbers = Statements.of(quantile, ranges, unasked=_unasked(made))
    rule = RuleOptions(
        columns=columns,
        radius=radius,
        nearest=nearest,
        geodesic=geodesic,
        group_column=group_column,
        edges=edges,
        steps=steps,
        sets=sets,
    )
    given = PartOptions(by=by, public=public, rule=rule, cell=cell, least=least, value=value)
    parts = given.read(made)
    asking = _Asking.of(made, publish_round, question, query_output)
    document: dict[str, Any] = {"plan_digest": made.digest}
    if batches:
        with (
            fetched(batches, BATCH, scratch=scratch) as files,
            make_engine(engine, master=master, memory=memory, scratch=scratch) as runner,
        ):
            found = _found(
                made,
                files,
                [verified_query(file, made) for file in query or ()],
                shuffler=None if shuffler is None else read_shuffler(shuffler, made),
                source=(keys.absolute(), passphrase_file),
                engine=runner,
                confidence=confidence,
                simultaneous=simultaneous,
                most_unopened=most_unopened,
                candidates=texts,
                parts=parts,
                silent=quiet or json,
            )
        found = replace(found, asked=numbers, value=value)
        found = found.with_projected() if project else found
        if pairs:
            tables = found.analysis.crossing(pairs, confidence=confidence, together=simultaneous)
            found = replace(found, crossed=tables)
        found.save(output, plot)
        write_metrics(metrics_file, _gauges(found))
        document |= found.document()
        if not json:
            found.show(confidence, everything=all_values, quiet=quiet)
    if asking is not None:
        asking.sign(made, KeyDirectory(keys, passphrase(passphrase_file)))
        document["query"] = {"round": asking.round_number, "file": str(asking.file)}
        if not (json or quiet):
            out.print(f"Wrote {asking.file}: the query of round {asking.round_number}.")
    if json:
        print_json(**document)


def _unasked(plan: Plan) -> str | None:
    """Say that no question asks for a distribution, if none does."""
    asked = any(isinstance(each, Distribution) for each in plan.randomizers)
    return None if asked else "no question asks for a distribution"


def _gauges(found: Found) -> list[Gauge]:
    own = (("plan", found.plan.digest),)
    people, batches = found.analysis.people, len(found.analysis.batches)
    return [
        Gauge("croupier_analysis_last_run_timestamp_seconds", "when it last ran", {own: time()}),
        Gauge(
            "croupier_analysis_batches",
            "batches that were analysed",
            {own: batches},
        ),
        Gauge("croupier_analysis_people", "valid reports that were counted", {own: people}),
    ]


def _require_targets(output: Path | None, plot: Path | None, *, force: bool) -> None:
    """Refuse files that could not be written, before the work."""
    if output is not None:
        if output.suffix != ".parquet":
            raise ParameterError("--output", must="end in .parquet", got=output.name)
        require_new(output, force=force)
    require_plottable(plot)


@dataclass(frozen=True)
class _Asking:
    """The query of a coming round.

    Attributes:
        round_number: The round.
        question: Its words.
        file: The file of the signed query; an existing one is never replaced, since people who
            were shown different queries could be told apart.
    """

    round_number: int
    question: str
    file: Path

    @classmethod
    def of(
        cls, plan: Plan, round_number: int | None, question: str | None, file: Path | None
    ) -> Self | None:
        """Read the query from the options, before the work; None if they name none."""
        if (round_number is None) != (question is None):
            raise ParameterError("--question", must="be given with --publish-round, and only then")
        if round_number is None or question is None:
            return None
        if not asks_by_query(plan):
            raise ParameterError(
                "--publish-round",
                must="be of a plan whose rounds ask by query",
                hint="This plan says itself what its rounds ask.",
            )
        target = file or Path(f"query-{round_number}.json")
        if target.exists():
            raise ParameterError(
                "--query-output",
                must="not exist yet",
                got=str(target),
                hint="A round has one query: give the shuffler the one that is signed.",
            )
        return cls(round_number, question, target)

    def sign(self, plan: Plan, keys: KeyDirectory) -> None:
        """Write the signed query."""
        signed = Query.make(
            plan,
            round_number=self.round_number,
            question=self.question,
            signing_key=keys.signing_key(_ANALYZER),
        )
        with self.file.open("xb") as file:
            file.write(signed.to_bytes() + b"\n")


def _found(
    plan: Plan,
    batches: list[Path],
    queries: list[Query],
    *,
    shuffler: ShufflerKeys | None,
    source: tuple[Path, Path | None],
    engine: "Engine",
    confidence: float,
    simultaneous: bool,
    most_unopened: float,
    candidates: list[str],
    parts: FileParts | None,
    silent: bool,
) -> Found:
    """Count, estimate and prove."""
    from croupier.analyzer.analyzer import analyze  # noqa: PLC0415 - needs pyarrow, as engines do
    from croupier.analyzer.keys import KeySource  # noqa: PLC0415 - as above

    with (
        progress("Opening", total=None, quiet=silent) as advance,
        as_typed(candidates="--candidates"),
    ):
        analysis = analyze(
            plan,
            batches,
            key=KeySource(*source),
            engine=engine,
            shuffler=shuffler,
            queries=queries,
            confidence=confidence,
            simultaneous=simultaneous,
            most_unopened=most_unopened,
            candidates=candidates,
            parts=parts,
            advance=advance,
        )
    with progress("Proving", total=None, quiet=silent):
        return Found(
            plan,
            analysis,
            planned=batch_epsilon(plan),
            realised=realised_epsilon(plan, people=analysis.people),
        )

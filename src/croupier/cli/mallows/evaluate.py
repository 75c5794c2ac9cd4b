"""`croupier mallows evaluate`: attacks and learning, from no shuffling to a uniform shuffle."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from croupier.auditing.locality.local_shuffle import ladder
from croupier.auditing.locality.tradeoff import Attack, Learned, Point, tradeoff
from croupier.cli.mallows.subject import (
    AttackRadius,
    Data,
    Name,
    People,
    Privileged,
    PublicColumns,
    Radii,
    Subject,
    Value,
    file_subject,
    synthetic_subject,
)
from croupier.cli.options.mechanism import count
from croupier.cli.output.terminal import (
    Json,
    out,
    print_json,
    print_table,
    progress,
    say,
    say_drawn,
)
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.documents.plots.tradeoff import plot_tradeoff
from croupier.errors import ParameterError
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["HELP", "command"]

HELP = """Measure what shuffling inside groups takes from an attacker and leaves to an analyst.

The attacker takes a vote among the most similar people near a person; the analyst trains a model on
the batch. Needs the extra `learning`. A full dataset takes minutes; use --people and --trials.

Example: croupier mallows evaluate --dataset hospital --people 3000 --trials 2 --insecure-seed 1
"""


def command(
    dataset: Name = None,
    data: Data = None,
    columns: PublicColumns = None,
    value: Value = None,
    privileged: Privileged = None,
    radii: Radii = None,
    attack_radius: AttackRadius = None,
    people: People = None,
    alpha: Annotated[float, typer.Option(help="Limit of alpha inside groups.")] = 4.0,
    max_epsilon_local: Annotated[float, typer.Option(help="Local epsilon, in nats.")] = 2.5,
    neighbours: Annotated[
        int, typer.Option(parser=count, metavar="N", help="People who vote.")
    ] = 25,
    resamples: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Draws of noise per order.")
    ] = 50,
    trials: Annotated[
        int, typer.Option(parser=count, metavar="N", help="Orders per row, at least 2.")
    ] = 6,
    insecure_seed: Annotated[int | None, typer.Option(help="Seed that repeats the trials.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the trade-off into this file (.png, .svg, .pdf).")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what shuffling inside groups takes and leaves."""
    require_plottable(plot)
    if data is not None and dataset is None:
        subject = file_subject(
            data,
            columns=columns,
            value=value,
            privileged=privileged,
            radii=radii,
            attack_radius=attack_radius,
        )
    elif dataset is not None and data is None:
        subject = synthetic_subject(
            dataset, people=people, radii=radii, attack_radius=attack_radius
        )
    else:
        raise ParameterError("--dataset", must="be given, or --data, not both")
    scales, community = subject.scales, subject.community
    attack = Attack(
        radius=scales.near, length=scales.length, neighbours=neighbours, resamples=resamples
    )
    steps = ladder(community, alpha=alpha, radii=scales.radii, sizes=scales.sizes, unit=scales.unit)
    rows = 2 + len(scales.radii) + len(scales.sizes)
    with progress("Trials", total=rows * trials, quiet=json) as advance:
        found = tradeoff(
            community,
            steps,
            attack,
            epsilon_local=max_epsilon_local,
            trials=trials,
            test=subject.test,
            rng=Keystream(insecure_seed=insecure_seed),
            advance=advance,
        )
        points = list(found)
    caption = (
        f"{subject.title}, {len(community):,} people: alpha {alpha:g}, "
        f"epsilon_local {max_epsilon_local:g}"
    )
    if plot is not None:
        save_plot(plot, plot_tradeoff, points, title=caption)
    if json:
        print_json(
            subject=subject.title,
            synthetic=community.synthetic,
            people=len(community),
            epsilon_local=max_epsilon_local,
            attack=asdict(attack),
            trials=trials,
            confidence=points[0].error.confidence,
            points=[_document(point) for point in points],
        )
        return
    _print_points(points, _ways(subject))
    out.print()
    out.print(caption)
    _explain(attack, subject, points[0].error)
    say_drawn(plot)


def _print_points(points: Sequence[Point], ways: Sequence[str]) -> None:
    head = ["shuffle", "group", "rho", "lambda", Metric.GUESSED_SHARE.heading, *ways]
    rows = [
        [
            point.setting.name,
            f"{point.setting.group:,.0f}",
            _interval(point.vulnerable),
            _interval(point.error),
            _interval(point.guessed),
            *map(_interval, point.accuracies),
        ]
        for point in points
    ]
    print_table(head, rows, right=(1,))


def _explain(attack: Attack, subject: Subject, example: Learned) -> None:
    near = f"{attack.radius:g} {subject.scales.unit}".strip()
    where = "among friends" if subject.community.contacts is not None else f"within {near}"
    say(
        f"rho: people whose value is found by a vote of {attack.neighbours} {where}, in "
        f"{100 * attack.sure:g} % of {attack.resamples} draws of noise"
    )
    out.print("lambda: a model's error divided by that of a uniform guess; 0 is perfect")
    heading = Metric.GUESSED_SHARE.heading
    out.print(f"{heading}: people whose value a Gaussian process over all places finds")
    if subject.test is not None:
        out.print("ways: values of unseen people that the model predicts, fine and coarse")
    sure = floor_digits(100 * example.confidence)
    out.print(f"Medians of {example.trials} trials [{sure} %]. Evidence: it meets no policy.")


def _ways(subject: Subject) -> list[str]:
    if subject.test is None:
        return []
    levels = [range(len(subject.community.labels)), *subject.community.levels]
    return [f"{len(set(level))}-way" for level in levels]


def _interval(found: Evidence | Learned) -> str:
    lower, upper = floor_digits(found.lower), ceiling_digits(found.upper)
    return f"{nearest_digits(found.measured)} [{lower}, {upper}]"


def _document(point: Point) -> dict[str, Any]:
    def numbers(found: Evidence | Learned) -> dict[str, Any]:
        return {"measured": found.measured, "interval": [found.lower, found.upper]}

    return {
        "shuffle": point.setting.name,
        "mean_group": point.setting.group,
        "alpha": point.setting.alpha,
        "vulnerable_share": numbers(point.vulnerable),
        "guessed_share": numbers(point.guessed),
        "learning_error": numbers(point.error),
        "accuracies": [numbers(level) for level in point.accuracies],
    }

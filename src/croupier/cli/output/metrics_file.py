"""A textfile of metrics: gauges of a job that ends, for the collector of the node exporter.

The file is replaced as a whole, so that the collector never reads half of one.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError
from croupier.protocol import durable

__all__ = ["Gauge", "MetricsFile", "last_values", "require_metrics_file", "write_metrics"]

MetricsFile = Annotated[
    Path | None,
    typer.Option(help="Write metrics of this run to a file for Prometheus, .prom.", metavar="FILE"),
]


_FOR_EVERYBODY = 0o644
"""The collector is another user, whom the umask of a role may keep out."""


class Gauge(NamedTuple):
    """A metric with one value per set of labels.

    Attributes:
        name: Its name, with its unit.
        meaning: The line that explains it.
        values: The values by labels; no value may be about a single report.
    """

    name: str
    meaning: str
    values: Mapping[tuple[tuple[str, str], ...], float]


def require_metrics_file(file: Path | None) -> None:
    """Refuse a file that the collector would not read, before the work."""
    if file is None:
        return
    if file.suffix != ".prom":
        raise ParameterError("--metrics-file", must="end in .prom", got=file.name)
    require_folder("--metrics-file", file)


def write_metrics(file: Path | None, gauges: Iterable[Gauge]) -> None:
    """Replace the file, which everybody may read; write none if it is None."""
    if file is not None:
        text = "".join(map(_text, gauges))
        durable.publish(file, text.encode(), mode=_FOR_EVERYBODY)


def last_values(file: Path, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Return the values of a metric that a run before this one wrote; none if there is no file."""
    if not file.is_file():
        return {}
    found = re.findall(rf"^{name}{{(.*)}} (\S+)$", file.read_text(), re.MULTILINE)
    return {tuple(re.findall(r'(\w+)="([^"]*)"', labels)): float(at) for labels, at in found}


def _text(gauge: Gauge) -> str:
    head = f"# HELP {gauge.name} {gauge.meaning}\n# TYPE {gauge.name} gauge\n"
    return head + "".join(
        f"{gauge.name}{_labels(labels)} {value!r}\n" for labels, value in gauge.values.items()
    )


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}"

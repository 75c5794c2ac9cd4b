"""The page of a run, in Markdown."""

from pathlib import Path

from benchmarks.measurement import Measured
from benchmarks.results import ALLOWED, Results

__all__ = ["page", "table"]

_TEMPLATE = Path(__file__).with_suffix(".md")
_BUSY = (
    "**The machine was busy with other work:** take the ratios as rough, the seconds as too long."
)
_SMALL = "**Sizes were those of tests:** these figures say nothing about speed."


def page(results: Results) -> str:
    """The whole page."""
    where = results.where
    machine = (
        f"Measured on {where['date']}: {where['processor']}, {where['cores']} cores, "
        f"{where['memory_gb']} GB, {where['system']}; load {where['load']} before the run, "
        f"niceness {where['niceness']}. Python {where['python']}, croupier {where['croupier']}, "
        f"numpy {where['numpy']}, numba {where['numba']}."
    )
    busy = float(where["load"]) > int(where["cores"]) / 4 or int(where["niceness"]) > 0
    warnings = [_BUSY] * busy + [_SMALL] * results.small
    return _TEMPLATE.read_text().format(
        allowed=f"{ALLOWED - 1:.0%}",
        machine=machine,
        warnings="".join(f"{line}\n\n" for line in warnings),
        table=table(results),
    )


def table(results: Results) -> str:
    """One row per case, in Markdown."""
    lines = [
        "| case | question | beside | ours | theirs | ratio | spread | turns | answers |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(name, found) for name, found in results.measured.items()]
    for word, reasons in (("skipped", results.skipped), ("failed", results.failed)):
        lines += [
            f"| {name} | {word}: {why} |  |  |  |  |  |  |  |" for name, why in reasons.items()
        ]
    return "\n".join(lines) + "\n"


def _row(name: str, found: Measured) -> str:
    low, high = found.spread
    apart = f"{found.difference:.2g} {found.unit}; {found.tolerance:g} allowed"
    cells = [
        f"`{name}`",
        found.question,
        found.peer,
        _time(found.ours),
        _time(found.theirs),
        f"{found.ratio:.3g}",
        f"{low:.3g} to {high:.3g}",
        str(found.turns),
        apart,
    ]
    return f"| {' | '.join(cells)} |"


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"

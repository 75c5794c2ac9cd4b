"""The report on a shuffler that an auditor hands over: words, or one JSON document."""

from collections.abc import Mapping, Sequence

from croupier.auditing.shuffler.check import ShufflerCheck
from croupier.auditing.shuffler.claim import ORDERS, ShufflerAudit
from croupier.auditing.shuffler.order_uniformity import KINDS, Power
from croupier.cli.output.terminal import out, print_json

__all__ = ["print_document", "print_report"]

_SHOWN = 10


def print_report(found: ShufflerAudit, batches: int, files: Mapping[str, str]) -> None:
    """Print the verdict, what was looked at, and what this audit would have found."""
    violated = sorted((check for check in found.checks if check.violated), key=_most_telling)
    for check in violated[:_SHOWN]:
        chance = f" (chance at most {check.p_value:.1g})" if check.p_value else ""
        where = f", {check.batches:,} batches together" if check.batches > 1 else ""
        out.print(f"VIOLATION  {check.promise}: {check.observed:,} {check.words}{where}{chance}")
    if len(violated) > _SHOWN:
        out.print(f"           and {len(violated) - _SHOWN:,} more: see --json")
    if not violated:
        out.print(f"NO VIOLATION FOUND  in {len(found.checks):,} checks")
    released = f"{found.released:,} released in {_counted(batches, 'batch', 'batches')}"
    out.print(f"samples    {found.sent:,} sent, {released}")
    for note in found.notes:
        out.print(f"note       {note}.")
    if not violated:
        _print_power(found)
        _print_list("not seen", found.not_seen)
    _print_list("files", [f"{digest}  {name}" for name, digest in files.items()])
    out.print(f"           False alarm {found.false_alarm:g}. Evidence, not proof.")


def _print_power(found: ShufflerAudit) -> None:
    """Print the least violation that is found, by promise and by kind of order."""
    single = dict.fromkeys(check.promise for check in found.checks if check.found_from == 1)
    out.print(f"power      one of these is found: {', '.join(single)}")
    for check in found.checks:
        if check.order is None and check.found_from > 1:
            out.print(f"           {check.found_from:>10,}  {check.words}")
    compared = ", ".join(ORDERS[promise] for promise in _compared(found))
    for batches in dict.fromkeys(check.batches for check, _ in found.power):
        shown = [(check, order) for check, order in found.power if check.batches == batches]
        where = "in the largest batch" if batches == 1 else f"in {batches:,} batches together"
        out.print(f"           of {shown[0][0].reports:,} reports {where}, {compared}:")
        out.print("           found from  uniform")
        for one in (one for _, order in shown for one in _ends(order.power)):
            out.print(f"           {one.found_from:>10,}  {one.expected:>7,.0f}  {one.name}")


def _ends(power: tuple[Power, ...]) -> tuple[Power, ...]:
    return power if len(power) == 1 else (power[0], power[-1])


def _compared(found: ShufflerAudit) -> list[str]:
    return [*dict.fromkeys(check.promise for check in found.checks if check.order is not None)]


def _most_telling(check: ShufflerCheck) -> tuple[bool, float]:
    return check.order is not None, check.p_value


def _print_list(label: str, entries: Sequence[str]) -> None:
    for place, entry in enumerate(entries[:_SHOWN]):
        out.print(f"{'' if place else label:<11}{entry}")
    if len(entries) > _SHOWN:
        out.print(f"           and {len(entries) - _SHOWN:,} more: see --json")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def print_document(found: ShufflerAudit, batches: int, files: Mapping[str, str]) -> None:
    """Print the same as one document, with every check."""
    print_json(
        refuted=found.refuted,
        false_alarm=found.false_alarm,
        sent=found.sent,
        released=found.released,
        batches=batches,
        files=dict(files),
        notes=list(found.notes),
        checks=[
            {
                "promise": check.promise,
                "counted": check.words,
                "observed": check.observed,
                "found_from": check.found_from,
                "p_value": check.p_value,
                "violated": check.violated,
            }
            for check in found.checks
        ],
        compared=_compared(found),
        power=[
            {
                "kind": order.kind,
                "looked_for": KINDS[order.kind],
                "reports": check.reports,
                "batches": check.batches,
                "level": order.level,
                "found": [one._asdict() for one in order.power],
            }
            for check, order in found.power
        ],
        not_seen=list(found.not_seen),
    )

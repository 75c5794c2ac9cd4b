"""The questions that the page may ask, and the answers, part by part."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from croupier.errors import CroupierError, ParameterError
from croupier.explorer.controls.panel import Change, Rejected, moved, panel
from croupier.explorer.curve import curve
from croupier.explorer.edge import edge
from croupier.explorer.export import export
from croupier.explorer.state import Part, state
from croupier.plan.plan import Plan

__all__ = ["Explorer"]

_END: Part = {"part": "end"}
_MOST_POINTS = 200


class Explorer:
    """One plan to start from, and what follows from each plan that people move to.

    It keeps nothing: every question holds the document of the plan that it is about, so that an
    answer cannot be about an older one.

    Attributes:
        plan: The plan that a page starts with.
        file: The name of its file.
    """

    def __init__(self, plan: Plan, *, file: str = "plan.toml") -> None:
        self.plan = plan
        self.file = file

    def answer(self, verb: str, body: Mapping[str, Any]) -> Iterator[Part | None]:
        """Yield the parts of an answer, an end last; None where whoever asked may have gone.

        Every failure is a part, too.
        """
        verbs: dict[str, Callable[[Mapping[str, Any]], Iterator[Part | None]]] = {
            "state": self._state,
            "curve": self._curve,
            "edge": self._edge,
            "export": self._export,
        }
        try:
            yield from verbs.get(verb, _unknown)(body)
        except Rejected as error:
            yield {"part": "failure", "message": error.problem}
        except CroupierError as error:
            yield {"part": "failure", "message": str(error)}
        except Exception as error:  # noqa: BLE001 - the page says so, and goes on
            words = f"croupier failed with {type(error).__name__}. Please report it."
            yield {"part": "failure", "message": words}
        yield _END

    def _document(self, body: Mapping[str, Any], name: str = "document") -> dict[str, Any]:
        given = body.get(name)
        if given is None:
            return self.plan.document()
        if not isinstance(given, dict):
            raise ParameterError(name, must="be the document of a plan")
        return given

    def _state(self, body: Mapping[str, Any]) -> Iterator[Part | None]:
        document, changes = self._document(body), _changes(body.get("changes", []))
        try:
            plan = moved(document, changes)
        except Rejected as error:
            yield {
                "part": "problem",
                "control": error.control,
                "message": error.problem,
                "groups": _groups(document, changes),
            }
            return
        yield from state(plan, file=self.file)

    def _curve(self, body: Mapping[str, Any]) -> Iterator[Part | None]:
        name, values = body.get("control"), body.get("xs")
        if not isinstance(name, str) or not isinstance(values, list):
            raise ParameterError("control", must="be an input, with a list of its values as xs")
        yield from curve(self._document(body), name, values[:_MOST_POINTS])

    def _edge(self, body: Mapping[str, Any]) -> Iterator[Part | None]:
        yield from edge(moved(self._document(body), []), str(body.get("control")))

    def _export(self, body: Mapping[str, Any]) -> Iterator[Part | None]:
        other = moved(self._document(body, "other"), []) if body.get("other") else None
        plan = moved(self._document(body), [])
        yield export(plan, body.get("form"), file=self.file, other=other)


def _unknown(_: Mapping[str, Any]) -> Iterator[Part | None]:
    raise ParameterError("verb", must="be state, curve, edge or export")


def _changes(given: object) -> list[Change]:
    if not isinstance(given, Sequence):
        raise ParameterError("changes", must="be a list")
    found = []
    for one in given:
        if not isinstance(one, Mapping) or not isinstance(one.get("control"), str):
            raise ParameterError("changes", must="each name a control and its value")
        found.append((one["control"], one.get("value")))
    return found


def _groups(document: Mapping[str, Any], changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return the inputs of the last plan that was one, holding what was typed since."""
    typed = dict(changes)
    try:
        found = [group.document() for group in panel(moved(document, []))]
    except Rejected:
        return []
    for group in found:
        for control in group["controls"]:
            if control["kind"] != "button" and control["id"] in typed:
                control["value"] = typed[control["id"]]
    return found

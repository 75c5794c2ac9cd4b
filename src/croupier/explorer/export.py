"""Files to take away from the page: the plan, the officer's page, a comparison, a command."""

import shlex
from pathlib import PurePath
from typing import Any

from croupier.assessment.compare import compare
from croupier.documents.explain.comparison.page import comparison_page
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text

__all__ = ["export"]


def export(plan: Plan, form: object, *, file: str, other: Plan | None = None) -> dict[str, Any]:
    """Return a file as text, with its name and type.

    Args:
        plan: The plan.
        form: "plan", "page", "command" or "compare".
        file: The name of the plan's file.
        other: The plan before, for "compare".

    Raises:
        MissingExtraError: A page needs the extra `plots`.
    """
    name = PurePath(file).name
    if form == "plan":
        return _file(name, "text/plain", plan_text(plan))
    if form == "command":
        return _file("assess.sh", "text/plain", _command(plan))
    if form == "page":
        return _file("explain.html", "text/html", plan.explain(file=name).html)
    if form == "compare" and other is not None:
        page = comparison_page(compare(other, plan))
        return _file("compare.html", "text/html", page)
    raise ParameterError("form", must="be plan, page, command or compare")


def _file(name: str, kind: str, text: str) -> dict[str, Any]:
    return {"part": "file", "name": name, "type": kind, "text": text}


def _command(plan: Plan) -> str:
    """Return commands for a shell that give the same numbers: no file is needed.

    A line of a plan is never the mark that ends it: texts of a plan stand on one line, in quotes.
    """
    text = plan.to_toml()
    if "\nPLAN\n" in f"\n{text}\n":
        return f"printf %s {shlex.quote(text)} | croupier assess - --metric all\n"
    return f"croupier assess - --metric all <<'PLAN'\n{text.rstrip()}\nPLAN\n"

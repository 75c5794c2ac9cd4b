"""The explorer in a notebook."""

import threading
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from croupier.errors import MissingExtraError
from croupier.explorer.explorer import Explorer
from croupier.plan.plan import Plan

__all__ = ["explore"]


def explore(plan: Plan) -> Any:
    """Return a widget that shows the explorer of a plan where a notebook displays it.

    `widget.plan` is the plan at which the page stands.

    Raises:
        MissingExtraError: anywidget is not installed.
    """
    if find_spec("anywidget") is None:
        raise MissingExtraError("plan.explore()", package="anywidget", extra="notebook")
    return _widget_class()(plan)


def _widget_class() -> Any:
    """Make the class, which needs anywidget to be imported."""
    import anywidget  # noqa: PLC0415 - an extra

    folder = files("croupier.explorer") / "static"

    class ExplorerWidget(anywidget.AnyWidget):
        _esm = (folder / "widget.js").read_text("utf-8")
        _css = (folder / "explorer.css").read_text("utf-8")

        def __init__(self, plan: Plan) -> None:
            super().__init__()
            self.plan = plan
            self._explorer = Explorer(plan, file=f"{plan.name}.toml")
            self._turn = threading.Lock()
            self._aborted: set[Any] = set()
            self.on_msg(self._asked)

        def _asked(self, _: Any, message: dict[str, Any], __: Any) -> None:
            """Answer in a thread, so that a newer question can end the one before."""
            if message.get("verb") == "abort":
                self._aborted.add(message.get("id"))
                return
            threading.Thread(target=self._answer, args=(message,), daemon=True).start()

        def _answer(self, message: dict[str, Any]) -> None:
            number = message.get("id")
            with self._turn:
                for part in self._explorer.answer(message["verb"], message.get("body") or {}):
                    if number in self._aborted:
                        self._aborted.discard(number)
                        return
                    if part is not None:
                        self._keep(part)
                        self.send({"id": number, "part": part})

        def _keep(self, part: dict[str, Any]) -> None:
            if part["part"] == "plan":
                self.plan = Plan.from_document(part["document"])

    return ExplorerWidget

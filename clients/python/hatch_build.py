"""Fill the client's wheel with what croupier's wheel leaves out: one list, no file in both."""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ClientFiles(BuildHookInterface):
    """Take the files that the project above excludes from its wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files; an editable installation needs none, since it is a path to the source."""
        if version == "editable":
            return
        checkout = Path(self.root).parents[1]
        declared = tomllib.loads((checkout / "pyproject.toml").read_text())
        for place in declared["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]:
            file = place.removeprefix("/")
            build_data["force_include"][str(checkout / file)] = file.removeprefix("src/")

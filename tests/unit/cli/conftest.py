import json
from typing import NamedTuple

import pytest

from croupier.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


@pytest.fixture
def croupier(monkeypatch, capsys):
    """Run the program in this process."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["croupier", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Outcome(int(stop.value.code or 0), captured.out, captured.err)

    return run

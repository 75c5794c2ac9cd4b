"""A running `croupier issuer serve`: real processes, a real database."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]


@contextmanager
def issuing(folder, database, *options):
    """The document of a running service, and its process.

    `folder` holds the plan and the secret.
    """
    command = [sys.executable, "-c", "from croupier.cli import main; main()", "issuer", "serve"]
    files = ["--plan", folder / "plan.toml", "--secret", folder / "secret"]
    ports = ["--port", "0", "--metrics-port", "0", "--json"]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | {"CROUPIER_DATABASE": database, "PYTHONPATH": paths}
    with (folder / "issuer-log").open("w") as log:
        process = subprocess.Popen(
            [*map(str, [*command, *files, *ports, *options])],
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            text=True,
        )
        try:
            text = ""
            while not text.endswith("}\n"):
                line = process.stdout.readline()
                assert line, (folder / "issuer-log").read_text()
                text += line
            yield json.loads(text), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(300)
            process.stdout.close()

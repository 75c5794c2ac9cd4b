"""An environment with croupier-client and nothing else takes part in a served round."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from croupier.protocol.key_list import AnalyzerKey
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import Epoch, decode_report

ROOT = Path(__file__).parents[4]
DEVICE = """
import sys
from importlib.util import find_spec
from croupier.client.client import Client
from croupier.client.conversation import Server, converse, submit
from croupier.client.memory import FileState
from croupier.plan.plan import Plan
import croupier

assert croupier.__file__.startswith(sys.prefix), croupier.__file__
plan, url, credential, memory = sys.argv[1:]
client = Client(
    Plan.load(plan), attribute="pets", budget=2.0, memory=FileState(memory), spread=0.0
)
print(submit(converse(client, 3, server=Server(url=url, credential=credential))).value)
for package in ("numpy", "scipy", "narwhals", "typer", "rich", "tomlkit", "uvicorn", "psycopg"):
    assert find_spec(package) is None, package
"""


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """The Python of a fresh environment that holds only the client and what it requires."""
    place = tmp_path_factory.mktemp("device")
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    done = subprocess.run(
        [*pip, "--quiet", "--constraint", ROOT / "constraints.txt", ROOT / "clients" / "python"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "No matching distribution found" in done.stderr:
        pytest.skip("needs a package index")
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.slow
def test_a_device_with_the_client_alone_is_accepted(device, service):
    service.start()
    plan, url = service.directory / "plan.toml", f"http://127.0.0.1:{service.port}"
    done = subprocess.run(
        [
            *(device, "-I", "-c", DEVICE, plan, url),
            *(service.credentials.issue(), service.directory / "memory.json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "accepted"), done.stderr
    [envelope] = service.stored()
    report = opened(service, envelope)
    assert report in range(10)


def opened(service, envelope):
    """The report in a stored envelope, as release and analyzer open it."""
    batch = bytes.fromhex(service.batch)
    signed = AnalyzerKey.verified((service.directory / "analyzer.json").read_bytes(), service.plan)
    analyzer = bytes.fromhex(signed.key)
    epoch = Epoch.of(service.plan, round_number=0, batch=batch, analyzer=analyzer)
    inner, _ = open_outer(envelope, key=service.keys.outer_key(batch), epoch=epoch)
    key = service.analyzer.sealing_key("analyzer")
    return decode_report(service.plan, open_inner(inner, key=key, epoch=epoch), round_number=0)

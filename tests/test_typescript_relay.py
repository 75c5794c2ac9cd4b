"""A running gateway in Python, asked by the TypeScript client and by other implementations."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from croupier.protocol.oblivious.capsule import REQUEST_OVERHEAD
from tests.unit.shuffler.http.conftest import deployed

FOLDER = Path(__file__).parents[1] / "clients" / "typescript"


@pytest.fixture
def program(tmp_path):
    """The TypeScript half as one file, where node and the packages of the client are installed."""
    bundler, node = FOLDER / "node_modules" / ".bin" / "rolldown", shutil.which("node")
    if node is None or not bundler.exists() or not (FOLDER / "node_modules/bhttp-js").exists():
        pytest.skip("needs node, and npm install in clients/typescript")
    made = tmp_path / "relay_cross.mjs"
    source = FOLDER / "tests" / "relay_cross.ts"
    command = [bundler, source, "--file", made, "--platform", "node", "--no-codeSplitting"]
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True, timeout=300)
    return node, made


@pytest.mark.slow
def test_typescript_and_other_implementations_are_understood(program, tmp_path, make_database):
    folder = tmp_path / "service"
    folder.mkdir()
    with deployed(folder, make_database, admission={"relay": "Example Relay"}) as service:
        service.house.intake.rotate_gateway()
        service.start("--workers", "1")
        given = {
            "plan": service.plan.canonical.decode(),
            "digest": service.plan.digest,
            "url": f"http://127.0.0.1:{service.port}",
            "credential": service.credentials.issue(),
        }
        done = subprocess.run(
            program, input=json.dumps(given), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["sent"]["outcome"] == "accepted"
        assert len(service.stored()) == 1
        requests, answers = zip(*found["sent"]["lengths"], strict=True)
        assert set(requests) == {4096 + REQUEST_OVERHEAD}
        assert len(set(answers)) == 1
        assert found["asked"]["status"] == 200
        assert bytes.fromhex(found["asked"]["body"]) == service.get(service.path).body

"""The cost of the TypeScript client in Node and Chromium, beside Python's, in one run.

Needs node and `npm install` in clients/typescript, and chromium for its column. Every runtime is
measured several times in turns, so that a busy machine is as busy for one as for another; medians
are printed.

    python -m benchmarks.typescript_client --seconds 2 --turns 3
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.client.client import Client, seal
from croupier.client.memory import MemoryState
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, KeyList, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.public_keys import PublicKeys
from croupier.protocol.signed_document import public_half
from croupier.protocol.wire import Epoch, encode_report

FOLDER = Path(__file__).parents[1] / "clients" / "typescript"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def served() -> tuple[Plan, bytes]:
    """A plan and its key list."""
    signers = {name: Ed25519PrivateKey.generate() for name in ("shuffler", "analyzer")}
    public = {name: key.public_key().public_bytes_raw().hex() for name, key in signers.items()}
    plan = Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4.0},
            "population": {"enrolled": 1_000_000},
            "protections": {"minimum_batch": 200_000},
            "shufflers": [{"key": public["shuffler"]}],
            "analyzer": {"key": public["analyzer"]},
        }
    )
    keys = {name: X25519PrivateKey.generate() for name in signers}
    inner = keys["analyzer"].public_key().public_bytes_raw()
    epoch = Epoch.of(plan, round_number=0, batch=os.urandom(16), analyzer=inner)
    shuffler = ShufflerKey.make(epoch, plan, key=keys["shuffler"], signing_key=signers["shuffler"])
    analyzer = AnalyzerKey.make(plan, key=keys["analyzer"], signing_key=signers["analyzer"])
    public = {
        "release": PublicKeys(role="release", key=public_half(signers["shuffler"])),
        "intake": PublicKeys(role="intake", key=public_half(signers["shuffler"]), seal="00" * 32),
    }
    listed = ShufflerKeys.first(plan, **public, signing_key=signers["shuffler"])
    served = KeyList.of(plan, analyzer=analyzer, keys=listed, shuffler=(shuffler,))
    return plan, served.to_bytes()


def python(plan: Plan, data: bytes, seconds: float) -> dict[str, float]:
    """Measure Python in this process, where everything is loaded already."""
    start = time.perf_counter()
    client = Client(plan, attribute="emoji", budget=20.0, memory=MemoryState())
    client.report(1, key_list=data)
    first = time.perf_counter() - start
    keys = KeyList.verified(data, plan)
    (shuffler,) = keys.shuffler
    epoch = shuffler.epoch(plan)
    made, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        report = plan.randomizer.randomize([1])[0]
        encoded = encode_report(plan, report, round_number=0)
        seal(encoded, epoch=epoch, shuffler=shuffler)
        made += 1
    return {"first": 1000 * first, "one": made / (time.perf_counter() - start)}


def node(bundle: Path, plan: Plan, data: bytes, *rest: str) -> dict[str, float]:
    """Measure Node, or the browser that `rest` names."""
    command = ["node", str(FOLDER / "benchmarks" / "run.js"), str(bundle), data.hex(), plan.digest]
    done = subprocess.run([*command, *rest], capture_output=True, text=True, check=True)  # noqa: S603 - our script
    return dict(json.loads(done.stdout))


def bundled(folder: Path) -> Path:
    """The benchmark with the client, minified."""
    made = folder / "bundle.mjs"
    bundler = FOLDER / "node_modules" / ".bin" / "rolldown"
    source = FOLDER / "benchmarks" / "seal.ts"
    options = ["--file", made, "--minify", "--format", "es", "--no-codeSplitting"]
    command = [bundler, source, *options]
    subprocess.run(list(map(str, command)), cwd=FOLDER, capture_output=True, check=True)  # noqa: S603
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of every measurement")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    plan, data = served()
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    seconds = str(given.seconds)
    turns: dict[str, list[dict[str, float]]] = {"python": [], "node": [], "chromium": []}
    with tempfile.TemporaryDirectory() as folder:
        bundle = bundled(Path(folder))
        for turn in range(given.turns):
            print(f"turn {turn + 1} of {given.turns}", file=sys.stderr)
            turns["python"].append(python(plan, data, given.seconds))
            turns["node"].append(node(bundle, plan, data, seconds))
            if chromium:
                turns["chromium"].append(node(bundle, plan, data, seconds, chromium))
    busy = os.getloadavg()[0]
    print(f"cores {os.cpu_count()}, load {busy:.1f}")
    for name, measured in turns.items():
        for what, unit in {
            "first": "ms to the first report",
            "one": "reports/s, one at a time",
            "sixteen": "reports/s, sixteen at once",
        }.items():
            figures = [entry[what] for entry in measured if what in entry]
            if figures:
                print(f"{name:9} {statistics.median(figures):9.1f} {unit}")


if __name__ == "__main__":
    main()

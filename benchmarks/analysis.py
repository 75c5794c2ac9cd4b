"""A whole analysis of a large batch: both engines, compared with each other and with the truth.

A batch is generated from a known histogram, with malformed, null and repeated rows. Each engine
analyses it as `croupier analyze` does. Both must agree to the last digit, count every reason as
often as it occurs, and have the truth in their intervals, which hold simultaneously with the
printed confidence.

Run: python -m benchmarks.analysis [--rows 1e7] [--directory DIRECTORY] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.generate import PASSPHRASE, generate

ENGINES = ("duckdb", "spark")
REASONS = ("null", "malformed", "duplicate")
CONFIDENCE = "0.999999"


def analysed(directory: Path, engine: str) -> dict[str, Any]:
    """The output of `croupier analyze`, and the time it took."""
    batch, plan, keys = (str(directory / name) for name in ("batch.parquet", "plan.toml", "keys"))
    command = [sys.executable, "-c", "from croupier.cli import main; main()", "analyze", batch]
    command += ["--plan", plan, "--keys", keys, "--engine", engine, "--json"]
    command += ["--confidence", CONFIDENCE, "--simultaneous"]
    environment = os.environ | {"CROUPIER_PASSPHRASE": PASSPHRASE.decode()}
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)  # noqa: S603 - ourselves
    return {"seconds": time.monotonic() - start, "document": json.loads(done.stdout)}


def wrong(document: dict[str, Any], truth: dict[str, int]) -> list[str]:
    """The statements of an analysis that are wrong."""
    reasons = {name: truth.get(name, 0) for name in REASONS} | {"cannot_open": 0}
    held = {value: count for value, count in truth.items() if value not in REASONS}
    people = sum(held.values())
    found = [] if document["counts"] == reasons else [f"counts by reason {document['counts']}"]
    if document["n"] != people:
        found.append(f"{document['n']} people instead of {people}")
    for row in document["estimates"]:
        low, high = row["interval"]
        if not low <= held.get(f"value {row['value']}", 0) / people <= high:
            found.append(f"value {row['value']} outside its interval")
    return found


def main() -> None:
    """Generate, analyse, compare; exit with 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--directory", type=Path, help="keeps the batch for another run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.directory or Path(temporary)
        known = directory / "truth.json"
        if not known.exists():
            cores = os.cpu_count() or 1
            shares = {"malformed": 0.01, "null": 0.05, "duplicate": 0.03}
            made = generate(directory, rows=given.rows, kind="inner", processes=cores, **shares)
            known.write_text(json.dumps(made))
        truth = json.loads(known.read_text())["truth"]
        found = {name: analysed(directory, name) for name in ENGINES}
    first, second = (found[name]["document"] for name in ENGINES)
    differences = wrong(first, truth) + ([] if first == second else ["the engines differ"])
    seconds = {name: round(found[name]["seconds"], 1) for name in ENGINES}
    result = {"rows": given.rows, "people": first["n"], "counts": first["counts"]}
    result |= {"seconds": seconds, "differences": differences}
    print(json.dumps(result) if given.json else "\n".join(f"{k}: {v}" for k, v in result.items()))
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()

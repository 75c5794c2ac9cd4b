"""Kill executors of a Spark cluster on this machine and compare the results.

A master and two workers run on loopback, each worker with one executor that does not read the
other's shuffle files from disk. In the middle of an order, and in the middle of opening and
counting, one executor is killed with signal 9. The file must be the same, byte by byte, and so must
the counts: nothing lost, nothing twice.

Run: python -m benchmarks.executors [--json] [--kills 10] [--rows 2e6] [--open-rows 5e4] [--seed 1]
"""

import argparse
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pyspark

from benchmarks.engines import OpenAndCount, secrets_of
from benchmarks.generate import generate
from croupier.engines.base import Engine, engine

EXECUTOR = b"CoarseGrainedExecutorBackend"
PATIENCE = 300
ROOT = Path(__file__).parents[1]


def wait_until(what: str, found: Callable[[], Any]) -> Any:
    """Wait for a result and return it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := found():
            return answer
        time.sleep(0.1)
    msg = f"timed out waiting for {what}"
    raise SystemExit(msg)


@contextmanager
def daemon(directory: Path, name: str, *arguments: str, secret: str) -> Iterator[Path]:
    """Run a master or a worker, ended with its descendants; yield its log file."""
    conf = directory / "conf"
    conf.mkdir(exist_ok=True)
    settings = ["spark.authenticate true", f"spark.authenticate.secret {secret}"]
    settings += ["spark.network.crypto.enabled true"]
    (conf / "spark-defaults.conf").write_text("\n".join(settings) + "\n")
    local = directory / f"{secrets.token_hex(4)}-local"
    environment = os.environ | {"SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_DIRS": str(local)}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    log = directory / f"{secrets.token_hex(4)}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603 - Spark's own starter
            [program, f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", *arguments],
            stdout=file,
            stderr=file,
            env=environment,
            start_new_session=True,
        )
        try:
            yield log
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@contextmanager
def cluster(directory: Path, secret: str) -> Iterator[str]:
    """Run a master and two workers; yield the master's URL."""
    with ExitStack() as held:
        arguments = ["master.Master", "--port", "0", "--webui-port", "0"]
        log = held.enter_context(daemon(directory, *arguments, secret=secret))

        def url() -> str:
            words = log.read_text().split()
            return next((word for word in words if word.startswith("spark://127.0.0.1:")), "")

        master = wait_until("the master", url).rstrip(",.")
        for number in range(2):
            work = str(directory / f"work-{number}")
            arguments = ["worker.Worker", "--cores", "1", "--memory", "2g", "--webui-port", "0"]
            held.enter_context(daemon(directory, *arguments, "-d", work, master, secret=secret))
        yield master


def executors(application: Path) -> list[int]:
    """The executors whose work directory is under ours."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command, place = (path / "cmdline").read_bytes(), (path / "cwd").readlink()
        except OSError:
            continue
        if EXECUTOR in command and b"java" in command.split(b"\0")[0]:
            found += [int(path.name)] * place.is_relative_to(application)
    return found


def with_kill(work: Callable[[], Any], directory: Path, *, after: float) -> tuple[Any, bool]:
    """Return the result in spite of a kill, and whether the kill hit running work."""
    wait_until("two executors", lambda: len(executors(directory)) == 2)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(work)
        finished = wait([answer], after).done
        if not finished:
            os.kill(random.choice(executors(directory)), signal.SIGKILL)  # noqa: S311
        return answer.result(), not finished


def trials(
    made: Engine, directory: Path, *, kills: int, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Run every job once undisturbed, then with kills until enough of them hit."""
    key, epoch = secrets_of(directory)
    seed = secrets.token_bytes(32)

    def order() -> str:
        target = directory / "ordered.parquet"
        target.unlink(missing_ok=True)
        ordered = made.order([directory / "random.parquet"], target, seed=seed)
        with target.open("rb") as file:
            return f"{ordered} {file_digest(file, 'sha256').hexdigest()}"

    def count() -> str:
        step = OpenAndCount(key, epoch)
        return str(made.count([directory / "batch.parquet"], step).to_pylist())

    result: dict[str, dict[str, Any]] = {}
    for name, work in {"order": order, "open": count}.items():
        wait_until("two executors", lambda: len(executors(directory)) == 2)
        work()
        start = time.monotonic()
        expected = work()
        usual = time.monotonic() - start
        killed = same = 0
        while killed < kills:
            after = usual * random.uniform(0.1, 0.8)  # noqa: S311 - no secret
            found, hit = with_kill(work, directory, after=after)
            killed += hit
            same += hit and found == expected
            say(f"{name}: {killed} of {kills} killed after {after:.1f} s, {same} the same")
        result[name] = {"kills": killed, "same": same, "seconds": usual}
    return result


def main() -> None:
    """Run the trials and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=2_000_000)
    parser.add_argument("--open-rows", type=lambda text: int(float(text)), default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random.seed(given.seed)
    # Ending this program also ends the cluster.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    secret = secrets.token_hex(16)
    settings = {
        "spark.authenticate.secret": secret,
        "spark.shuffle.readHostLocalDisk": "false",
        "spark.task.maxFailures": "20",
        "spark.stage.maxConsecutiveAttempts": "20",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    with tempfile.TemporaryDirectory() as name, cluster(Path(name), secret) as master:
        directory = Path(name)
        generate(directory, rows=given.rows, kind="random")
        truth = generate(directory, rows=given.open_rows, kind="inner", duplicate=0.03)
        (directory / "truth.json").write_text(json.dumps(truth))
        scratch = directory / "scratch"
        with engine(
            "spark", master=master, memory=1 << 30, scratch=scratch, settings=settings
        ) as made:
            found = trials(
                made, directory, kills=given.kills, say=lambda line: print(line, file=sys.stderr)
            )
    if given.json:
        print(json.dumps(found))
    else:
        for job, facts in found.items():
            print(f"{job}: {facts['same']} of {facts['kills']} as without a kill")
    if any(facts["same"] < facts["kills"] for facts in found.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

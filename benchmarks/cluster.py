"""A separate PostgreSQL server, which may be killed and started again."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Cluster"]


class Cluster:
    """A running PostgreSQL server in a folder.

    Args:
        folder: An empty one.
        address: The address to listen on.
        subnet: The addresses that may connect, besides this host's own.
        ahead: The beginning of a command that runs on another host.
    """

    def __init__(
        self,
        folder: Path,
        *,
        address: str = "127.0.0.1",
        subnet: str | None = None,
        ahead: Sequence[str] = (),
    ) -> None:
        self._address, self._ahead = address, list(ahead)
        command = ["pg_config", "--bindir"]
        self.programs = Path(subprocess.check_output(command, text=True).strip())  # noqa: S603
        self.data = folder / "cluster"
        self.data.mkdir(exist_ok=True)
        self.port = random.SystemRandom().randrange(20_000, 30_000)
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            folder.chmod(0o755)
            shutil.chown(self.data, "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8")
        if subnet is not None:
            with (self.data / "pg_hba.conf").open("a") as file:
                file.write(f"host all all {subnet} trust\n")
        self.start()

    @property
    def database(self) -> str:
        """The connection string."""
        return f"host={self._address} port={self.port} user=postgres dbname=postgres"

    def start(self) -> None:
        """Start the server; after a kill, as soon as the last old process is gone."""
        where = ["-D", self.data, "-l", self.data / "log"]
        listens = f"-c listen_addresses={self._address} -c unix_socket_directories=''"
        settings = f"-p {self.port} {listens}"
        for _ in range(60):
            try:
                self._run("pg_ctl", *where, "-w", "-o", settings, "start")
            except subprocess.CalledProcessError:
                time.sleep(0.5)
            else:
                return
        raise SystemExit((self.data / "log").read_text()[-2000:])

    def kill(self) -> None:
        """Kill its main process; the others end when they notice."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server in an orderly way."""
        self._run("pg_ctl", "-D", self.data, "-m", "fast", "stop")

    def _run(self, program: str, *arguments: object) -> None:
        ahead = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*self._ahead, *ahead, str(self.programs / program), *map(str, arguments)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, **quiet)  # noqa: S603 - PostgreSQL's own programs

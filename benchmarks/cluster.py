"""A separate PostgreSQL server, which may be killed and started again."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

__all__ = ["Cluster"]


class Cluster:
    """A running PostgreSQL server in a folder."""

    def __init__(self, folder: Path) -> None:
        command = ["pg_config", "--bindir"]
        self.programs = Path(subprocess.check_output(command, text=True).strip())  # noqa: S603
        self.data = folder / "cluster"
        self.data.mkdir(exist_ok=True)
        self.port = random.SystemRandom().randrange(20_000, 30_000)
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            folder.chmod(0o755)
            shutil.chown(self.data, "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8")
        self.start()

    @property
    def database(self) -> str:
        """The connection string."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    def start(self) -> None:
        """Start the server; after a kill, as soon as the last old process is gone."""
        where = ["-D", self.data, "-l", self.data / "log"]
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
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
        command = [*ahead, str(self.programs / program), *map(str, arguments)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, **quiet)  # noqa: S603 - PostgreSQL's own programs

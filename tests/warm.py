"""A `croupier` for tests that start it often: a call is a fork of a process that has imported it.

Starting afresh takes a second of a core, nearly all of it imports. A fork has the arguments, the
directory, the environment, the file mode mask and the open files of its caller, who ends with its
exit code. Commands that run until a signal ends them start afresh, since a signal to the caller
does not reach the fork. Keys are derived from passphrases with little work.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

__all__ = ["AFRESH", "croupier"]

CHEAP = "from croupier.protocol import encrypted_key; encrypted_key.WORK = (1 << 4, 8, 1)"
AFRESH = f"{CHEAP}; from croupier.cli import main; main()"
CALLER = """#!{python} -IS
import json, os, socket, sys
if {{"serve", "demo", "issuer", "mirror"}} & {{*sys.argv[1:]}}:
    os.execv({python!r}, [{python!r}, "-c", {afresh!r}, *sys.argv[1:]])
os.umask(mask := os.umask(0))
call = {{"arguments": sys.argv[1:], "environment": {{**os.environ}}, "folder": os.getcwd()}}
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall(json.dumps(call | {{"mask": mask}}).encode())
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(8) or b"1"))
"""
READY = b"ready\n"
IMPORTED = ["analyzer.analyzer", "assessment.ladder.ladder", "documents.explain.page"]
IMPORTED += ["shuffler.release.release"]


@cache
def croupier() -> Path:
    """The program, for as long as this process runs."""
    folder = tempfile.TemporaryDirectory(prefix="croupier-warm-")
    address = f"{folder.name}/socket"
    server = subprocess.Popen(
        [sys.executable, __file__, address],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONSAFEPATH": "1"},
    )
    atexit.register(folder.cleanup)
    atexit.register(server.wait)
    atexit.register(server.terminate)
    assert server.stdout is not None
    assert server.stdout.read() == READY
    program = Path(folder.name, "croupier")
    program.write_text(CALLER.format(python=sys.executable, afresh=AFRESH, address=address))
    program.chmod(0o755)
    return program


def _import_everything() -> None:
    cli = import_module("croupier.cli")
    for module in walk_packages(cli.__path__, "croupier.cli."):
        import_module(module.name)
    for name in IMPORTED:
        import_module(f"croupier.{name}")
    exec(CHEAP, {})  # noqa: S102 - above


def _serve(address: str) -> None:
    """Fork once per call, until the process that started this one is gone."""
    parent = os.getppid()
    _import_everything()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        listener.settimeout(5)
        os.write(1, READY)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        while os.getppid() == parent:
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            with suppress(TimeoutError):
                call, _ = listener.accept()
                if os.fork() == 0:
                    listener.close()
                    return _answer(call)
                call.close()
    return None


def _answer(call: socket.socket) -> None:
    """Run the command in a fork, and tell its exit code."""
    call.settimeout(None)
    _, files, _, _ = socket.recv_fds(call, 1, 3)
    with call.makefile("rb") as sent:
        asked = json.load(sent)
    runner = os.fork()
    if runner:
        _, status = os.waitpid(runner, 0)
        code = os.waitstatus_to_exitcode(status)
        with suppress(OSError):
            call.sendall(str(code if code >= 0 else 128 - code).encode())
        os._exit(0)
    call.close()
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    os.chdir(asked["folder"])
    os.umask(asked["mask"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["croupier", *asked["arguments"]]
    import_module("croupier.cli").main()


if __name__ == "__main__":
    _serve(sys.argv[1])

"""A server of an OpenAI-compatible API, in a process of its own, that goes wrong as it is told.

The fault stands in the path, ``/FAULT/SESSION/v1/chat/completions``, so that one process serves
every test at once. ``GET /FAULT/SESSION/seen`` tells what was asked there: a list with the path,
headers and body of each request, and how many were on the way there when it came. The faults are
those of ``server_faults``.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from server_faults import FAULTS, VOCABULARY, send


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body go out in two writes

    def do_POST(self) -> None:
        name, session, path = self._path()
        size = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(size))
        with self.server.lock:  # type: ignore[attr-defined]
            seen = self.server.seen[name, session]  # type: ignore[attr-defined]
            active = self.server.active  # type: ignore[attr-defined]
            active[name, session] += 1
            seen.append(
                {
                    "path": path,
                    "headers": dict(self.headers),
                    "body": body,
                    "active": active[name, session],
                }
            )
            number = len(seen)
        try:
            self._answer(name, path, body, number)
        finally:
            with self.server.lock:  # type: ignore[attr-defined]
                active[name, session] -= 1

    def _answer(self, name: str, path: str, body: dict[str, Any], number: int) -> None:
        if path == "/tokenize":
            known = body["prompt"] in VOCABULARY
            send(self, {"tokens": [VOCABULARY.index(body["prompt"])] if known else [1, 2]})
        elif path == "/detokenize":
            send(self, {"prompt": "".join(VOCABULARY[one] for one in body["tokens"])})
        else:
            FAULTS[name](self, body, number)

    def do_GET(self) -> None:
        name, session, path = self._path()
        if path == "/blocks":
            send(self, self.server.blocks)  # type: ignore[attr-defined]
            return
        with self.server.lock:  # type: ignore[attr-defined]
            send(self, self.server.seen[name, session])  # type: ignore[attr-defined]

    def _path(self) -> tuple[str, str, str]:
        _, name, session, *rest = self.path.split("/")
        return name, session, "/" + "/".join(rest)

    def log_message(self, *_: Any) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client went away, which is what is tested
            super().handle()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.seen: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        self.active: dict[tuple[str, str], int] = defaultdict(int)
        self.blocks = 0  # of 1 MiB, sent by the fault "huge-body"
        self.stopping = threading.Event()

    def handle_error(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def running() -> Iterator[str]:
    """Run the server in a process of its own; gives its address, without a slash at its end."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.communicate()  # it stops when its input ends
        assert process.returncode == 0


def main() -> None:
    """Serve until the input ends."""
    server = _Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    server.stopping.set()
    server.shutdown()


if __name__ == "__main__":
    main()

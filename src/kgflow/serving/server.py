"""Sockets and the uvicorn server of an application."""

import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from kgflow.errors import KgflowError

SHUTDOWN_SECONDS = 30
"""Seconds that running requests may take to finish after a stop signal."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 means any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KgflowError(
            f"{host} port {port} cannot be opened ({reason}): choose another --host or --port"
        ) from None


def server_url(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM, and then finish the running requests."""

    def stop(_: int, __: FrameType | None) -> None:
        sys.exit(0)

    # uvicorn raises the signal again at its end: a requested stop is not a failure.
    signal.signal(signal.SIGTERM, stop)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])

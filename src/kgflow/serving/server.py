"""An application on a port, until it is told to stop."""

import signal
import socket
import sys
from types import FrameType

import uvicorn
from fastapi import FastAPI

from kgflow.errors import KgflowError

PATIENCE = 30
"""Seconds that running requests may take to finish."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise KgflowError(
            f"{host} port {port} cannot be listened on ({reason}): choose another --host or --port"
        ) from None


def address(listening: socket.socket) -> str:
    """Where it can be reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM; what runs then is finished first."""

    def stop(_: int, __: FrameType | None) -> None:
        sys.exit(0)

    # uvicorn raises the signal again once it is done: being told to stop is no failure.
    signal.signal(signal.SIGTERM, stop)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
    )
    uvicorn.Server(config).run(sockets=[listening])

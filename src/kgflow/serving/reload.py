"""Replaces the run that an application serves, while it serves."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import APIRouter, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kgflow.errors import KgflowError
from kgflow.runs.run import Run
from kgflow.search.saved_index import SelectedSearch
from kgflow.serving import responses
from kgflow.serving.analysis import AnalysisService
from kgflow.serving.responses import json_response, problem_response, problem_schemas
from kgflow.serving.service import RunService, Values

LOG = logging.getLogger("kgflow.serving")
router = APIRouter(prefix="/v1")

Load = Callable[[], tuple[Run, SelectedSearch | None]]
"""Function that opens the run again and selects its search."""

KEPT = "the run that was loaded before keeps serving"


class Reloader:
    """Loads the run again and lets the application serve it.

    The new run is opened and warmed up in a thread, while the old one answers. Then new requests
    get the new run, and those that have begun finish with the old one. If the new run cannot be
    opened, the old one keeps serving.

    Args:
        app: application.
        load: function that opens the run, or None where it cannot be loaded again.
    """

    def __init__(self, app: FastAPI, load: Load | None) -> None:
        self.app, self.load = app, load
        self._lock = asyncio.Lock()
        self._tasks = set[asyncio.Task[None]]()

    async def __call__(self) -> Values:
        """Load the run again and return its sizes; KgflowError if that fails."""
        if self.load is None:
            raise KgflowError("this application cannot load its run again: start a new one")
        async with self._lock:
            try:
                service, search = await run_in_threadpool(self._open, self.load)
            except Exception as error:
                if not isinstance(error, KgflowError):
                    LOG.exception("the run could not be loaded again")
                reason = str(error) if isinstance(error, KgflowError) else type(error).__name__
                raise KgflowError(f"the run cannot be loaded ({reason}): {KEPT}") from None
            old: AnalysisService = self.app.state.analysis
            install(self.app, service, search)
            await old.batcher.close()
        data = service.data
        return {
            "status": "reloaded",
            "entities": len(data.entities),
            "relations": len(data.relations),
            "updates": len(service.run.updates.updates),
        }

    @staticmethod
    def _open(load: Load) -> tuple[RunService, SelectedSearch | None]:
        run, search = load()
        service = RunService(run)
        service.warm_up()
        return service, search

    @contextmanager
    def on_signal(self) -> Iterator[None]:
        """Load the run again on SIGHUP, where this thread may handle signals."""
        hangup, loop = getattr(signal, "SIGHUP", None), asyncio.get_running_loop()
        try:
            if self.load is None or hangup is None:
                raise NotImplementedError
            loop.add_signal_handler(hangup, self._start)
        except (NotImplementedError, ValueError, RuntimeError):
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(hangup)

    def _start(self) -> None:
        task = asyncio.get_running_loop().create_task(self._report())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _report(self) -> None:
        try:
            found = await self()
        except KgflowError as error:
            print(f"kgflow: {error}", file=sys.stderr, flush=True)
        else:
            sizes = f"{found['entities']:,} entities, {found['relations']:,} relations"
            print(f"reloaded: {sizes}, {found['updates']:,} updates", file=sys.stderr, flush=True)


def install(app: FastAPI, service: RunService, search: SelectedSearch | None) -> None:
    """Let an application serve a run from the next request on."""
    app.state.service, app.state.analysis = service, AnalysisService(service)
    app.state.search = search.description if search else "exact search"


@router.post(
    "/reload", response_model=responses.Reloaded, responses=problem_schemas(403),
    summary="Load the run again",
)  # fmt: skip
async def reload(request: Request) -> Response:
    """Load the run from its directory again, after an update; a server without a token refuses.

    If it cannot be loaded, status 422 says why, and the run that was loaded before keeps serving.
    """
    if not request.app.state.has_token:
        return problem_response(
            403, "this server has no token: start it with --token, or use SIGHUP"
        )
    reloader: Reloader = request.app.state.reloader
    return json_response(await reloader())

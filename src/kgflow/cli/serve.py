"""kgflow serve."""

import sys
from dataclasses import dataclass
from typing import ClassVar

from kgflow.cli.options import Device, Json, RunPath, option, option_groups
from kgflow.cli.output import print_note, show_json
from kgflow.errors import KgflowError

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class NetworkOptions:
    """Network address, and limits of requests."""

    panel: ClassVar[str] = "Network"

    host: str = option("127.0.0.1", "Network address to listen on.")
    port: int = option(8000, "Port to listen on; 0 for any free port.", min=0, max=65535)
    token: str | None = option(
        None,
        "Bearer token that requests must send; safer in the environment variable.",
        envvar="KGFLOW_TOKEN",
    )
    cors: list[str] | None = option(None, "Origin whose pages may send requests (repeatable).")
    max_queue: int = option(2048, "Largest number of waiting queries; more get status 503.", min=1)

    @property
    def accepted_hosts(self) -> tuple[str, ...]:
        """Host names of local requests, or none for any where the server is not local."""
        return (*LOCAL_HOSTS, "[::1]") if self.host in LOCAL_HOSTS else ()

    def check_token(self) -> None:
        """Raise an error if an HTTP header cannot hold the token."""
        if self.token is not None and not (
            self.token and self.token.isascii() and self.token.isprintable()
        ):
            raise KgflowError("the token is empty or not printable ASCII: choose another")


@dataclass(frozen=True)
class IndexOptions:
    """Search method of the server."""

    panel: ClassVar[str] = "Search"

    index: str = option("exact", "Search method: exact, or a faiss index: flat, ivf or hnsw.")
    min_recall: float = option(
        0.99, "Lowest recall@10 of an index; below it, search is exact.", min=0, max=1
    )


@option_groups
def serve(
    run: RunPath,
    network: NetworkOptions,
    search: IndexOptions,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Serve a run over HTTP, with a JSON interface and an explorer page.

    Example: kgflow serve runs/world --port 8000
    """
    from kgflow.cli.progress import progress_bar
    from kgflow.runs.run import Run

    network.check_token()
    opened = Run.open(run, device)
    try:
        from kgflow.search.saved_index import SelectedSearch, select_search
        from kgflow.serving.app import create_app
        from kgflow.serving.server import listen, serve, server_url
    except ModuleNotFoundError as error:
        raise KgflowError(f"serving needs {error.name}: install kgflow[serve]") from None
    with listen(network.host, network.port) as listening:

        def load() -> tuple[Run, SelectedSearch]:
            run_again = Run.open(run, device)
            return run_again, select_search(run_again, search.index, search.min_recall)

        with progress_bar("indexing") as progress:
            selected = select_search(opened, search.index, search.min_recall, progress)
        app = create_app(
            opened,
            search=selected,
            token=network.token,
            cors_origins=network.cors or (),
            hosts=network.accepted_hosts,
            max_queue=network.max_queue,
            load=load,
        )
        url = server_url(listening)
        if json:
            found = {"search": selected.description, "recall": selected.recall}
            show_json({"url": url, "run": run, **found})
        else:
            print(f"serving {run} at {url}: {selected.description}")
            print(f"the interface is described at {url}/v1/openapi.json; Ctrl-C stops the server")
        if network.host not in LOCAL_HOSTS and network.token is None:
            print_note("note: anyone who can reach this address can query the run; use --token")
        sys.stdout.flush()
        serve(app, listening)

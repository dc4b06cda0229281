"""kgflow serve."""

import sys
from typing import Annotated

import typer

from kgflow.cli.output import Device, Json, RunPath, say, show_json
from kgflow.errors import KgflowError

LOCAL = ("127.0.0.1", "::1", "localhost")


def serve(
    run: RunPath,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any.")] = 8000,
    index: Annotated[
        str, typer.Option(help="How to search: exact, or by faiss: flat, ivf, hnsw (or faiss).")
    ] = "exact",
    min_recall: Annotated[
        float, typer.Option(min=0, max=1, help="Search exactly where an index finds less.")
    ] = 0.99,
    token: Annotated[
        str | None,
        typer.Option(envvar="KGFLOW_TOKEN", help="What callers must send; better in the variable."),
    ] = None,
    cors: Annotated[
        list[str] | None, typer.Option(help="An origin whose pages may call (repeatable).")
    ] = None,
    queue: Annotated[
        int, typer.Option(min=1, help="Questions that may wait; more are refused.")
    ] = 2048,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Answer over HTTP: predictions, scores, entities and relations, described by OpenAPI.

    Example: kgflow serve runs/world --port 8000
    """
    from kgflow.cli.progress import share_bar
    from kgflow.runs.run import Run

    if token is not None and not (token and token.isascii() and token.isprintable()):
        raise KgflowError("the token is empty or holds more than printable ASCII: choose another")
    opened = Run.open(run, device)
    try:
        from kgflow.search.saved import choose_search
        from kgflow.serving.app import create_app
        from kgflow.serving.server import address, listen, serve
    except ModuleNotFoundError as error:
        raise KgflowError(f"serving needs {error.name}: install kgflow[serve]") from None
    with listen(host, port) as listening:
        with share_bar("indexing") as progress:
            choice = choose_search(opened, index, min_recall, progress)
        hosts = (*LOCAL, "[::1]") if host in LOCAL else ()
        app = create_app(
            opened, choice=choice, token=token, cors=cors or (), hosts=hosts, queue=queue
        )
        url = address(listening)
        if json:
            show_json({"url": url, "run": run, "search": choice.sentence, "recall": choice.recall})
        else:
            print(f"serving {run} at {url}: {choice.sentence}")
            print(f"{url}/v1/openapi.json describes it; Ctrl-C ends it")
        if host not in LOCAL and token is None:
            say("note: everyone who reaches this address is answered; --token asks for a secret")
        sys.stdout.flush()
        serve(app, listening)

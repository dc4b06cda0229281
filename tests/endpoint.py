"""A SPARQL endpoint on the loopback interface: an Oxigraph store behind a small HTTP server."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


class Server:
    """What the server holds, how it was asked, and how it shall misbehave."""

    def __init__(self, store):
        self.store, self.queries, self.updates, self.headers = store, [], [], []
        self.failures = []
        """Faults of the next requests: an HTTP status code, "close" or "cut"."""
        self.max_rows = None
        self.address = ""


def _handler(server):
    import pyoxigraph as ox

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            server.headers.append(dict(self.headers))
            fault = server.failures.pop(0) if server.failures else None
            if fault == "close":
                self.connection.close()
            elif isinstance(fault, int):
                self._reply(fault, b"not now\n<html>")
            elif "update" in form:
                server.updates.append(form["update"][0])
                server.store.update(form["update"][0])
                self._reply(204, b"")
            else:
                server.queries.append(form)
                body = self._answer(form)
                self._reply(200, body[: len(body) // 2] if fault == "cut" else body)

        def _answer(self, form):
            graphs = [ox.NamedNode(g) for g in form.get("default-graph-uri", [])] or None
            query = form["query"][0]
            if server.max_rows and " LIMIT " in query:
                query = query.replace(" LIMIT ", " LIMIT 0")  # digits stay a number
                head, limit = query.rsplit(" LIMIT ", 1)
                count, rest = limit.split(" ", 1)
                query = f"{head} LIMIT {min(int(count), server.max_rows)} {rest}"
            found = server.store.query(query, default_graph=graphs)
            return found.serialize(format=ox.QueryResultsFormat.JSON)

        def _reply(self, code, body):
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


@contextmanager
def serve(store):
    """Run a server for a store in a thread; yields the `Server`."""
    server = Server(store)
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    server.address = f"http://127.0.0.1:{http.server_port}/sparql"
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()

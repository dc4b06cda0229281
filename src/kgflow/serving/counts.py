"""What Prometheus reads."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import Scope

from kgflow.serving.batcher import Batcher

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Counts:
    """Requests, their time, and the batches behind them."""

    def __init__(self, batcher: Batcher[Any, Any]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "kgflow_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "kgflow_request_seconds",
            "Time of a request.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        sizes = Histogram(
            "kgflow_batch_size", "Jobs done at once.", buckets=SIZES, registry=self.registry
        )
        waiting = Gauge("kgflow_waiting", "Jobs that wait.", registry=self.registry)
        batcher.batches.append(sizes.observe)
        waiting.set_function(lambda: len(batcher.waiting))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request, by the pattern of its address: names would be endless."""
        route = getattr(scope.get("route"), "path", "other")
        self.requests.labels(route, status).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Everything, as Prometheus wants it."""
        return generate_latest(self.registry)

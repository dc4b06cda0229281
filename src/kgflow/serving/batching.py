"""Batching of concurrent requests, so that one matrix product answers many of them."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_BATCH = 256
"""Largest number of items in a batch: as many as the predictor multiplies at once."""
MAX_DELAY = 0.001
"""Seconds to wait for more items when a batch is not full."""
MAX_QUEUE = 2048
"""Largest number of waiting items."""


class QueueFullError(Exception):
    """The queue of a batcher is full."""


class Batcher(Generic[Item, Result]):
    """A bounded queue whose items are processed in batches by one thread.

    While one batch is processed the next one fills, so that batches grow with the load; one matrix
    product for many queries is much faster than one for each.

    Args:
        process: function from a batch of items to their results, in the same order; an exception
            among the results is raised for its item only. It runs in a separate thread.
        max_batch: largest number of items in a batch.
        max_delay: seconds to wait for more items when a batch is not full.
        max_queue: largest number of waiting items; a request larger than that is accepted only
            if the queue is empty.

    Example:
        >>> async def squares():
        ...     batcher = Batcher(lambda xs: [x * x for x in xs])
        ...     results = await asyncio.gather(*(batcher.submit([x]) for x in (2, 3, 4)))
        ...     await batcher.close()
        ...     return results
        >>> asyncio.run(squares())
        [[4], [9], [16]]
    """

    def __init__(
        self,
        process: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        max_batch: int = MAX_BATCH,
        max_delay: float = MAX_DELAY,
        max_queue: int = MAX_QUEUE,
    ) -> None:
        self.process = process
        self.max_batch, self.max_delay, self.max_queue = max_batch, max_delay, max_queue
        self.queue: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self.on_batch: list[Callable[[int], None]] = []
        """Callbacks that are called with the size of every batch."""
        self._thread = ThreadPoolExecutor(1)
        self._task: asyncio.Task[None] | None = None
        self._full: asyncio.Event | None = None

    async def submit(self, items: Sequence[Item]) -> list[Result]:
        """Return the results of some items, in whatever batches they are processed.

        Raises:
            QueueFullError: if too many items are waiting.
        """
        if self.queue and len(self.queue) + len(items) > self.max_queue:
            raise QueueFullError
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        self.queue.extend(zip(items, futures, strict=True))
        if self._full is not None and len(self.queue) >= self.max_batch:
            self._full.set()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._process_queue())
        return list(await asyncio.gather(*futures))

    async def close(self) -> None:
        """Process the waiting items and stop the thread; a later `submit` starts a new one."""
        if self._task is not None:
            await self._task
        self._thread.shutdown()
        self._task, self._thread = None, ThreadPoolExecutor(1)

    async def _process_queue(self) -> None:
        loop = asyncio.get_running_loop()
        while self.queue:
            await self._wait_for_more()
            count = min(self.max_batch, len(self.queue))
            batch = [self.queue.popleft() for _ in range(count)]
            batch = [(item, future) for item, future in batch if not future.done()]
            for callback in self.on_batch:
                callback(len(batch))
            items = [item for item, _ in batch]
            results = await loop.run_in_executor(self._thread, self._process_safely, items)
            for (_, future), result in zip(batch, results, strict=True):
                _set_result(future, result)

    async def _wait_for_more(self) -> None:
        if len(self.queue) >= self.max_batch or not self.max_delay:
            return
        self._full = asyncio.Event()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), self.max_delay)
        self._full = None

    def _process_safely(self, items: list[Item]) -> Sequence[Result | Exception]:
        try:
            return self.process(items)
        except Exception as error:
            return [error] * len(items)


def _set_result(future: "asyncio.Future[Result]", result: Result | Exception) -> None:
    if future.done():  # the request was cancelled
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)


@dataclass(frozen=True)
class Job:
    """An item of the batcher; jobs with equal function and options are computed together.

    Args:
        function: function from a list of items and the options to the results, in order.
        item: item of this job.
        options: further arguments of the function.
    """

    function: Callable[..., Sequence[Any]]
    item: Any
    options: tuple[Hashable, ...] = ()


def compute_jobs(jobs: Sequence[Job]) -> list[Any]:
    """Return the results of jobs; an exception is the result of all jobs of its group."""
    groups: dict[Hashable, list[int]] = {}
    for i, job in enumerate(jobs):
        groups.setdefault((job.function, job.options), []).append(i)
    results: list[Any] = [None] * len(jobs)
    for indices in groups.values():
        first, items = jobs[indices[0]], [jobs[i].item for i in indices]
        try:
            found = first.function(items, *first.options)
        except Exception as error:
            found = [error] * len(items)
        for i, result in zip(indices, found, strict=True):
            results[i] = result
    return results

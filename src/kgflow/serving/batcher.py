"""Questions that wait together are answered together."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

SIZE = 256
"""Items in a batch, at most: as many as the predictor multiplies at once."""
DELAY = 0.001
"""Seconds in which more may join a batch that is not full."""
BOUND = 2048
"""Items that may wait, at most."""


class BusyError(Exception):
    """Too many items wait already."""


class Batcher(Generic[Item, Result]):
    """A bounded queue before one thread that works on all that waits at once.

    While a batch is being worked on, the next one gathers: the busier, the larger batches are, and
    one matrix product for many is much quicker than one for each.

    Args:
        work: a batch of items to their results, in the same order; an exception in a result's
            place is raised for that item only. It runs in a thread of its own.
        size: items in a batch, at most.
        delay: seconds to wait for more when a batch is not full.
        bound: items that may wait; more are refused, unless none waits.

    Example:
        >>> async def squares():
        ...     batcher = Batcher(lambda xs: [x * x for x in xs])
        ...     found = await asyncio.gather(*(batcher.ask([x]) for x in (2, 3, 4)))
        ...     await batcher.close()
        ...     return found
        >>> asyncio.run(squares())
        [[4], [9], [16]]
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        size: int = SIZE,
        delay: float = DELAY,
        bound: int = BOUND,
    ) -> None:
        self.work, self.size, self.delay, self.bound = work, size, delay, bound
        self.waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self.batches: list[Callable[[int], None]] = []
        """Who is told the size of every batch."""
        self._thread = ThreadPoolExecutor(1)
        self._task: asyncio.Task[None] | None = None
        self._full: asyncio.Event | None = None

    async def ask(self, items: Sequence[Item]) -> list[Result]:
        """The results of some items, whatever batches they go in.

        Raises:
            BusyError: too many wait.
        """
        if self.waiting and len(self.waiting) + len(items) > self.bound:
            raise BusyError
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Result]] = [loop.create_future() for _ in items]
        self.waiting.extend(zip(items, futures, strict=True))
        if self._full is not None and len(self.waiting) >= self.size:
            self._full.set()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._drain())
        return list(await asyncio.gather(*futures))

    async def close(self) -> None:
        """Finish what waits, and end the thread; the next question would start another."""
        if self._task is not None:
            await self._task
        self._thread.shutdown()
        self._task, self._thread = None, ThreadPoolExecutor(1)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self.waiting:
            await self._gather()
            count = min(self.size, len(self.waiting))
            batch = [self.waiting.popleft() for _ in range(count)]
            batch = [(item, future) for item, future in batch if not future.done()]
            for told in self.batches:
                told(len(batch))
            results = await loop.run_in_executor(self._thread, self._safely, [x for x, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                _settle(future, result)

    async def _gather(self) -> None:
        """Let a batch that is not full grow for a moment."""
        if len(self.waiting) >= self.size or not self.delay:
            return
        self._full = asyncio.Event()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), self.delay)
        self._full = None

    def _safely(self, items: list[Item]) -> Sequence[Result | Exception]:
        try:
            return self.work(items)
        except Exception as error:
            return [error] * len(items)


def _settle(future: "asyncio.Future[Result]", result: Result | Exception) -> None:
    if future.done():  # nobody waits for it any more
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)

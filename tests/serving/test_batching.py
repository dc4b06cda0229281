"""Batching: the same results for all batch sizes, a bounded queue, a clean end."""

import asyncio
import threading
import time

import pytest

from kgflow.serving.batching import Batcher, QueueFullError


def submit_all(batcher, requests):
    async def go():
        found = await asyncio.gather(*(batcher.submit(r) for r in requests), return_exceptions=True)
        await batcher.close()
        return found

    return asyncio.run(go())


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("delay", [0.0, 0.005])
def test_results_do_not_depend_on_batches(size, delay):
    sizes = []
    batcher = Batcher(lambda xs: [x + 1 for x in xs], max_batch=size, max_delay=delay)
    batcher.on_batch.append(sizes.append)
    requests = [list(range(i, i + i % 4)) for i in range(40)]
    assert submit_all(batcher, requests) == [[x + 1 for x in r] for r in requests]
    assert sum(sizes) == sum(map(len, requests))
    assert max(sizes) <= size


def test_waiting_items_form_one_batch():
    sizes = []

    def slow(xs):
        time.sleep(0.02)
        return xs

    batcher = Batcher(slow, max_batch=64, max_delay=0.0)
    batcher.on_batch.append(sizes.append)
    submit_all(batcher, [[i] for i in range(65)])
    assert sizes == [64, 1]


def test_a_delay_lets_more_join():
    async def go(delay):
        sizes = []
        batcher = Batcher(lambda xs: xs, max_delay=delay)
        batcher.on_batch.append(sizes.append)
        first = asyncio.create_task(batcher.submit([1]))
        await asyncio.sleep(0.01)
        await asyncio.gather(first, batcher.submit([2]))
        await batcher.close()
        return sizes

    assert asyncio.run(go(0.0)) == [1, 1]
    assert asyncio.run(go(1.0 / 4)) == [2]


def test_an_exception_is_raised_for_its_item_only():
    def work(xs):
        return [ValueError(x) if x < 0 else x for x in xs]

    found = submit_all(Batcher(work), [[1], [-1], [2]])
    assert found[0] == [1]
    assert isinstance(found[1], ValueError)
    assert found[2] == [2]
    broken = submit_all(Batcher(lambda xs: 1 / 0), [[1], [2]])
    assert all(isinstance(x, ZeroDivisionError) for x in broken)


def test_a_full_queue_raises_and_recovers():
    gate = threading.Event()

    def work(xs):
        gate.wait(10)
        return xs

    async def go():
        batcher = Batcher(work, max_batch=2, max_delay=0.0, max_queue=3)
        running = [asyncio.create_task(batcher.submit([i, i])) for i in range(1)]
        await asyncio.sleep(0.05)  # these two are being worked on, none waits
        waiting = asyncio.create_task(batcher.submit([7] * 10))  # more than the bound, but alone
        await asyncio.sleep(0)
        with pytest.raises(QueueFullError):
            await batcher.submit([8])
        gate.set()
        await asyncio.gather(*running, waiting)
        assert await batcher.submit([9]) == [9]
        await batcher.close()

    asyncio.run(go())


def test_cancelled_items_are_skipped_and_close_finishes_the_rest():
    done, gate = [], threading.Event()

    def work(xs):
        gate.wait(10)
        done.extend(xs)
        return xs

    async def go():
        batcher = Batcher(work, max_batch=1, max_delay=0.0)
        tasks = [asyncio.create_task(batcher.submit([i])) for i in range(4)]
        await asyncio.sleep(0.05)
        tasks[2].cancel()
        await asyncio.sleep(0)
        gate.set()
        await batcher.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(go())
    assert done == [0, 1, 3]
    assert isinstance(found[2], asyncio.CancelledError)
    assert found[3] == [3]

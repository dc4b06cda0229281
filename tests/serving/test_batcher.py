"""Laws of the batcher: the same results whatever the batches, a bound, a clean end."""

import asyncio
import threading
import time

import pytest

from kgflow.serving.batcher import Batcher, BusyError


def ask_all(batcher, requests):
    async def go():
        found = await asyncio.gather(*(batcher.ask(r) for r in requests), return_exceptions=True)
        await batcher.close()
        return found

    return asyncio.run(go())


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("delay", [0.0, 0.005])
def test_results_do_not_depend_on_batches(size, delay):
    sizes = []
    batcher = Batcher(lambda xs: [x + 1 for x in xs], size=size, delay=delay)
    batcher.batches.append(sizes.append)
    requests = [list(range(i, i + i % 4)) for i in range(40)]
    assert ask_all(batcher, requests) == [[x + 1 for x in r] for r in requests]
    assert sum(sizes) == sum(map(len, requests))
    assert max(sizes) <= size


def test_what_waits_is_done_at_once():
    sizes = []

    def slow(xs):
        time.sleep(0.02)
        return xs

    batcher = Batcher(slow, size=64, delay=0.0)
    batcher.batches.append(sizes.append)
    ask_all(batcher, [[i] for i in range(65)])
    assert sizes == [64, 1]


def test_a_delay_lets_more_join():
    async def go(delay):
        sizes = []
        batcher = Batcher(lambda xs: xs, delay=delay)
        batcher.batches.append(sizes.append)
        first = asyncio.create_task(batcher.ask([1]))
        await asyncio.sleep(0.01)
        await asyncio.gather(first, batcher.ask([2]))
        await batcher.close()
        return sizes

    assert asyncio.run(go(0.0)) == [1, 1]
    assert asyncio.run(go(1.0 / 4)) == [2]


def test_a_failure_is_its_own():
    def work(xs):
        return [ValueError(x) if x < 0 else x for x in xs]

    found = ask_all(Batcher(work), [[1], [-1], [2]])
    assert found[0] == [1]
    assert isinstance(found[1], ValueError)
    assert found[2] == [2]
    broken = ask_all(Batcher(lambda xs: 1 / 0), [[1], [2]])
    assert all(isinstance(x, ZeroDivisionError) for x in broken)


def test_past_the_bound_busy_and_then_normal():
    gate = threading.Event()

    def work(xs):
        gate.wait(10)
        return xs

    async def go():
        batcher = Batcher(work, size=2, delay=0.0, bound=3)
        running = [asyncio.create_task(batcher.ask([i, i])) for i in range(1)]
        await asyncio.sleep(0.05)  # these two are being worked on, none waits
        waiting = asyncio.create_task(batcher.ask([7] * 10))  # more than the bound, but alone
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await batcher.ask([8])
        gate.set()
        await asyncio.gather(*running, waiting)
        assert await batcher.ask([9]) == [9]
        await batcher.close()

    asyncio.run(go())


def test_who_went_away_costs_nothing_and_closing_finishes_the_rest():
    done, gate = [], threading.Event()

    def work(xs):
        gate.wait(10)
        done.extend(xs)
        return xs

    async def go():
        batcher = Batcher(work, size=1, delay=0.0)
        tasks = [asyncio.create_task(batcher.ask([i])) for i in range(4)]
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

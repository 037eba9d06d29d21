"""Independent pieces of work, one on each core: trainings and measurements that do not wait for one another."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from typing import TypeVar

from firstlight.report.progress import say

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def work_off(
    do: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    after: Callable[[Item], Item | None] = lambda item: None,
    workers: int = 1,
    title: Callable[[Item], str] = str,
    show: bool = False,
) -> Mapping[Item, Result]:
    """Do all items, each once, and return what came of them; the first error ends it and is raised here.

    Arguments:
        do: what is done, a function of a module; with one worker it is called in this process.
        items: what to do it with; they and the results must be picklable. Those given first begin first.
        after: the item that has to be done before one, if it is among the items.
        workers: processes, of one thread each.
        title: what an item is called, for people.
        show: whether to say on stderr what has been done.
    """
    left = list(dict.fromkeys(items))
    total, found = len(left), {}
    running: dict[Future[Result], Item] = {}
    starts: dict[Item, float] = {}

    def next_ready() -> Item | None:
        waiting = {*left, *running.values()}
        item = next((item for item in left if after(item) not in waiting), None)
        if item is not None:
            left.remove(item)
            starts[item] = time.perf_counter()
        return item

    def done(item: Item, result: Result) -> None:
        found[item] = result
        if show:
            say(f"  {len(found)}/{total} {title(item)} ({time.perf_counter() - starts[item]:.0f} s)")

    if min(workers, total) <= 1:
        while (item := next_ready()) is not None:
            done(item, do(item))
        return found
    # Forking a process that has threads of PyTorch can hang; a fresh one cannot.
    with ProcessPoolExecutor(min(workers, total), get_context("spawn"), initializer=_begin) as executor:
        while left or running:
            while len(running) < workers and (item := next_ready()) is not None:
                running[executor.submit(do, item)] = item
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                done(running.pop(future), future.result())
    return found


def _begin() -> None:
    """Prepare a worker: one thread, and an end when the process that started it ends, however that ended."""
    os.environ["NUMBA_NUM_THREADS"] = "1"
    from firstlight.runs.device import set_threads

    set_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    # Nothing is lost: a run is whole on disk at any moment. Going on would hold its lock against the next attempt.
    os._exit(1)

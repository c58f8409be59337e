"""SAQ on Redis: enqueue N no-op jobs, then run one worker until they are done.

It keeps no order when more than one runs at once. Jobs are enqueued by a hundred callers at once.
"""

import asyncio
import logging

import uvloop
from saq import Queue, Worker
from wire import Watch, asked, told

logging.disable(logging.CRITICAL)


async def main():
    question = asked()
    jobs = question["jobs"]
    queue = Queue.from_url(f"redis://127.0.0.1:{question['port']}/0")
    await queue.connect()
    ran = []
    done = asyncio.Event()

    async def noop(_context, *, number, data):
        ran.append(number)
        if len(ran) == jobs:
            done.set()

    watch = Watch()
    left = iter(range(jobs))

    async def produce():
        for number in left:
            await queue.enqueue("noop", number=number, data=f"data{number}", ttl=-1)

    await asyncio.gather(*(produce() for _ in range(question["batch"])))
    enqueue_s = watch.read()["seconds"]
    worker = Worker(queue, functions=[("noop", noop)], concurrency=question["concurrency"])
    working = asyncio.create_task(worker.start())
    await done.wait()
    spent = watch.read()
    await worker.stop()
    working.cancel()
    assert sorted(ran) == list(range(jobs)), "saq left jobs behind"
    told(jobs=jobs, enqueue_s=enqueue_s, **spent)


uvloop.run(main())

"""arq on Redis: enqueue N no-op jobs, then run one worker until they are done.

It keeps no order. Jobs are enqueued by a hundred callers at once, as it has no batches; results
are not kept, which spares it a write a job; the worker runs as many at once as it likes best.
"""

import asyncio
import logging

import uvloop
from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker, func
from wire import Watch, asked, told

logging.disable(logging.CRITICAL)


async def main():
    question = asked()
    jobs = question["jobs"]
    settings = RedisSettings(host="127.0.0.1", port=question["port"])
    pool = await create_pool(settings)
    ran = []

    async def noop(_context, number, data):
        ran.append(number)

    watch = Watch()
    left = iter(range(jobs))

    async def produce():
        for number in left:
            await pool.enqueue_job("noop", number, f"data{number}")

    await asyncio.gather(*(produce() for _ in range(question["batch"])))
    enqueue_s = watch.read()["seconds"]
    worker = Worker(
        functions=[func(noop, name="noop", keep_result=0)],
        redis_pool=pool,
        burst=True,
        max_jobs=question["concurrency"],
        poll_delay=0.01,
        handle_signals=False,
        keep_result=0,
    )
    await worker.async_run()
    spent = watch.read()
    assert sorted(ran) == list(range(jobs)), "arq left jobs behind"
    told(jobs=jobs, enqueue_s=enqueue_s, **spent)
    await pool.aclose()


uvloop.run(main())

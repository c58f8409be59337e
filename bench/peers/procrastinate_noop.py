"""procrastinate on PostgreSQL: defer N no-op jobs over K locks in batches, then run one worker.

Jobs with one lock run one at a time and in order. They are deferred round-robin over the locks,
100 a batch; one batch a lock would make every fetch step over all jobs of the running locks.
The table's statistics are fresh, as they are in a database that has lived for a while; without
them the planner may pick a scan that is ten times slower.
"""

import logging

import uvloop
from procrastinate import App, PsycopgConnector
from wire import Watch, asked, told

logging.disable(logging.CRITICAL)


async def main():
    question = asked()
    jobs, locks = question["jobs"], question["keys"]
    app = App(connector=PsycopgConnector(conninfo=question["conninfo"], max_size=20))
    order = {}

    @app.task(name="noop")
    async def noop(number, data):
        order.setdefault(number % locks, []).append(number)

    async with app.open_async():
        await app.connector.execute_query_async("DROP SCHEMA public CASCADE")
        await app.connector.execute_query_async("CREATE SCHEMA public")
        await app.schema_manager.apply_schema_async()
        watch = Watch()
        for first in range(0, jobs, question["batch"]):
            batch = [
                noop.configure(lock=f"c{number % locks}").make_new_job(
                    number=number, data=f"data{number}"
                )
                for number in range(first, min(jobs, first + question["batch"]))
            ]
            await app.job_manager.batch_defer_jobs_async(batch)
        enqueue = watch.read()
        await app.connector.execute_query_async("ANALYZE")
        watch = Watch()
        await app.run_worker_async(
            concurrency=question["concurrency"],
            wait=False,
            listen_notify=False,
            install_signal_handlers=False,
        )
        spent = watch.read()
    assert sum(map(len, order.values())) == jobs, "procrastinate left jobs behind"
    assert all(ran == sorted(ran) for ran in order.values()), "procrastinate ran out of order"
    both = {name: enqueue[name] + spent[name] for name in spent}
    told(jobs=jobs, enqueue_s=enqueue["seconds"], **both)


uvloop.run(main())

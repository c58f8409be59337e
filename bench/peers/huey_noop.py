"""huey on SQLite with fsync: enqueue N no-op tasks, then run the consumer until they are done.

One worker, because huey keeps an order only then. `strict_fifo` so that it keeps one at all. Its
tasks return None, which huey does not store: each job costs it two commits.
"""

import logging
import threading

from huey import SqliteHuey
from wire import Watch, asked, told

logging.disable(logging.CRITICAL)


def main():
    question = asked()
    jobs = question["jobs"]
    huey = SqliteHuey(
        "bench", filename=f"{question['folder']}/huey.db", fsync=True, strict_fifo=True
    )
    order = []
    done = threading.Event()

    @huey.task()
    def noop(number, data):
        order.append(number)
        if len(order) == jobs:
            done.set()

    watch = Watch()
    for number in range(jobs):
        noop(number, f"data{number}")
    enqueue_s = watch.read()["seconds"]
    # The polling delays only matter once the queue is empty; the scheduler has nothing to do.
    consumer = huey.create_consumer(workers=1, periodic=False)
    consumer.start()
    done.wait()
    spent = watch.read()
    consumer.stop(graceful=True)
    assert order == list(range(jobs)), "huey ran out of order"
    told(jobs=jobs, enqueue_s=enqueue_s, **spent)


main()

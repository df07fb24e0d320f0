"""The Python peer: a worker of several processes in one consumer group.

    worker.py --config peer.json [--processes 2]

The configuration names brokers, group, topics and apps; compare.py writes one.
"""

import argparse
import gc
import json
import multiprocessing
import signal
import sys
import time


def work(configuration, number):
    from peer.loop import Loop

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loop = Loop(configuration, number)

    def stop(*_):
        loop.stopping = True

    signal.signal(signal.SIGTERM, stop)
    # What is there now stays; what comes per event is freed by its count.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    loop.run()


def main():
    parser = argparse.ArgumentParser(description="Answers failed authentications, in Python.")
    parser.add_argument("--config", required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with open(options.config) as file:
        configuration = json.load(file)
    supervise(configuration, options.processes)


def supervise(configuration, count):
    """Starts the processes, and anew those that die; on SIGTERM or SIGINT all of them finish."""
    stopping = False

    def stop(*_):
        nonlocal stopping
        stopping = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    context = multiprocessing.get_context("spawn")

    def start(number):
        process = context.Process(target=work, args=(configuration, number), daemon=True)
        process.start()
        return process

    processes = [start(number) for number in range(count)]
    while not stopping:
        time.sleep(0.2)
        for number, process in enumerate(processes):
            if not process.is_alive() and not stopping:
                print(f"process {number} ended with {process.exitcode}; again", file=sys.stderr, flush=True)
                processes[number] = start(number)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(30)
    sys.exit(0 if all(process.exitcode == 0 for process in processes) else 1)


if __name__ == "__main__":
    main()

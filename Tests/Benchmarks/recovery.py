#!/usr/bin/env python3
"""Workers that are killed, lost or restarted in turn under load: how long their partitions stay without an answer.

    recovery.py kill --folder DIR --remint PROGRAM [--brokers HOST:PORT,…] [--replication 1] [--workers 1] [--rounds 30] [--every 6]
    recovery.py lost … [--workers 2] [--rounds 5] [--every 25]
    recovery.py roll … [--workers 3] [--rounds 2] [--every 4] [--away 0]
    recovery.py lag … [--workers 2] [--rounds 3]
                     all: [--rate 500] [--partitions 6] [--unnamed] [--kafka 'LINE' …]

`kill` kills a worker with SIGKILL and starts it again at once. `lost` kills one and starts it again only after `--every` seconds. `roll`
ends one worker after the other by SIGTERM and starts it again `--away` seconds after it has ended. Reports of new users are produced at a rate, to all
partitions in turn; a reader of committed records takes the tokens. For `kill` and `lost` each round's figure is the longest time between
two tokens for reports of one partition; for `roll` it is the time from a report's production to the moment at which its token is
readable, over all reports from the first SIGTERM until the last worker is ready. `lag` stops the reports, and prints how
long the groups' lag takes to be zero: after the reports, after dead letters that are sent back, and after a re-issue on the bulk lane. The
workers have a `kafka.instance` each, unless
`--unnamed`. `--kafka` adds a line to the section `kafka`. It fails where a report has no token in the end, or two. Needs confluent-kafka.
"""
import argparse
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from failover import Fleet  # noqa: E402
from start import clean, load  # noqa: E402

APP = "onesignal-shop"


class Feed(threading.Thread):
    """Reports of new users at a rate, to all partitions in turn."""

    def __init__(self, options):
        super().__init__(daemon=True)
        from confluent_kafka import Producer
        self.producer = Producer({"bootstrap.servers": options.brokers, "linger.ms": 1, "enable.idempotence": True})
        self.topic, self.rate, self.partitions = f"{options.prefix}.invalidations", options.rate, options.partitions
        self.produced, self.refused, self.is_over = [], 0, threading.Event()

    def told(self, error, _):
        self.refused += error is not None

    def run(self):
        start = time.monotonic()
        while not self.is_over.is_set():
            number = len(self.produced)
            wait = start + number / self.rate - time.monotonic()
            if wait > 0:
                self.producer.poll(0)
                time.sleep(min(wait, 0.01))
                continue
            user = f"u{number}"
            self.produced.append(time.monotonic())
            self.producer.produce(self.topic, f'{{"externalId":"{user}"}}', f"{APP}/{user}", partition=number % self.partitions,
                                  headers=[("remint-app", APP)], on_delivery=self.told)
        self.producer.flush(60)


class Tokens(threading.Thread):
    """A reader of the committed tokens: when each user's became readable."""

    def __init__(self, options):
        super().__init__(daemon=True)
        from confluent_kafka import Consumer, TopicPartition
        self.consumer = Consumer({"bootstrap.servers": options.brokers, "group.id": f"{options.prefix}-audit", "fetch.wait.max.ms": 10,
                                  "isolation.level": "read_committed", "enable.auto.commit": False,
                                  "auto.offset.reset": "earliest"})
        topic = f"{options.prefix}.tokens"
        self.consumer.assign([TopicPartition(topic, number, 0) for number in range(options.partitions)])
        self.seen, self.doubled, self.is_over = {}, [], threading.Event()

    def run(self):
        while not self.is_over.is_set():
            for message in self.consumer.consume(1000, 0.01):
                if message.error():
                    continue
                number, now = int(message.key().decode().rpartition("/u")[2]), time.monotonic()
                if number in self.seen:
                    self.doubled.append(number)
                self.seen.setdefault(number, now)
        self.consumer.close()


class Workers(Fleet):
    def configure_instance(self, name):
        file, ports = super().configure_instance(name)
        lines = [f"group: {self.prefix}", *([] if self.options.unnamed else [f"instance: {name}"]), *self.options.kafka]
        file.write_text(file.read_text().replace(f"group: {self.prefix}", "\n  ".join(lines)))
        return file, ports

    def wait_ready(self, name):
        return self.until(lambda: self.is_ready(name), time.monotonic())


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def longest_gap(feed, tokens, begin, end):
    """The longest time between two tokens for reports of one partition, of those that touch the time from `begin` to `end`."""
    longest = 0.0
    for partition in range(feed.partitions):
        times = sorted(moment for number, moment in list(tokens.seen.items()) if number % feed.partitions == partition)
        for before, after in zip(times, times[1:]):
            if after >= begin and before <= end:
                longest = max(longest, after - before)
    return longest


def settle(feed, tokens, seconds=60):
    """Waits until every report so far has its token."""
    count, end = len(feed.produced), time.monotonic() + seconds
    while sum(number in tokens.seen for number in range(count)) < count:
        if time.monotonic() > end:
            missing = [number for number in range(count) if number not in tokens.seen]
            raise SystemExit(f"{len(missing)} reports have no token after {seconds} s, such as u{missing[0]}")
        time.sleep(0.1)


def kill(fleet, names, feed, tokens, options, restarts_at_once):
    chance, windows = random.Random(options.seed), []
    for _ in range(options.rounds):
        time.sleep(chance.uniform(0, 0.5))
        name, begin = chance.choice(names), time.monotonic()
        fleet.processes[name].kill()
        fleet.processes[name].wait()
        if restarts_at_once:
            fleet.begin(name, None)
        time.sleep(options.every)
        windows.append((begin, time.monotonic()))
        if not restarts_at_once:
            settle(feed, tokens)
            fleet.begin(name, None)
            fleet.wait_ready(name)
            time.sleep(5)
    settle(feed, tokens)
    gaps = [longest_gap(feed, tokens, *window) for window in windows]
    print(f"{len(gaps)} kills, {'restarted at once' if restarts_at_once else 'not restarted'}: longest gap of a partition p50 "
          f"{percentile(gaps, 0.5):.2f} s, max {max(gaps):.2f} s; {load()}")
    print("  " + " ".join(f"{gap:.2f}" for gap in gaps))


def roll(fleet, names, feed, tokens, options):
    begin, ends = len(feed.produced), []
    for _ in range(options.rounds):
        for name in names:
            moment = time.monotonic()
            fleet.processes[name].send_signal(signal.SIGTERM)
            if fleet.processes[name].wait(60):
                raise SystemExit(f"{name} ended with {fleet.processes[name].returncode}; log in {fleet.folder}")
            ended = time.monotonic()
            time.sleep(options.away)
            fleet.begin(name, None)
            fleet.wait_ready(name)
            ends.append((ended - moment, time.monotonic() - ended - options.away))
            time.sleep(options.every)
    end = len(feed.produced)
    settle(feed, tokens)
    delays = [tokens.seen[number] - feed.produced[number] for number in range(begin, end)]
    late = sum(delay > 0.5 for delay in delays)
    print(f"{len(ends)} restarts of {len(names)} workers in turn, {len(delays)} reports: p50 {percentile(delays, 0.5) * 1000:.0f} ms, p99 "
          f"{percentile(delays, 0.99) * 1000:.0f} ms, max {max(delays) * 1000:.0f} ms, {late} later than 500 ms; stops "
          f"{' '.join(f'{stop:.2f}' for stop, _ in ends)} s, starts {' '.join(f'{start:.2f}' for _, start in ends)} s; {load()}")


def lags(options):
    """The offsets between the committed ones and the ends, markers of transactions included, by group."""
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    from confluent_kafka.admin import AdminClient, OffsetSpec
    admin, found = AdminClient({"bootstrap.servers": options.brokers}), {}
    for group in (options.prefix, f"{options.prefix}-retries", f"{options.prefix}-bulk"):
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        committed = {(place.topic, place.partition): place.offset for place in asked[group].result().topic_partitions}
        ends = admin.list_offsets({TopicPartition(*place): OffsetSpec.latest() for place in committed})
        found[group] = sum(answer.result().offset - committed[place.topic, place.partition] for place, answer in ends.items())
    return found


def lag(fleet, feed, tokens, options):
    configuration = str(fleet.instances["worker-0"][1])
    feed.is_over.set()
    feed.join()
    for number in range(options.rounds):
        for step in ("reports", "redrive", "re-issue"):
            if step == "reports":
                for user in range(1000):
                    feed.produced.append(time.monotonic())
                    name = f"u{len(feed.produced) - 1}"
                    feed.producer.produce(feed.topic, f'{{"externalId":"{name}"}}', f"{APP}/{name}",
                                          partition=user % options.partitions, headers=[("remint-app", APP)])
                feed.producer.flush(60)
            elif step == "redrive":
                for letter in range(50):
                    feed.producer.produce(feed.topic, "no report", f"{APP}/x{letter}", headers=[("remint-app", APP)])
                feed.producer.flush(60)
                fleet.run("dead-letters", "redrive", "--config", configuration, "--group", f"{options.prefix}-redrive-{number}")
            else:
                fleet.run("reissue", "--config", configuration, "--ledger", "--app", APP, "--rate", "0",
                          "--state", str(fleet.folder / f"reissue-{number}.json"))
            settle(feed, tokens)
            begin = time.monotonic()
            while any((left := lags(options)).values()):
                if time.monotonic() > begin + 60:
                    raise SystemExit(f"{step}: the lag is still {left}")
                time.sleep(0.2)
            print(f"{step}: no group has lag {time.monotonic() - begin:.1f} s later; {load()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "lost", "roll", "lag"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--remint", required=True)
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--replication", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--every", type=float)
    parser.add_argument("--away", type=float, default=0)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--unnamed", action="store_true")
    parser.add_argument("--kafka", action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.tokens, options.cache = 0, "64MB"
    workers, rounds, every = {"kill": (1, 30, 6), "lost": (2, 5, 25), "roll": (3, 2, 4), "lag": (2, 3, 0)}[options.what]
    options.workers, options.rounds = options.workers or workers, options.rounds or rounds
    options.every = every if options.every is None else options.every
    fleet = Workers(options)
    fleet.make()
    try:
        play(fleet, options)
    finally:
        for process in fleet.processes.values():
            process.kill()
        clean(fleet, options)


def play(fleet, options):
    names = [f"worker-{number}" for number in range(options.workers)]
    for name in names:
        fleet.begin(name, "run")
    for name in names:
        fleet.wait_ready(name)
    tokens, feed = Tokens(options), Feed(options)
    tokens.start()
    feed.start()
    # Past the first rebalances.
    time.sleep(8)
    settle(feed, tokens)
    if options.what == "roll":
        roll(fleet, names, feed, tokens, options)
    elif options.what == "lag":
        lag(fleet, feed, tokens, options)
        tokens.doubled.clear()
    else:
        kill(fleet, names, feed, tokens, options, restarts_at_once=options.what == "kill")
    feed.is_over.set()
    feed.join()
    settle(feed, tokens)
    tokens.is_over.set()
    tokens.join()
    print(f"{len(feed.produced)} reports, {feed.refused} not produced, {len(tokens.doubled)} with a second token")
    if tokens.doubled or feed.refused:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

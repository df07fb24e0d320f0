#!/usr/bin/env python3
"""A fleet that is upgraded under load from an older program to a newer one, and back: lost and doubled tokens and dead letters.

    upgrade.py --folder DIR [--old PROGRAM] [--remint PROGRAM] [--brokers HOST:PORT,…] [--replication 1] [--workers 3] [--gateways 2]
               [--rate 300] [--every 5] [--rounds 1] [--partitions 6] [--kafka 'LINE' …]

The programs are those of REMINT_TEST_OLD_PROGRAM and REMINT_TEST_PROGRAM where they are not named. The older one makes the configuration,
the key rings and the topics, and pauses an app. Then reports of new users are produced at a rate, every 50th of them unreadable. One
worker or gateway after the other is ended by SIGTERM and started again as the newer program; then all of them as the older one. Between
two of them the fleet is of both programs for `--every` seconds. Meanwhile a caller asks the gateways for the newest tokens.

It fails where a report has no token or no dead letter in the end, or has two; where no gateway answers a call within 5 s; where a program
refuses the configuration, lists the key ring or the pauses in another way than the other one did, or ends with another exit code than 0.
Needs confluent-kafka.
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import threading
import time
import types
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from recovery import APP, Feed, Tokens, Workers, percentile, settle  # noqa: E402
from start import clean, load  # noqa: E402

# An app of the demonstration's configuration that gets no reports here.
PAUSED = "braze-ios"
# Every so many reports, one is unreadable.
SPOILT = 50


class MixedFeed(Feed):
    """Reports of new users, and unreadable ones among them."""

    def __init__(self, options):
        super().__init__(options)
        self.spoilt = 0
        # The library's own producer takes no new attributes.
        real = self.producer
        self.producer = types.SimpleNamespace(
            poll=real.poll, flush=real.flush, produce=lambda *record, **more: self.send(real, *record, **more))

    def send(self, real, topic, *record, **more):
        real.produce(topic, *record, **more)
        if len(self.produced) % SPOILT == 0:
            real.produce(topic, "no report", f"{APP}/spoilt-{self.spoilt}", headers=more["headers"], on_delivery=self.told)
            self.spoilt += 1


class EventTokens(Tokens):
    """A reader of the committed tokens. `doubled` has the users with two tokens of one event, `minted_again` those with tokens of two.

    A gateway that starts asks for a token of its own if it does not know the user's yet, so the second kind is no fault.
    """

    def __init__(self, options):
        super().__init__(options)
        self.events, self.minted_again = set(), []

    def run(self):
        while not self.is_over.is_set():
            for message in self.consumer.consume(1000, 0.01):
                if message.error():
                    continue
                number, event = int(message.key().decode().rpartition("/u")[2]), dict(message.headers())["ce_id"]
                if number in self.seen:
                    (self.doubled if event in self.events else self.minted_again).append(number)
                self.seen.setdefault(number, time.monotonic())
                self.events.add(event)
        self.consumer.close()


class Letters(threading.Thread):
    """A reader of the committed dead letters: how many each unreadable report has, and all others."""

    def __init__(self, options):
        super().__init__(daemon=True)
        from confluent_kafka import Consumer, TopicPartition
        self.consumer = Consumer({"bootstrap.servers": options.brokers, "group.id": f"{options.prefix}-audit-letters",
                                  "isolation.level": "read_committed", "enable.auto.commit": False, "auto.offset.reset": "earliest"})
        self.consumer.assign([TopicPartition(f"{options.prefix}.dead_letters", number, 0) for number in range(options.partitions)])
        self.count, self.others, self.is_over = {}, [], threading.Event()

    def run(self):
        while not self.is_over.is_set():
            for message in self.consumer.consume(1000, 0.05):
                if message.error():
                    continue
                name = (message.key() or b"").decode().rpartition("/")[2]
                if name.startswith("spoilt-"):
                    self.count[name] = self.count.get(name, 0) + 1
                else:
                    self.others.append(name)
        self.consumer.close()


class Caller(threading.Thread):
    """Asks for tokens, at the next gateway where one does not answer, as a device does.

    A gateway mints a token for a user that it knows none of, so the users asked for are those whose token is some seconds old.
    """

    def __init__(self, fleet, ports, tokens, feed):
        super().__init__(daemon=True)
        self.fleet, self.ports, self.tokens, self.feed = fleet, ports, tokens, feed
        self.calls, self.failures, self.slowest, self.is_over = 0, [], 0.0, threading.Event()

    def ask(self, port, user):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/apps/{APP}/token",
            headers={"X-Api-Key": self.fleet.key, "Remint-Vouched": json.dumps({"user": user})})
        with urllib.request.urlopen(request, timeout=5) as reply:
            return reply.status

    def run(self):
        while not self.is_over.is_set():
            number = len(self.feed.produced) - int(5 * self.feed.rate)
            if time.monotonic() - self.tokens.seen.get(number, time.monotonic()) < 3:
                time.sleep(0.1)
                continue
            begin, answer = time.monotonic(), None
            while answer != 200 and time.monotonic() - begin < 5:
                for port in self.ports:
                    try:
                        answer = self.ask(port, f"u{number}")
                    except (OSError, urllib.error.URLError) as error:
                        answer = error
                    if answer == 200:
                        break
                else:
                    time.sleep(0.05)
            self.calls += 1
            self.slowest = max(self.slowest, time.monotonic() - begin)
            if answer != 200:
                self.failures.append(f"u{number}: {answer}")
            time.sleep(0.05)


class MixedFleet(Workers):
    """Workers and gateways, each of the older program or of the newer one."""

    def use(self, program):
        self.options.remint = program

    def version(self, program):
        self.use(program)
        return " / ".join(self.run("--version").stdout.split("\n")[:2])

    def known(self, configuration):
        """The state that both programs share, as one of them reads it: the ring's versions and the paused apps."""
        versions = self.run("keys", "list", "--config", configuration, "--key", APP, "--json").stdout.splitlines()
        apps = json.loads(self.run("apps", "--config", configuration, "--json").stdout)
        # A newer program may write more members, so only these are compared.
        return {"versions": [[json.loads(line)[name] for name in ("version", "state", "algorithm", "kid")] for line in versions],
                "paused": [app["app"] for app in apps if app["state"] != "active"]}

    def replace(self, name, program, pause):
        """Ends one process in order, and starts it as the other program."""
        process = self.processes[name]
        process.send_signal(signal.SIGTERM)
        if process.wait(60):
            raise SystemExit(f"{name} ended with {process.returncode}; log in {self.folder}")
        self.use(program)
        begin = time.monotonic()
        self.begin(name, None)
        self.wait_ready(name)
        ready = time.monotonic() - begin
        time.sleep(pause)
        return ready


def step(steps, moment):
    """The step of the upgrade at a moment, and the seconds since its begin."""
    begin, name = next(found for found in reversed(steps) if found[0] <= moment)
    return f"{name} (+{moment - begin:.2f} s)"


def wait_for_letters(letters, feed, seconds=60):
    end = time.monotonic() + seconds
    while len(letters.count) < feed.spoilt and time.monotonic() < end:
        time.sleep(0.1)
    lost = feed.spoilt - len(letters.count)
    doubled = sum(count > 1 for count in letters.count.values())
    return lost, doubled, len(letters.others)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--old", default=os.environ.get("REMINT_TEST_OLD_PROGRAM"))
    parser.add_argument("--remint", default=os.environ.get("REMINT_TEST_PROGRAM"))
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--replication", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--gateways", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--every", type=float, default=5)
    parser.add_argument("--rate", type=float, default=300)
    parser.add_argument("--kafka", action="append", default=[])
    options = parser.parse_args()
    for name in ("old", "remint"):
        if not getattr(options, name) or not os.access(getattr(options, name), os.X_OK):
            parser.error(f"--{name}: give the path of a program, here or as "
                         f"{'REMINT_TEST_OLD_PROGRAM' if name == 'old' else 'REMINT_TEST_PROGRAM'}")
    options.tokens, options.cache, options.unnamed, options.new = 0, "64MB", False, options.remint
    fleet = MixedFleet(options)
    fleet.use(options.old)
    fleet.make()
    try:
        play(fleet, options)
    finally:
        for process in fleet.processes.values():
            process.kill()
        clean(fleet, options)


def play(fleet, options):
    programs = {"old": options.old, "new": options.new}
    for name, program in programs.items():
        print(f"{name}: {fleet.version(program)}")
    configuration = str(fleet.configuration)
    workers = [f"worker-{number}" for number in range(options.workers)]
    gateways = [f"gateway-{number}" for number in range(options.gateways)]
    for program in (options.new, options.old):
        fleet.use(program)
        fleet.run("check", "--config", configuration)
    # A newer program may need a topic that the older one did not create; operators create it before the upgrade.
    fleet.use(options.new)
    # The brokers may list a topic only a moment after its creation.
    time.sleep(3)
    fleet.run("topics", "create", "--config", configuration, "--replication", str(options.replication),
              "--partitions", str(options.partitions))
    fleet.use(options.old)
    fleet.run("apps", "pause", PAUSED, "--config", configuration, "--reason", "upgrade")
    for name in workers + gateways:
        fleet.begin(name, "run" if name in workers else "pickup")
    for name in workers + gateways:
        fleet.wait_ready(name)
    tokens, letters, feed = EventTokens(options), Letters(options), MixedFeed(options)
    caller = Caller(fleet, [fleet.instances[name][2]["HTTP"] for name in gateways], tokens, feed)
    for thread in (tokens, letters, feed, caller):
        thread.start()
    # Past the first rebalances.
    time.sleep(8)
    settle(feed, tokens)
    before = fleet.known(configuration)
    if before["paused"] != [PAUSED]:
        raise SystemExit(f"the old program lists the paused apps {before['paused']}, not {PAUSED}")
    steps = [(0, "the start")]
    for number in range(options.rounds):
        for name in ("new", "old"):
            begin = len(feed.produced)
            starts = []
            for instance in workers + gateways:
                steps.append((time.monotonic(), f"{instance} to the {name} program"))
                starts.append(fleet.replace(instance, programs[name], options.every))
            end = len(feed.produced)
            settle(feed, tokens)
            delays = [tokens.seen[count] - feed.produced[count] for count in range(begin, end)]
            after = fleet.known(configuration)
            if after != before:
                raise SystemExit(f"the {name} program reads {after}, the old one read {before}")
            print(f"round {number + 1}, to the {name} program: {len(delays)} reports, p50 {percentile(delays, 0.5) * 1000:.0f} ms, p99 "
                  f"{percentile(delays, 0.99) * 1000:.0f} ms, max {max(delays) * 1000:.0f} ms; ready after "
                  f"{' '.join(f'{start:.2f}' for start in starts)} s; {load()}")
    caller.is_over.set()
    feed.is_over.set()
    feed.join()
    caller.join()
    settle(feed, tokens)
    lost, doubled, others = wait_for_letters(letters, feed)
    # Second tokens or letters would come within the time of a transaction.
    time.sleep(5)
    for thread in (tokens, letters):
        thread.is_over.set()
        thread.join()
    print(f"{len(feed.produced)} reports: {len(feed.produced) - len(tokens.seen)} lost, {len(tokens.doubled)} with a second token, "
          f"{len(tokens.minted_again)} minted again for a gateway, {feed.refused} not produced; {feed.spoilt} unreadable reports: {lost} "
          f"without a letter, {doubled} with a second one, {others} letters of other reports; {caller.calls} calls: "
          f"{len(caller.failures)} without a token after 5 s, the slowest {caller.slowest:.1f} s")
    for number in tokens.doubled:
        print(f"u{number}: a second token; reported during {step(steps, feed.produced[number])}, first token during "
              f"{step(steps, tokens.seen[number])}")
    if tokens.doubled or feed.refused or lost or doubled or others or caller.failures:
        raise SystemExit("; ".join(caller.failures[:5]) or 1)


if __name__ == "__main__":
    main()

"""Events a second: remint run, the Python worker and librdkafka alone on topics of their own, in turns."""

import pathlib
import sys
import tempfile
import time

from .audit import audit
from .figures import Result, Spread, Trouble, is_met, judgement, table
from .machine import CORES, busy_seconds
from .mint import run
from .shop import APPS, Shop
from .stage import Stage
from .subject import Subject

TARGETS = {"RS256": None, "ES256": 3.0, "HS256": 4.0}
EVENTS = {"RS256": 20_000, "ES256": 100_000, "HS256": 200_000}
TRANSACTION_SECONDS = 0.1
# Remint commits at most twelve batches, and half of worker.batch.events, 1000, make a batch.
TRANSACTION_EVENTS = 12000
TITLES = {"remint": "remint", "peer": "Python", "relay": "librdkafka"}
# The lengths of the values that Remint produces for these events.
VALUE_BYTES = {"RS256": 683, "ES256": 523, "HS256": 579}
RELAY = ".build/release/librdkafka-relay"
# How often the committed offsets are asked for, and how long they may stand still.
TICK, PATIENCE = 0.1, 60


def compare(options):
    subjects = options.subjects.split(",")
    if not set(subjects) <= set(TITLES):
        raise Trouble("--subjects is remint, peer, relay or several of them: remint,peer")
    if "relay" in subjects and not (options.here / RELAY).exists():
        raise Trouble("no librdkafka-relay; build it with: swift build -c release --package-path Tests/Benchmarks")
    with tempfile.TemporaryDirectory(prefix="remint-bench-") as folder:
        shop = Shop(pathlib.Path(folder), options)
        comparisons = [Comparison(algorithm, subjects, shop, options) for algorithm in options.algorithms]
    met = all(comparison.is_met for comparison in comparisons)
    return Result(
        "\n\n".join(comparison.table for comparison in comparisons),
        {"benchmark": "worker", "peer": "python", "results": [comparison.json for comparison in comparisons]}, met)


class Comparison:
    """All rounds of one algorithm."""

    def __init__(self, algorithm, subjects, shop, options):
        self.algorithm, self.subjects, self.options = algorithm, subjects, options
        self.events = options.events or EVENTS[algorithm]
        self.rounds = []
        self.signature = signature_seconds(algorithm, options)
        for number in range(options.rounds):
            # The second of one round is the first of the next.
            order = subjects if number % 2 == 0 else subjects[::-1]
            self.rounds.append({subject: self.measure(subject, number, shop) for subject in order})

    def measure(self, subject, number, shop):
        with Stage(self.options.brokers, self.algorithm, self.events) as stage:
            stage.fill()
            command, members = self.command(subject, stage, shop)
            with Subject(command, shop.folder / f"{stage.group}.log") as worker:
                settle(stage, worker, members)
                stage.open()
                measured = watch(stage, worker)
            audit(stage, self.algorithm, shop.keys[self.algorithm], has_tokens=subject != "relay")
        rate = measured["events_per_second"]
        print(f"{self.algorithm} round {number + 1}, {subject}: {rate:.0f} events/s", file=sys.stderr)
        return measured

    def command(self, subject, stage, shop):
        """How the subject is started, and how many members its group has then."""
        if subject == "remint":
            return shop.remint_command(stage.group, stage.topics), 1
        if subject == "peer":
            return shop.peer_command(sys.executable, stage.group, stage.topics), self.options.processes
        return [
            self.options.here / RELAY, "--brokers", self.options.brokers, "--group", stage.group,
            "--input", stage.topics["invalidations"], "--output", stage.topics["tokens"],
            "--value-bytes", VALUE_BYTES[self.algorithm], "--transaction-events", self.options.transaction_events,
        ], 1

    def spread(self, subject, member):
        return Spread([measured[subject][member] for measured in self.rounds])

    @property
    def ratio(self):
        return self.ratio_of("remint", "peer")

    def ratio_of(self, one, other):
        """How many times as fast as the other one the one is; None where only one was measured."""
        if not {one, other} <= set(self.subjects):
            return None
        name = "events_per_second"
        return Spread([measured[one][name] / measured[other][name] for measured in self.rounds])

    @property
    def limit(self):
        """Events a second of a worker that does nothing but sign, beside the same broker on the same processors."""
        if "remint" not in self.subjects:
            return None
        name = "elsewhere_seconds_per_1000"
        return Spread([CORES * 1000 / (measured["remint"][name] + self.signature) for measured in self.rounds])

    @property
    def limit_ratio(self):
        if not self.limit or "peer" not in self.subjects:
            return None
        return self.limit.median / self.spread("peer", "events_per_second").median

    @property
    def relay_ratios(self):
        """librdkafka alone beside Python, and Remint beside it."""
        ratios = {"to_peer": self.ratio_of("relay", "peer"), "remint_to_relay": self.ratio_of("remint", "relay")}
        return {name: ratio.json for name, ratio in ratios.items() if ratio}

    @property
    def is_met(self):
        return self.ratio is None or is_met(self.ratio, TARGETS[self.algorithm])

    @property
    def table(self):
        heads = ["", *(TITLES[name] for name in self.subjects)]
        rows = [
            [f"events/s, round {number}", *(f"{measured[name]['events_per_second']:.0f}" for name in self.subjects)]
            for number, measured in enumerate(self.rounds, 1)
        ]
        for title, member, form in [
            ("events/s", "events_per_second", ".0f"),
            ("processor seconds per 1000 events", "processor_seconds_per_1000", ".4f"),
            ("the same of all others", "elsewhere_seconds_per_1000", ".4f"),
            ("peak resident MB", "peak_megabytes", ".0f"),
        ]:
            rows.append([title, *(self.spread(name, member).text(form) for name in self.subjects)])
        text = f"{self.algorithm} ({APPS[self.algorithm]['vendor']}), {self.events} events, exactly once\n\n"
        text += table(heads, rows)
        if self.ratio:
            text += f"\n\nremint / Python: {self.ratio.text('.2f')}, {judgement(self.ratio, TARGETS[self.algorithm])}"
        if self.limit:
            text += f"\nlibcrypto's signatures and all others' work alone: {self.limit.text('.0f')} events/s"
        if self.limit_ratio:
            text += f", {self.limit_ratio:.2f} times Python"
        for one, other in [("relay", "peer"), ("remint", "relay")]:
            if ratio := self.ratio_of(one, other):
                text += f"\n{TITLES[one]} / {TITLES[other]}: {ratio.text('.2f')}"
        return text

    @property
    def json(self):
        members = ["events_per_second", "processor_seconds_per_1000", "peak_megabytes"]
        return {
            "algorithm": self.algorithm, "events": self.events, "delivery": "exactly_once",
            "peer_processes": self.options.processes, "rounds": self.rounds,
            "subjects": {
                name: {member: self.spread(name, member).json for member in members} for name in self.subjects
            },
            "signature_seconds_per_1000": self.signature, "limit_per_second": self.limit.json if self.limit else None,
            "limit_ratio": self.limit_ratio, "relay_ratios": self.relay_ratios,
            "ratio": self.ratio.json if self.ratio else None, "target": TARGETS[self.algorithm], "met": self.is_met,
        }


def signature_seconds(algorithm, options):
    """Processor seconds that libcrypto takes for a thousand of the signatures."""
    command = [options.bench, "mint", "--algorithm", algorithm, "--rounds", "3", "--json"]
    for result in run(command)["results"]:
        if result["threads"] == 1:
            return 1000 / result["raw_per_second"]["median"]
    raise Trouble("remint-bench mint has no figure for 1 thread")


def settle(stage, worker, members):
    """Waits until the worker has joined its group as a whole: what comes before that is not its speed."""
    end = time.monotonic() + PATIENCE
    while not stage.is_shared_by(members):
        worker.require_life()
        if time.monotonic() > end:
            raise Trouble(f"the worker has not settled in its group within {PATIENCE} s")
        time.sleep(TICK)


def watch(stage, worker):
    """Follows the group from the first commit seen to the last, from outside: the broker is asked, not the worker."""
    began, seen, last, moved = None, 0, 0, time.monotonic()
    processor = busy = 0
    while True:
        worker.require_life()
        now, count = time.monotonic(), stage.committed()
        if count > last:
            last, moved = count, now
        elif now - moved > PATIENCE:
            raise Trouble(f"nothing committed for {PATIENCE} s, {count} of {stage.events} events done")
        if began is None and count > 0:
            began, seen, processor, busy = now, count, worker.processor_seconds(), busy_seconds()
        if count >= stage.events:
            break
        time.sleep(max(0, now + TICK - time.monotonic()))
    if count == seen:
        raise Trouble(f"{stage.events} events are too few: all were done at the first look; see --events")
    used, all_used = worker.processor_seconds() - processor, busy_seconds() - busy
    return {
        "events_per_second": (count - seen) / (now - began), "seconds": now - began, "counted": count - seen,
        "processor_seconds_per_1000": used / (count - seen) * 1000,
        "elsewhere_seconds_per_1000": (all_used - used) / (count - seen) * 1000, "peak_megabytes": worker.peak_megabytes(),
    }

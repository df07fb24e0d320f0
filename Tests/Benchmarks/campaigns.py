#!/usr/bin/env python3
"""Batch jobs and campaigns on a real broker: killed at random moments, and a million users re-issued beside an older program.

    campaigns.py kills --remint PROGRAM --brokers HOST:PORT [--kills 50] [--users 20000] [--seed 1]
    campaigns.py reissue --remint PROGRAM --brokers HOST:PORT [--beside PROGRAM] [--users 1000000] [--rounds 3]

`kills` runs `remint reissue`, and then every step of a campaign, as process 1 of a PID namespace of its own, as a container does, and
kills it with SIGKILL at random moments; the same seed gives the same moments. It exits 1 unless every job resumes, each subject gets one
event or at most two, and the second has the header `remint-resent`. It exits 77 where the system allows no PID namespace.

`reissue` gives tokens to all users with `remint reissue`, and then replaces their key with a campaign, by each program in turns.

Both make a configuration, keys and topics of their own with the first program, and delete them afterwards. Needs confluent-kafka.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# HS256: the signature is cheap, so that the figures are the job's and the broker's.
APP = "infobip-mobile"
# One app of a compiled vendor, so that an older program needs no files beside it.
CONFIGURATION = """kafka: {{ bootstrap_servers: "{brokers}", group: {group}, insecure: true }}
topics: {{ {topics} }}
keys: {{ {app}: {{ path: keys/{app} }} }}
apps: {{ {app}: {{ adapter: infobip, key: {app}, lifetime: 12h, settings: {{ application_code: app-code }} }} }}
log: {{ level: info, format: text }}
"""
TOPICS = ("invalidations", "invalidations_bulk", "tokens", "dead_letters", "retries", "control")


class Trouble(Exception):
    """The reason a run failed."""


class Shop:
    """A configuration with topics of its own, and the programs that use it."""

    def __init__(self, maker, brokers, name):
        self.brokers = brokers
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="remint-campaigns-"))
        self.folder = self.base / "shop"
        self.group = f"campaigns-{os.getpid()}-{name}"
        self.worker = None
        os.umask(0o077)
        self.folder.mkdir()
        self.topics = {name: f"{self.group}.{name}" for name in TOPICS}
        self.configuration = self.folder / "remint.yaml"
        self.configuration.write_text(CONFIGURATION.format(
            brokers=brokers, group=self.group, app=APP,
            topics=", ".join(f"{key}: {topic}" for key, topic in self.topics.items())))
        ring = ["--config", str(self.configuration), "--key", APP]
        run(maker, "keys", "generate", *ring, "--id", "first")
        run(maker, "rotate", "promote", *ring, "--key-version", "first", "--now")
        run(maker, "topics", "create", "--config", str(self.configuration), "--replication", "1")

    def users(self, count, name="users"):
        path = self.base / f"{name}.csv"
        path.write_text("user\n" + "".join(f"{name}-{number:08}\n" for number in range(count)))
        return path

    def start_worker(self, program):
        log = open(self.base / "worker.log", "a")
        self.worker = subprocess.Popen([program, "run", "--config", str(self.configuration)], stdout=log, stderr=log)

    def stop_worker(self):
        if self.worker is None:
            return
        self.worker.send_signal(signal.SIGTERM)
        try:
            self.worker.wait(60)
        except subprocess.TimeoutExpired:
            self.worker.kill()
            self.worker.wait()
        self.worker = None

    def admin(self):
        from confluent_kafka.admin import AdminClient
        return AdminClient({"bootstrap.servers": self.brokers, "log_level": 3})

    def committed(self, admin):
        """Events of the bulk lane behind the workers' committed offsets."""
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
        topic = self.topics["invalidations_bulk"]
        partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
        wanted = [TopicPartition(topic, number) for number in partitions]
        group = f"{self.group}-bulk"
        try:
            answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group, wanted)])[group].result(10)
        except KafkaException as error:
            # A group that nobody has joined yet may have no coordinator.
            if error.args[0].retriable():
                return 0
            raise
        return sum(max(0, position.offset) for position in answer.topic_partitions)

    def wait_until_committed(self, count, seconds):
        admin, deadline = self.admin(), time.monotonic() + seconds
        while (found := self.committed(admin)) < count:
            if self.worker.poll() is not None:
                raise Trouble(f"the worker ended with {self.worker.returncode}; its log is {self.base}/worker.log")
            if time.monotonic() > deadline:
                raise Trouble(f"{found} of {count} events were answered within {seconds} s")
            time.sleep(0.1)

    def records(self, name):
        """Every committed record of a topic: partition after partition, in order."""
        from confluent_kafka import Consumer, KafkaError, TopicPartition
        topic = self.topics[name]
        consumer = Consumer({"bootstrap.servers": self.brokers, "group.id": f"{self.group}-audit", "enable.auto.commit": False,
                             "enable.partition.eof": True, "auto.offset.reset": "earliest",
                             "isolation.level": "read_committed"})
        open_ones = set(consumer.list_topics(topic, timeout=30).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, number, 0) for number in open_ones])
        while open_ones:
            for record in consumer.consume(5000, 1):
                if record.error() is None:
                    yield record
                elif record.error().code() == KafkaError._PARTITION_EOF:
                    open_ones.discard(record.partition())
                else:
                    raise Trouble(record.error().str())
        consumer.close()

    def states(self):
        """The ring's versions with their states, in their order."""
        ring = json.loads((self.folder / f"keys/{APP}/keyring.json").read_text())
        return {version["id"]: version["state"] for version in ring["versions"]}

    def signing(self):
        return next(version for version, state in self.states().items() if state == "active")

    def live(self, program):
        """Live tokens by version, as `remint ledger` has them."""
        text = run(program, "ledger", "--config", str(self.configuration), "--app", APP, "--json").stdout
        return {line["key_id"]: line["live"] for line in map(json.loads, text.splitlines())}

    def close(self, keep=False):
        self.stop_worker()
        admin = self.admin()
        names = [topic for topic in admin.list_topics(timeout=30).topics if topic.startswith(self.group + ".")]
        for future in admin.delete_topics(names).values():
            # A cluster that does not let us keeps them.
            try:
                future.result(30)
            except Exception as error:
                print(f"not deleted: {error}", file=sys.stderr)
        if not keep:
            shutil.rmtree(self.base)


def run(program, *arguments, codes=(0,)):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode not in codes:
        raise Trouble(f"remint {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


# Kills

class Killer:
    """Runs programs as process 1 of a PID namespace of their own, and kills them at random moments."""

    def __init__(self, remint, log, seed):
        self.remint, self.log, self.random = remint, log, random.Random(seed)
        self.kills = self.as_process_1 = self.runs = 0

    @staticmethod
    def refusal():
        """The reason that the system allows no PID namespace; nothing where it does."""
        try:
            done = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "true"], capture_output=True, text=True)
        except OSError as error:
            return str(error)
        return done.stderr.strip() if done.returncode else ""

    def attempt(self, arguments, within):
        """Runs a program once. With `within` it is killed after a part of so many seconds, unless it ended before.

        Returns its exit code; -9 where it was killed.
        """
        self.runs += 1
        with open(self.log, "a") as log:
            print(f"--- {' '.join(arguments)}", file=log, flush=True)
            process = subprocess.Popen(
                ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--", self.remint, *arguments], stdout=log, stderr=log)
            if within is None:
                return process.wait()
            try:
                return process.wait(self.random.uniform(0, within))
            except subprocess.TimeoutExpired:
                pass
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            for child in map(int, children.read_text().split()):
                try:
                    number = re.search(r"^NSpid:.*\s(\d+)$", pathlib.Path(f"/proc/{child}/status").read_text(), re.M)
                    # Between its birth and the program's start it is nobody's container yet; that is a moment as well.
                    self.as_process_1 += number is not None and number.group(1) == "1"
                    os.kill(child, signal.SIGKILL)
                    self.kills += 1
                except (FileNotFoundError, ProcessLookupError):
                    continue
            # What is left is `unshare` itself.
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            return -9 if process.returncode else 0

    def until_done(self, arguments, kills, within, codes=(0,)):
        """Runs a program until it ends by itself with one of `codes`; it is killed `kills` times before, if it lives that long.

        Returns how often it was killed.
        """
        before = self.kills
        while self.kills - before < kills:
            code = self.attempt(arguments, within)
            if code in codes:
                return self.kills - before
            if code not in (-9, 137):
                raise Trouble(f"{' '.join(arguments)} ended with {code}; its log is {self.log}")
        if (code := self.attempt(arguments, None)) not in codes:
            raise Trouble(f"{' '.join(arguments)} ended with {code} after {kills} kills; its log is {self.log}")
        return self.kills - before


def audit(shop, wanted, kills, batch, is_meant):
    """Counts the bulk lane's events for each subject: one, or two of which the second says so."""
    events = collections.defaultdict(list)
    for record in shop.records("invalidations_bulk"):
        headers = dict(record.headers() or [])
        if is_meant(headers, record):
            events[record.key()].append((json.loads(record.value())["id"], "remint-resent" in headers))
    problems = []
    if len(events) != wanted:
        problems.append(f"{len(events)} of {wanted} subjects got an event")
    total = sum(map(len, events.values()))
    twice = [copies for copies in events.values() if len(copies) > 1]
    most = max(map(len, events.values()), default=0)
    if most > 2:
        problems.append(f"a subject got {most} events")
    unmarked = sum(1 for copies in twice if not all(resent for _, resent in copies[1:]))
    if unmarked:
        problems.append(f"{unmarked} second events do not say that they are one")
    renamed = sum(1 for copies in twice if len({event for event, _ in copies}) > 1)
    if renamed:
        problems.append(f"{renamed} second events have another id than the first")
    if total - wanted > kills * batch:
        problems.append(f"{total - wanted} events too many after {kills} kills with batches of {batch}")
    marked = sum(resent for copies in events.values() for _, resent in copies)
    return problems, f"{total} events for {wanted} subjects, {len(twice)} of them twice, {marked} marked as resent, at most {most} each"


def leftovers(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob(".remint-*.new")]


def kill_reissue(options, shop, killer, kills):
    """`remint reissue`, with new users as soon as everybody was asked for."""
    total, left, number = 0, kills, 0
    while left > 0:
        number += 1
        input_file = shop.users(options.users, f"list{number}")
        before = killer.kills
        killer.until_done(
            ["reissue", "--config", str(shop.configuration), "--app", APP, "--input", str(input_file), "--rate",
             str(options.rate), "--json"], left, options.within)
        left -= killer.kills - before
        total += options.users
    problems, figures = audit(shop, total, kills, max(1, int(options.rate / 10)), lambda headers, _: "remint-campaign" not in headers)
    shop.wait_until_committed(total, 600)
    return problems, f"reissue: {kills} kills, {number} jobs, {figures}"


def kill_campaign(options, shop, killer, kills):
    """Every step of campaigns, each from the version that everybody has to a new one, until the kills are used up."""
    held = sum(shop.live(options.remint).values())
    problems, parts, number = [], [], 0
    while killer.kills < kills:
        number += 1
        found, figures = kill_one_campaign(options, shop, killer, kills - killer.kills, held)
        problems += found
        parts.append(figures)
    return problems, f"rotate: {killer.kills} kills, {number} campaigns, {', then '.join(parts)}"


def kill_one_campaign(options, shop, killer, kills, held):
    old = shop.signing()
    ring = ["--config", str(shop.configuration), "--key", APP]
    # A step that takes no second is killed a few times; most kills are for the job.
    few = kills // 16
    for step in (["prepare"], ["promote", "--now"]):
        killer.until_done(["rotate", *step, *ring], few, 0.3)
    campaign = json.loads((shop.folder / f"keys/{APP}/rotation.json").read_text())["id"]
    before = killer.kills
    killer.until_done(
        ["rotate", "reissue", *ring, "--canary", "1", "--watch", "200ms", "--rate", str(options.rate)],
        max(1, kills - 3 * few), options.within)
    used = killer.kills - before
    killer.until_done(["rotate", "retire", *ring], few, 1)
    problems, figures = audit(
        shop, held, used, max(1, int(options.rate / 10)),
        lambda headers, _: headers.get("remint-campaign") == campaign.encode())
    if (live := shop.live(options.remint).get(old, 0)) > 0:
        problems.append(f"{live} live tokens of {old} are left")
    if (state := shop.states()[old]) != "retired":
        problems.append(f"{old} is {state} at the end of the campaign {campaign}")
    for line in (shop.folder / f"keys/{APP}/audit.log").read_text().splitlines():
        json.loads(line)
    return problems, f"{used} kills of reissue, {figures}"


def kills(options):
    if reason := Killer.refusal():
        print(f"SKIPPED: no PID namespace: {reason}", file=sys.stderr)
        sys.exit(77)
    shop = Shop(options.remint, options.brokers, "kills")
    begin, problems = time.monotonic(), []
    try:
        shop.start_worker(options.remint)
        for number, story in enumerate((kill_reissue, kill_campaign)):
            killer = Killer(options.remint, shop.base / "jobs.log", options.seed + number)
            found, figures = story(options, shop, killer, options.kills)
            if rest := leftovers(shop.base):
                found.append(f"unfinished files are left: {rest[:3]}")
            print(f"{figures}; {killer.kills} kills in {killer.runs} runs, {killer.as_process_1} of them of process 1; "
                  f"seed {options.seed + number}, {time.monotonic() - begin:.0f} s", flush=True)
            problems += found
    except Trouble as trouble:
        problems.append(str(trouble))
    shop.close(keep=bool(problems))
    for problem in problems:
        print(f"FAILED: {problem}", file=sys.stderr)
    if problems:
        print(f"logs in {shop.base}", file=sys.stderr)
    sys.exit(1 if problems else 0)


# A million users, in turns

def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


def timed(program, *arguments):
    """Runs a job; returns its seconds, its processor seconds and its peak of memory in MB."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([program, *arguments], stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            raise Trouble(f"remint {' '.join(arguments)}: exit {process.returncode}\n{output.read()[-2000:].decode()}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(options, program, name):
    """One turn of a program: everybody gets a token, then everybody gets one of another key."""
    shop = Shop(options.remint, options.brokers, name)
    figures = {}
    try:
        input_file = shop.users(options.users)
        config = ["--config", str(shop.configuration)]
        shop.start_worker(program)
        shop.wait_until_committed(0, 60)
        begin, used = time.monotonic(), processor_seconds(shop.worker.pid)
        job = timed(program, "reissue", *config, "--app", APP, "--input", str(input_file), "--rate", "0", "--json")
        shop.wait_until_committed(options.users, options.patience)
        figures["reissue: job, s"] = job[0]
        figures["reissue: all answered, s"] = time.monotonic() - begin
        figures["reissue: job, processor s"] = job[1]
        figures["reissue: job, MB"] = job[2]
        figures["reissue: worker, processor s"] = processor_seconds(shop.worker.pid) - used
        ring = [*config, "--key", APP]
        run(program, "rotate", "prepare", *ring)
        run(program, "rotate", "promote", "--now", *ring)
        old, new = shop.states()
        begin, used = time.monotonic(), processor_seconds(shop.worker.pid)
        job = timed(program, "rotate", "reissue", *ring, "--canary", "0", "--rate", "0")
        shop.wait_until_committed(2 * options.users, options.patience)
        figures["rotate: command, s"] = job[0]
        figures["rotate: all answered, s"] = time.monotonic() - begin
        figures["rotate: command, processor s"] = job[1]
        figures["rotate: command, MB"] = job[2]
        figures["rotate: worker, processor s"] = processor_seconds(shop.worker.pid) - used
        figures["worker, MB"] = peak(shop.worker.pid)
        begin = time.monotonic()
        live = shop.live(program)
        figures["ledger: s"] = time.monotonic() - begin
        if (live.get(new, 0), live.get(old, 0)) != (options.users, 0):
            raise Trouble(f"{program}: the ledger shows {live} for {options.users} users from {old} to {new}")
    except Trouble:
        shop.close(keep=True)
        raise
    shop.close()
    return figures


def reissue(options):
    programs = [options.remint] + ([options.beside] if options.beside else [])
    rounds = {program: [] for program in programs}
    for number in range(options.rounds):
        # Whoever was second in one round is first in the next.
        for program in programs if number % 2 == 0 else reversed(programs):
            try:
                figures = measure(options, program, f"{number}-{programs.index(program)}")
            except Trouble as trouble:
                sys.exit(f"FAILED: {trouble}")
            rounds[program].append(figures)
            print(f"round {number + 1}, {program}: reissue {figures['reissue: all answered, s']:.1f} s, rotate "
                  f"{figures['rotate: all answered, s']:.1f} s", file=sys.stderr, flush=True)
    print(f"{options.users} users, {options.rounds} rounds in turns, medians (lowest to highest)")
    for program, column in zip(programs, "AB"):
        print(f"{column}: {program}")
    for row in rounds[programs[0]][0]:
        cells = []
        for program in programs:
            values = sorted(figures[row] for figures in rounds[program])
            cells.append(f"{statistics.median(values):9.1f} ({values[0]:.1f} to {values[-1]:.1f})")
        if len(programs) == 2:
            pairs = zip(rounds[programs[0]], rounds[programs[1]])
            ratio = statistics.median(first[row] / second[row] if second[row] else 0 for first, second in pairs)
            cells.append(f"A/B {ratio:.2f}")
        print(f"{row:30} {'   '.join(cells)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kills", "reissue"))
    parser.add_argument("--remint", default=str(ROOT / ".build/release/remint"))
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--users", type=int, help="kills: 20000 for each list; reissue: 1000000")
    parser.add_argument("--kills", type=int, default=50, help="for the batch job, and as many for the campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1000, help="kills: events a second, so that a job lives through many kills")
    parser.add_argument("--within", type=float, default=2.0, help="kills: the latest moment of a kill, in seconds")
    parser.add_argument("--beside", help="reissue: another program, which takes turns")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=int, default=1800, help="reissue: seconds until everybody must be answered")
    chosen = parser.parse_args()
    chosen.users = chosen.users or (20_000 if chosen.what == "kills" else 1_000_000)
    (kills if chosen.what == "kills" else reissue)(chosen)

#!/usr/bin/env python3
"""A gateway before a token topic of any size: its start, what it remembers, and its memory under renewals.

    start.py fill  --folder DIR --remint PROGRAM [--brokers HOST:PORT] [--tokens 5000000] [--partitions 12]
    start.py start --folder DIR --remint PROGRAM [--seconds 60] [--cache 256MB]
    start.py renew --folder DIR --remint PROGRAM [--rate 3000] [--users 400000] [--seconds 240] [--cache 256MB]
    start.py hold  --folder DIR --remint PROGRAM [--devices 10000]
    start.py grow  --folder DIR --remint PROGRAM
    start.py clean --folder DIR --remint PROGRAM

`fill` makes a configuration, topics of its own and that many live tokens, of users u-0 to u-N. `start` starts a worker and a gateway, asks
at once for a new user and for known ones, and follows the memory until the cache is full. `renew` replaces tokens at a rate and prints
the gateway's memory. `hold` opens connections, and lets a call wait on each: the memory of
a connection that says nothing, and of a call that waits, and how soon every tenth of them has its token: in all, and from the write to
the brokers' word, from there to the moment at which the gateway sent the answer, and from there to its reader. `grow` adds partitions to the token topic and waits until the gateway follows them. The token topic is written to
directly: the worker is not what is measured. `clean` deletes the topics. Needs confluent-kafka. Each line names the machine's load.
"""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from hostile import ask, free_port  # noqa: E402

APP, LIFE = "braze-ios", 12 * 3600
# 370 bytes, as an RS256 token of a vendor with 2,048 bits has about.
HEADER = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsifQ"
PAYLOAD = "eyJzdWIiOiJ1LTAwMDAwMDAiLCJleHAiOjE4MDAwMDAwMDB9"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
CHANCE = random.Random(1)
SIGNATURES = ["".join(CHANCE.choices(ALPHABET, k=270)) for _ in range(997)]


def token_of(number):
    return f"{HEADER}.{PAYLOAD}.{SIGNATURES[number % 997]}"


class Writer:
    """Writes tokens to the token topic, as a worker does."""

    def __init__(self, options):
        from confluent_kafka import Producer
        self.producer = Producer({
            "bootstrap.servers": options.brokers, "partitioner": "murmur2_random", "linger.ms": options.linger,
            "queue.buffering.max.messages": 200_000, "queue.buffering.max.kbytes": 400_000, "batch.size": 400_000})
        self.topic = f"{options.prefix}.tokens"

    def write(self, user, version, number, life=LIFE, delivered=None):
        issued = version // 1_000_000
        value = (f'{{"app":"{APP}","vendor":"braze","subject":{{"user":"{user}"}},"token":"{token_of(number)}","algorithm":"RS256",'
                 f'"key_id":"k","issued_at":{issued},"expires_at":{issued + life},"version":{version},"event_id":"e-{number}"}}')
        headers = [("ce_type", "remint.token.replaced.v1"), ("ce_source", f"/remint/{APP}"), ("ce_id", f"e-{number}"),
                   ("remint-key-id", "k"), ("remint-expires-at", str(issued + life)), ("remint-version", str(version))]
        while True:
            try:
                self.producer.produce(self.topic, value.encode(), f"{APP}/{user}".encode(), headers=headers,
                                      on_delivery=delivered)
                return
            except BufferError:
                self.producer.poll(0.1)


class Stage:
    """A configuration, its topics, and the processes that are started for it."""

    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)
        self.notes = self.folder / "stage.json"
        if self.notes.exists():
            for name, value in json.loads(self.notes.read_text()).items():
                setattr(self, name, value)
            options.prefix, options.brokers = self.prefix, self.brokers
        self.processes = {}

    def run(self, *arguments):
        done = subprocess.run([self.options.remint, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"remint {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def make(self, lines=""):
        """Makes configuration and topics; `lines` are further ones of the section pickup."""
        os.umask(0o077)
        options = self.options
        self.folder.mkdir(parents=True)
        shop = self.folder / "shop"
        self.run("demo", "--dir", str(shop), "--json")
        made = self.run("pickup-key", "start")
        digest = re.search(r"\b[0-9a-f]{64}\b", made.stderr).group()
        prefix = options.prefix = f"start-{os.getpid()}"
        text = (shop / "remint.yaml").read_text()
        text = text.replace("bootstrap_servers: embedded", f'bootstrap_servers: "{options.brokers}"\n  group: {prefix}')
        text = text.replace("admission: { subjects: 0 }", "admission: { subjects: 100000 }")
        names = ("invalidations", "invalidations_bulk", "tokens", "dead_letters", "retries", "control")
        text += "\ntopics: { " + ", ".join(f"{name}: {prefix}.{name}" for name in names) + " }\n"
        text += "admin: { listen: 127.0.0.1:ADMIN }\n"
        text += ("pickup:\n  listen: 127.0.0.1:HTTP\n  metrics: 127.0.0.1:METRICS\n  cache: CACHE\n  user_rate: 100000\n"
                 "  caller_rate: 100000\n  address_rate: 1000000\n  total_rate: 1000000\n"
                 "  address_connections: 50000\n  address_streams: 50000\n"
                 f"  api_keys: {{ start: {{ hash: {digest}, rate: 100000 }} }}\n{lines}")
        (shop / "template.yaml").write_text(text)
        self.notes.write_text(json.dumps({"prefix": prefix, "key": made.stdout.strip(), "brokers": options.brokers,
                                          "tokens": options.tokens}))
        self.__init__(options)
        self.configure()
        self.run("topics", "create", "--config", str(self.configuration), "--replication",
                 str(getattr(options, "replication", 1)), "--partitions", str(options.partitions))

    def configure(self):
        self.admin, self.http, self.metrics = free_port(), free_port(), free_port()
        text = (self.folder / "shop" / "template.yaml").read_text()
        for name, value in (("ADMIN", self.admin), ("HTTP", self.http), ("METRICS", self.metrics), ("CACHE", self.options.cache)):
            text = text.replace(name, str(value))
        self.configuration = self.folder / "shop" / "start.yaml"
        self.configuration.write_text(text)

    def launch(self, name, command):
        log = open(self.folder / f"{name}.log", "w")
        self.processes[name] = subprocess.Popen(
            [self.options.remint, command, "--config", str(self.configuration)], stdout=log, stderr=log)
        return time.monotonic()

    def stop(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            process.wait(60)

    def resident(self):
        with open(f"/proc/{self.processes['gateway'].pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def metric(self, name):
        text = ask(f"http://127.0.0.1:{self.metrics}/metrics")[1].decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line))

    def get(self, user, query=""):
        status, body = ask(f"http://127.0.0.1:{self.http}/v1/apps/{APP}/token{query}",
                           {"X-Api-Key": self.key, "Remint-Vouched": json.dumps({"user": user})})
        return status, json.loads(body) if body else None

    def follows(self):
        """Whether the gateway follows the token topic: without a worker it is not ready."""
        return json.loads(ask(f"http://127.0.0.1:{self.http}/health/ready")[1])["dependencies"]["tokens"] == "ok"

    def until(self, what, begin, seconds=60):
        """Until `what` returns something; what, and after which time."""
        while True:
            try:
                found = what()
            except (OSError, ValueError, urllib.error.URLError):
                found = None
            if found:
                return found, time.monotonic() - begin
            if time.monotonic() - begin > seconds:
                raise SystemExit(f"nothing after {seconds} s; logs in {self.folder}")
            time.sleep(0.005)


def load():
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def fill(stage, options):
    stage.make()
    writer, begin = Writer(options), time.monotonic()
    start = time.time_ns() // 1000 - options.tokens * 1000
    for number in range(options.tokens):
        # A millisecond between two: 5 million were published within the last 83 minutes.
        writer.write(f"u-{number}", start + number * 1000, number)
        if number % 1000 == 0:
            writer.producer.poll(0)
    writer.producer.flush()
    print(f"{options.tokens} live tokens on {options.prefix}.tokens in {time.monotonic() - begin:.0f} s; {load()}")


def start(stage, options):
    stage.configure()
    begin = stage.launch("worker", "run")
    stage.until(lambda: ask(f"http://127.0.0.1:{stage.admin}/health/ready")[0] == 200, begin)
    print(f"start with {stage.tokens} tokens on the topic, cache {options.cache}; {load()}")
    begin = stage.launch("gateway", "pickup")
    _, ready = stage.until(lambda: ask(f"http://127.0.0.1:{stage.http}/health/ready")[0] == 200, begin)

    def token(user):
        status, answer = stage.get(user)
        return answer if status == 200 else None

    _, first = stage.until(lambda: token(f"new-{time.time_ns()}"), begin)
    # One of the oldest, which its gateway reads last, if at all; another one each time, because it has a new token afterwards.
    old = f"u-{random.randrange(min(1000, stage.tokens))}"
    answer, known = stage.until(lambda: token(old), begin)
    assert answer["version"] > time.time_ns() // 1000 - 60_000_000, "an older token than a newly minted one"
    print(f"ready after {ready:.2f} s, a new user's token after {first:.2f} s, a newer one for an old user after {known:.2f} s")
    chance, checked, full, last = random.Random(2), 0, 0, -1
    while time.monotonic() - begin < options.seconds:
        number = chance.randrange(stage.tokens)
        answer = token(f"u-{number}")
        assert answer, "no token"
        checked += 1
        count = stage.metric("remint_pickup_cached_tokens")
        recalled = stage.metric("remint_pickup_recalled_tokens_total")
        now = time.monotonic() - begin
        # The past is read until then; metrics are set once a second.
        if recalled != last:
            full, last = now, recalled
        time.sleep(0.5)
    held, bound = stage.resident(), stage.metric("remint_pickup_cache_bytes")
    print(f"{count:.0f} tokens in {bound / 1e6:.0f} MB of cache, the last of them after {full:.0f} s ({bound / max(1, count):.0f} bytes each), "
          f"{recalled:.0f} read of the past, {checked} answers right; resident {held / 1e6:.0f} MB, "
          f"{stage.metric('remint_pickup_cold_asks_total'):.0f} cold asks; {load()}")
    stage.stop()


def renew(stage, options):
    stage.configure()
    begin = stage.launch("gateway", "pickup")
    stage.until(stage.follows, begin)
    writer, chance = Writer(options), random.Random(3)
    begin, number, shown = time.monotonic(), 0, 0
    print(f"{options.rate} renewals a second of {options.users} users, cache {options.cache}; {load()}")
    while (passed := time.monotonic() - begin) < options.seconds:
        while number < passed * options.rate:
            writer.write(f"r-{chance.randrange(options.users)}", time.time_ns() // 1000, number)
            number += 1
        writer.producer.poll(0)
        if passed >= shown:
            print(f"{passed:5.0f} s: resident {stage.resident() / 1e6:6.1f} MB, cache {stage.metric('remint_pickup_cache_bytes') / 1e6:6.1f} MB, "
                  f"{stage.metric('remint_pickup_cached_tokens'):.0f} tokens, {number} renewals; {load()}", flush=True)
            shown += options.every
        time.sleep(0.01)
    writer.producer.flush()
    stage.stop()


def hold(stage, options):
    import resource
    import socket
    # A cache that is full at once: the past is read before the memory is measured.
    options.cache = "1MB"
    resource.setrlimit(resource.RLIMIT_NOFILE, (options.devices + 1000, options.devices + 1000))
    stage.configure()
    begin = stage.launch("gateway", "pickup")
    resource.prlimit(stage.processes["gateway"].pid, resource.RLIMIT_NOFILE, (options.devices + 1000, options.devices + 1000))
    stage.until(stage.follows, begin)
    stage.until(lambda: time.monotonic() - begin > 10, begin)
    before, sockets = stage.resident(), []
    for _ in range(options.devices):
        connection = socket.create_connection(("127.0.0.1", stage.http))
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.recv(4096)
        sockets.append(connection)
    idle = stage.resident()
    for number, connection in enumerate(sockets):
        vouched = json.dumps({"user": f"held-{number}"})
        connection.sendall((f"GET /v1/apps/{APP}/token?after=0&wait=30 HTTP/1.1\r\nHost: x\r\nX-Api-Key: {stage.key}\r\n"
                            f"Remint-Vouched: {vouched}\r\n\r\n").encode())
    stage.until(lambda: stage.metric("remint_pickup_waiting_calls") >= options.devices, time.monotonic(), 29)
    held = stage.resident()
    print(f"{options.devices} connections that say nothing: {(idle - before) / options.devices / 1000:.1f} kB each; "
          f"{(held - idle) / options.devices / 1000:.1f} kB more while a call waits on it; {load()}")
    deliver(options, sockets)
    answered = 0
    for connection in sockets:
        connection.settimeout(40)
        answered += connection.recv(4096).startswith(b"HTTP/1.1 204")
    print(f"{answered} more told that nothing came, after their wait")
    stage.stop()


def deliver(options, sockets):
    """Writes the tokens of every tenth device that waits, and takes these connections out of `sockets`.

    A process of its own writes, and nothing else is done while answers are read: each is checked afterwards. The system notes when an
    answer was sent (SO_TIMESTAMPNS), so that the time of the gateway is known apart from the reader's.
    """
    import multiprocessing
    import select
    import socket
    import struct
    timestamps = 35  # SO_TIMESTAMPNS, which Python has no name for.
    numbers = list(range(0, len(sockets), 10))
    connections, poll = {sockets[number].fileno(): (number, sockets[number]) for number in numbers}, select.epoll()
    for descriptor, (_, connection) in connections.items():
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, timestamps, 1)
        poll.register(descriptor, select.EPOLLIN)
    fork = multiprocessing.get_context("fork")
    result, sender = fork.Pipe(duplex=False)
    writing = fork.Process(target=write_tokens, args=(options, numbers, sender))
    writing.start()
    begin, answers = time.time(), []
    while len(answers) < len(numbers) and time.time() < begin + 20:
        for descriptor, _ in poll.poll(1):
            data, ancillary, _, _ = connections[descriptor][1].recvmsg(65536, 64)
            answers.append((descriptor, time.time(), data, ancillary))
            poll.unregister(descriptor)
    ended = time.time()
    written = result.recv()
    writing.join()
    parts, wrong = {"in all": [], "until the brokers had it": [], "until the gateway sent": [], "until it was read": []}, 0
    for descriptor, read, data, ancillary in answers:
        number = connections[descriptor][0]
        version, taken = written[number]
        seconds, nanoseconds = next(struct.unpack("qq", value) for _, kind, value in ancillary if kind == timestamps)
        start, sent = version / 1e6, seconds + nanoseconds / 1e9
        for name, part in zip(parts, (read - start, taken - start, sent - taken, read - sent)):
            parts[name].append(part)
        head, _, body = data.partition(b"\r\n\r\n")
        found = json.loads(body) if head.startswith(b"HTTP/1.1 200") else {}
        wrong += found.get("version") != version or found.get("token") != token_of(number)
    answered = {descriptor for descriptor, *_ in answers}
    sockets[:] = [connection for connection in sockets if connection.fileno() not in answered]
    first = min(version for version, _ in written.values()) / 1e6
    print(f"{len(answers)} of {len(numbers)} that waited got their tokens, {wrong} of them wrong, all within {ended - first:.2f} s; {load()}")
    for name, part in parts.items():
        part.sort()
        print(f"  {name}: p50 {part[len(part) // 2] * 1000:.1f} ms, p90 {part[len(part) * 9 // 10] * 1000:.1f} ms, "
              f"p99 {part[len(part) * 99 // 100] * 1000:.1f} ms, most {part[-1] * 1000:.1f} ms")


def write_tokens(options, numbers, result):
    """Writes the tokens of devices over nine tenths of a second, as workers do, and sends back each one's version and the time at which
    the brokers had it."""
    writer, written, taken = Writer(options), {}, {}
    writer.producer.list_topics(writer.topic, timeout=20)
    waiting, begin = list(numbers), time.time()

    def delivered(error, message):
        assert error is None, error
        taken[message.key()] = time.time()

    while len(taken) < len(numbers):
        while waiting and (1 - len(waiting) / len(numbers)) * 0.9 <= time.time() - begin:
            number, version = waiting.pop(), time.time_ns() // 1000
            written[number] = version
            writer.write(f"held-{number}", version, number, delivered=delivered)
        writer.producer.poll(0.001)
    result.send({number: (version, taken[f"{APP}/held-{number}".encode()]) for number, version in written.items()})


def grow(stage, options):
    from confluent_kafka.admin import AdminClient, NewPartitions
    stage.configure()
    begin = stage.launch("gateway", "pickup")
    stage.until(stage.follows, begin)
    admin, topic = AdminClient({"bootstrap.servers": stage.brokers}), f"{stage.prefix}.tokens"
    count = len(admin.list_topics(topic, timeout=20).topics[topic].partitions)
    begin = time.monotonic()
    for future in admin.create_partitions([NewPartitions(topic, count + 6)]).values():
        future.result()
    while len(admin.list_topics(topic, timeout=20).topics[topic].partitions) < count + 6:
        time.sleep(0.05)
    writer = Writer(options)
    users = [f"grown-{time.time_ns()}-{number}" for number in range(300)]
    for number, user in enumerate(users):
        writer.write(user, time.time_ns() // 1000, number)
    writer.producer.flush()
    for user in users:
        stage.until(lambda: stage.get(user, "?after=0&wait=0")[0] == 200, begin)
    print(f"{count} partitions became {count + 6}; {len(users)} tokens written at once on all are known after "
          f"{time.monotonic() - begin:.1f} s; {load()}")
    stage.stop()


def clean(stage, options):
    from confluent_kafka.admin import AdminClient
    admin = AdminClient({"bootstrap.servers": options.brokers})
    names = [name for name in admin.list_topics(timeout=20).topics if name.startswith(f"{stage.prefix}.")]
    for future in admin.delete_topics(names).values():
        future.result()
    print(f"{len(names)} topics deleted")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fill", "start", "renew", "hold", "grow", "clean"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--remint", required=True)
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--cache", default="256MB")
    parser.add_argument("--rate", type=int, default=3000)
    parser.add_argument("--users", type=int, default=400_000)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--linger", type=int, default=50, help="librdkafka's linger.ms of what writes the tokens")
    parser.add_argument("--every", type=int, default=15, help="the time between two lines, in seconds")
    options = parser.parse_args()
    options.seconds = options.seconds or {"renew": 240}.get(options.what, 60)
    stage = Stage(options)
    try:
        {"fill": fill, "start": start, "renew": renew, "hold": hold, "grow": grow, "clean": clean}[options.what](stage, options)
    except BaseException:
        for process in stage.processes.values():
            process.kill()
        raise


if __name__ == "__main__":
    main()

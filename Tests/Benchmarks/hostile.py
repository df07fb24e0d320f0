#!/usr/bin/env python3
"""Hostile input for a running fleet: mutated Kafka records and mutated HTTP requests, the same ones for the same seed.

    hostile.py records  --remint PROGRAM --brokers HOST:PORT [--count 1000000] [--seed 1]
    hostile.py requests --remint PROGRAM --brokers HOST:PORT [--count 100000] [--seed 1]

Each run makes a configuration with `remint demo --dir`, creates topics of its own on the brokers, and starts a worker and a gateway. It
exits 1 where a process ends, grows beyond its bound, or gives no token for a good report once the hostile input is over.
Needs confluent-kafka. Its requests go to 127.0.0.1 alone.
"""
import argparse
import asyncio
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Growth beyond the memory at rest: caches and queues have their bounds, and the heap keeps some of what was freed.
GROWTH = {"worker": 400_000_000, "gateway": 500_000_000}

# Words that readers of these formats treat in a special way.
WORDS = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\u0000", b"\\ud800", b"null", b"true", b"NaN", b"-0", b"1e999",
    b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"18446744073709551616", b"1.0", b"22.0", b"2.2e1",
    b"{" * 64, b"[" * 2000, b'{"a":' * 300, b'"', b"\\", b"%", b"%00", b"%2F", b"../", b"*", b"{{user}}", b"exp", b"\r\n", b"\n",
    b"eyJhbGciOiJub25lIn0..", b"eyJhbGciOiJIUzI1NiJ9.e30.AAAA", b"victim", b"reissue", b"vouched", b"app", b"\xf0\x9f\x98\x80",
    b"A" * 5000, b"application/cloudevents+json", b"1970-01-01T00:00:00Z", b"9999-12-31T23:59:60Z", b"-1", b"0",
]
HEADERS = [
    "remint-error-code", "remint-error-stage", "remint-error-detail", "remint-origin-topic", "remint-origin-partition",
    "remint-origin-offset", "remint-origin-timestamp", "remint-attempts", "remint-failed-at", "remint-redrives",
    "remint-origin-value-bytes", "remint-not-before", "remint-history", "remint-first-failed-at", "remint-parked-letter",
    "remint-version", "remint-expires-at", "remint-key-id", "remint-reported-at", "remint-seal", "remint-app", "remint-id",
    "remint-observed-at", "remint-device", "remint-vouched", "content-type", "ce_specversion", "ce_id", "ce_type", "ce_source",
    "ce_app", "ce_time", "ce_subject", "ce_vouched", "traceparent", "tracestate",
]


class Mutator:
    """Changes bytes at random; the same seed gives the same changes."""

    def __init__(self, seed, samples):
        self.random = random.Random(seed)
        self.samples = samples

    def bytes(self, value, limit=60_000):
        chance = self.random
        data = bytearray(value)
        for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
            at = chance.randrange(len(data) + 1)
            kind = chance.randrange(8)
            if kind == 0 and data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            elif kind == 1 and data:
                data[at % len(data)] = chance.randrange(256)
            elif kind == 2:
                del data[at:at + chance.choice((1, 2, 4, 16, 64))]
            elif kind == 3:
                data[at:at] = chance.choice(WORDS)
            elif kind == 4:
                word = chance.choice(WORDS)
                data[at:at + len(word)] = word
            elif kind == 5:
                other = chance.choice(self.samples)
                data[at:] = other[chance.randrange(len(other) + 1):]
            elif kind == 6:
                start = chance.randrange(len(data) + 1)
                data[at:at] = data[start:start + chance.choice((1, 8, 64, 512))]
            else:
                del data[at:]
        return bytes(data[:limit])


def recorded_reports():
    """The vendor's name and the bytes of each recorded report of the compiled vendors."""
    for file in sorted(ROOT.glob("adapters/*/Fixtures/reports/*.json")):
        report = json.loads(file.read_text()).get("report")
        if report is not None:
            yield file.parts[-4].lower(), json.dumps(report).encode()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(url, headers=None, body=None, timeout=20):
    """The status and the body of an answer; 0 where there is none."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers or {}), timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 0, str(error).encode()


class Fleet:
    """A worker and a gateway on topics of their own."""

    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="remint-hostile-"))
        self.prefix = f"hostile-{os.getpid()}-{options.seed}"
        self.admin, self.http, self.metrics = free_port(), free_port(), free_port()
        self.processes, self.rest, self.peak = {}, {}, {}

    def run(self, *arguments):
        done = subprocess.run([self.options.remint, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"remint {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def start(self):
        os.umask(0o077)
        shop = self.folder / "shop"
        self.run("demo", "--dir", str(shop), "--json")
        made = self.run("pickup-key", "hostile")
        self.key = made.stdout.strip()
        digest = re.search(r"\b[0-9a-f]{64}\b", made.stderr).group()
        text = (shop / "remint.yaml").read_text()
        text = text.replace("bootstrap_servers: embedded", f'bootstrap_servers: "{self.options.brokers}"\n  group: {self.prefix}')
        text = text.replace("admission: { subjects: 0 }", "admission: { subjects: 100000 }")
        self.apps = re.findall(r"^  ([a-z0-9-]+):\n    adapter: (\S+)", text, re.M)
        names = {name: f"{self.prefix}.{name}" for name in (
            "invalidations", "invalidations_bulk", "tokens", "dead_letters", "retries", "control")}
        self.topics = names
        text += "\ntopics: { " + ", ".join(f"{key}: {name}" for key, name in names.items()) + " }\n"
        text += f"admin: {{ listen: 127.0.0.1:{self.admin} }}\n"
        text += (f"pickup:\n  listen: 127.0.0.1:{self.http}\n  metrics: 127.0.0.1:{self.metrics}\n  cache: 64MB\n"
                 "  address_rate: 1000000\n  total_rate: 1000000\n"
                 f"  api_keys: {{ hostile: {{ hash: {digest} }} }}\n")
        self.configuration = shop / "hostile.yaml"
        self.configuration.write_text(text)
        self.run("topics", "create", "--config", str(self.configuration), "--replication", "1")
        for name, command in (("worker", "run"), ("gateway", "pickup")):
            log = open(self.folder / f"{name}.log", "w")
            self.processes[name] = subprocess.Popen(
                [self.options.remint, command, "--config", str(self.configuration)], stdout=log, stderr=log)
        for _ in range(600):
            self.check_alive()
            if ask(f"http://127.0.0.1:{self.admin}/health/ready")[0] == 200 and self.token("before"):
                break
            time.sleep(0.2)
        else:
            self.fail("no token before the hostile input")
        self.rest = {name: self.resident(name) for name in self.processes}

    def token(self, user):
        """Whether a good report of `user` is answered with a token."""
        status, body = ask(
            f"http://127.0.0.1:{self.http}/v1/apps/braze-ios/reports",
            {"X-Api-Key": self.key, "Remint-Vouched": json.dumps({"user": user}), "Prefer": "wait=15",
             "Content-Type": "application/json"}, json.dumps({"errorCode": 22, "userId": user}).encode())
        return status == 200 and b'"token"' in body

    def resident(self, name, field="VmRSS"):
        with open(f"/proc/{self.processes[name].pid}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(field)), 0)

    def check_alive(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                self.fail(f"the {name} ended with {process.returncode}")

    def check(self):
        """Ends the run where a process ended or holds more than its bound."""
        self.check_alive()
        for name in self.processes:
            held = self.resident(name)
            self.peak[name] = max(self.peak.get(name, 0), held)
            if held > self.rest[name] + GROWTH[name]:
                self.fail(f"the {name} holds {held / 1e6:.0f} MB, {self.rest[name] / 1e6:.0f} at rest")

    def fail(self, reason):
        print(f"FAILED: {reason}; logs in {self.folder}", file=sys.stderr)
        self.stop(keep=True)
        sys.exit(1)

    def stop(self, keep=False):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        if not keep:
            shutil.rmtree(self.folder)

    def finish(self, begin, what):
        deadline = time.monotonic() + 300
        while not self.token(f"after-{time.monotonic_ns()}"):
            self.check()
            if time.monotonic() > deadline:
                self.fail("no token after the hostile input")
            time.sleep(1)
        self.check()
        memory = ", ".join(
            f"{name} {self.rest[name] / 1e6:.0f} MB at rest, {self.peak[name] / 1e6:.0f} at most" for name in self.processes)
        codes = {name: process.returncode for name, process in self.processes.items()}
        self.stop()
        print(f"{what}, seed {self.options.seed}: {time.monotonic() - begin:.0f} s, no process ended ({memory}), "
              f"a good report is answered; exit codes {[process.returncode for process in self.processes.values()]}")
        assert all(code is None for code in codes.values())


# Records

def record_source(fleet, seed):
    """Endless hostile records: (topic, key, value, headers)."""
    reports = list(recorded_reports())
    by_vendor = {}
    for vendor, report in reports:
        by_vendor.setdefault(vendor, []).append(report)
    samples = [report for _, report in reports]
    mutator = Mutator(seed, samples)
    chance = mutator.random
    names = fleet.topics
    inputs = [names["invalidations"]] * 8 + [names["invalidations_bulk"]] * 2
    # Topics that only Remint should write; a broker without ACLs lets anybody.
    inner = [f"{names['retries']}.10s", names["tokens"], names["dead_letters"], names["control"]]
    token = lambda app, user: json.dumps({
        "app": app, "vendor": "braze", "subject": {"user": user}, "token": "e30.e30.AAAA", "algorithm": "RS256",
        "key_id": "k", "issued_at": 1763640000, "expires_at": 4102444800, "version": 1763640000123456,
        "event_id": "e"}).encode()
    for number in itertools.count():
        app, vendor = chance.choice(fleet.apps)
        report = chance.choice(by_vendor.get(vendor, samples))
        user = f"u-{chance.randrange(5000)}"
        vouched = json.dumps({"user": user})
        headers = []
        form = chance.randrange(5)
        if form == 0:
            value = b'{"app":"%s","report":%s,"id":"%d","vouched":%s}' % (app.encode(), report, number, vouched.encode())
        elif form == 1:
            headers = [("content-type", b"application/cloudevents+json")]
            value = (b'{"specversion":"1.0","id":"%d","source":"/x","type":"t","app":"%s","data":%s,"vouched":%s}'
                     % (number, app.encode(), report, json.dumps(vouched).encode()))
        elif form == 2:
            headers = [("ce_specversion", b"1.0"), ("ce_id", str(number).encode()), ("ce_app", app.encode()),
                       ("ce_vouched", vouched.encode())]
            value = report
        elif form == 3:
            headers = [("remint-app", app.encode()), ("remint-vouched", vouched.encode())]
            value = report
        else:
            value = b'{"app":"%s","reissue":{"user":"%s"}}' % (app.encode(), user.encode())
        key = f"{app}/{user}".encode()
        topic = chance.choice(inputs) if chance.randrange(12) else chance.choice(inner)
        if topic == names["tokens"]:
            value = token(app, user)
            headers = [("remint-version", b"1763640000123456"), ("remint-expires-at", b"4102444800")]
        elif topic == names["control"]:
            value = json.dumps({"state": "suspended", "since": "2026-01-01T00:00:00Z", "by": "x", "why": "y"}).encode()
            key = f"nobody-{number % 50}".encode()
        if chance.randrange(10):
            value = mutator.bytes(value)
        if not chance.randrange(4):
            key = mutator.bytes(key, 2000) if topic != names["control"] else key
        for _ in range(chance.choice((0, 0, 0, 1, 2, 5))):
            content = chance.choice(WORDS + [names["invalidations_bulk"].encode(), b"5", str(number).encode()])
            headers.append((chance.choice(HEADERS), mutator.bytes(content, 4000)))
        if headers and not chance.randrange(3):
            at = chance.randrange(len(headers))
            headers[at] = (headers[at][0], mutator.bytes(headers[at][1], 4000))
        if not chance.randrange(50):
            value = None
        yield topic, key, value, headers


def records(options):
    from confluent_kafka import Producer
    fleet = Fleet(options)
    fleet.start()
    producer = Producer({"bootstrap.servers": options.brokers, "linger.ms": 20, "queue.buffering.max.messages": 50_000,
                         "queue.buffering.max.kbytes": 200_000, "broker.address.family": "v4"})
    begin = time.monotonic()
    refused = [0]

    def delivered(error, _):
        refused[0] += error is not None

    for number, (topic, key, value, headers) in enumerate(itertools.islice(record_source(fleet, options.seed), options.count)):
        while True:
            try:
                producer.produce(topic, key=key, value=value, headers=headers, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
        if number % 20_000 == 0:
            fleet.check()
            print(f"\r{number} records", end="", file=sys.stderr, flush=True)
    producer.flush(120)
    produced = time.monotonic() - begin
    print(f"\r{options.count} records were produced in {produced:.0f} s; {refused[0]} refused by the broker", file=sys.stderr)
    while (lag := live_lag(fleet)) > 0:
        fleet.check()
        print(f"\r{lag} records to go   ", end="", file=sys.stderr, flush=True)
        time.sleep(2)
        if time.monotonic() - begin > options.patience:
            fleet.fail(f"{lag} records were not consumed within {options.patience} s")
    print(file=sys.stderr)
    fleet.finish(begin, f"{options.count} records")


def live_lag(fleet):
    """The lag of the inputs that the worker itself reports."""
    _, text = ask(f"http://127.0.0.1:{fleet.admin}/metrics")
    lags = re.findall(rb'^remint_consumer_lag_records\{[^}]*invalidations[^}]*\} (\d+)', text, re.M)
    return sum(map(int, lags)) if lags else 1


# Requests

def request_source(fleet, seed):
    """Endless hostile requests: (port, bytes)."""
    reports = [report for _, report in recorded_reports()]
    mutator = Mutator(seed, reports)
    chance = mutator.random
    head = (f"Host: 127.0.0.1:{fleet.http}\r\nX-Api-Key: {fleet.key}\r\n").encode()
    for number in itertools.count():
        app, _ = chance.choice(fleet.apps)
        user = f"u-{chance.randrange(2000)}"
        vouched = b'{"user":"%s"}' % user.encode()
        if not chance.randrange(4):
            vouched = re.sub(rb"[\r\n\x00]", b"", mutator.bytes(vouched, 2000))
        vouched = b"Remint-Vouched: " + vouched + b"\r\n"
        report = chance.choice(reports)
        kind = chance.randrange(7)
        if kind < 3:
            body = mutator.bytes(report) if chance.randrange(3) else report
            call = (b"POST /v1/apps/%s/reports HTTP/1.1\r\n" % app.encode() + head + vouched +
                    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        elif kind < 5:
            value = chance.choice(WORDS + [str(number).encode()] * len(WORDS)).hex()
            value = "".join(f"%{value[at:at + 2]}" for at in range(0, min(len(value), 600), 2))
            name = chance.choice(("after", "wait", "min_life", "challenge", "last_event_id"))
            call = (f"GET /v1/apps/{app}/token?wait=0&{name}={value} HTTP/1.1\r\n".encode() + head + vouched + b"\r\n")
        elif kind == 5:
            path = chance.choice((b"/openapi.json", b"/remint.js", b"/remint.mjs", b"/health/ready", b"/health/live", b"/v1/apps//token", b"*"))
            call = chance.choice((b"GET ", b"HEAD ", b"OPTIONS ", b"PUT ", b"TRACE ")) + path + b" HTTP/1.1\r\n" + head + b"\r\n"
        else:
            path = chance.choice((b"/metrics", b"/status", b"/health/ready", b"/apps/x/resume", b"/", b"/reload"))
            call = (chance.choice((b"GET ", b"POST ")) + path +
                    b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 0\r\n\r\n" % fleet.admin)
            yield fleet.admin, mutator.bytes(call)
            continue
        # Half of the requests are sound HTTP, so that what they carry is read at all.
        yield fleet.http, mutator.bytes(call) if chance.randrange(2) else call


async def send(port, call, answers):
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 10)
    except (OSError, asyncio.TimeoutError):
        answers["no connection"] = answers.get("no connection", 0) + 1
        return
    answer = b""
    try:
        writer.write(call)
        # Half-closed, so that a request cut short is no reason to wait.
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(64), 20)
    except (OSError, asyncio.TimeoutError, RuntimeError):
        answer = b"HTTP/1.1 timeout" if not answer else answer
    finally:
        writer.close()
    match = re.match(rb"HTTP/1\.\d (\w+)", answer)
    status = match.group(1).decode() if match else "closed"
    answers[status] = answers.get(status, 0) + 1


async def send_all(fleet, options, answers):
    source = itertools.islice(request_source(fleet, options.seed), options.count)
    done = 0

    async def one_of_many():
        nonlocal done
        for port, call in source:
            await send(port, call, answers)
            done += 1
            if done % 2_000 == 0:
                fleet.check()
                print(f"\r{done} requests", end="", file=sys.stderr, flush=True)

    await asyncio.gather(*(one_of_many() for _ in range(64)))


def requests(options):
    fleet = Fleet(options)
    fleet.start()
    begin = time.monotonic()
    answers = {}
    asyncio.run(send_all(fleet, options, answers))
    print(f"\ranswers: {dict(sorted(answers.items()))}", file=sys.stderr)
    fleet.finish(begin, f"{options.count} requests")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("records", "requests"))
    parser.add_argument("--remint", default=str(ROOT / ".build/release/remint"))
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=int, default=1800, help="seconds until everything must be consumed")
    chosen = parser.parse_args()
    chosen.count = chosen.count or (1_000_000 if chosen.what == "records" else 100_000)
    (records if chosen.what == "records" else requests)(chosen)

#!/usr/bin/env python3
"""Devices in front of a running gateway: `remint pickup`, a worker and a broker must be up.

    pickup.py calls   --url http://127.0.0.1:8080 --sessions FILE --app braze-ios [--rate 100] [--seconds 30]
    pickup.py hold    … [--devices 10000] [--answered 1000] --pid GATEWAY
    pickup.py returns … [--devices 5000]
    pickup.py streams … [--devices 2000] [--seconds 120]
    pickup.py abuse   … [--devices 10000] --pid GATEWAY: those who only take, while others call
    pickup.py kills   … [--devices 200] [--seconds 120]: devices that report and retry as told while somebody kills gateway and worker;
                      `--url` may name several instances, a comma between: a device whose instance is gone goes to the next
                      (failover.py starts and kills all of them)
    pickup.py rotate  … [--rate 500] [--seconds 60]: sessions of an issuer whose keys are replaced all the time; its key set is served
                      at http://127.0.0.1:9900/jwks.json for `pickup.session.jwks` (needs PyJWT and cryptography)

`--sessions` has a line for each device: the user, a space, its session. Every answer's token is held against its user.
"""
import argparse
import asyncio
import base64
import json
import time


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def claims(token):
    part = token.split(".")[1]
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()


class Device:
    """A connection that is kept, as an HTTP client of a phone keeps it."""

    def __init__(self, host, port, user, session, others=()):
        self.host, self.port, self.user, self.session = host, port, user, session
        self.others = list(others)
        self.reader = self.writer = None

    def move(self):
        """To the next instance, as a load balancer does."""
        if self.others:
            self.others.append((self.host, self.port))
            self.host, self.port = self.others.pop(0)

    async def open(self):
        if self.writer is None or self.writer.is_closing():
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def call(self, method, path, body=b"", headers=(), retry_after=False):
        await self.open()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", f"Authorization: Bearer {self.session}",
                 f"Content-Length: {len(body)}", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode() + body)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        length, later = 0, None
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "retry-after":
                later = int(value)
        text = await self.reader.readexactly(length) if length else b""
        answer = json.loads(text) if text else None
        return (status, answer, later) if retry_after else (status, answer)

    def report(self, options, number):
        """The SDK's report of this device; a number makes each one another failure."""
        return options.report.replace("USER", self.user).replace("NUMBER", str(number)).encode()

    def close(self):
        if self.writer:
            self.writer.close()

    def check(self, answer):
        if self.user not in claims(answer["token"]):
            raise SystemExit(f"another user's token for {self.user}")


async def calls(options, devices):
    latencies, failures, tasks = [], {}, []

    async def one(device, number):
        start = time.perf_counter()
        report = device.report(options, options.run + number)
        status, answer = await device.call("POST", f"/v1/apps/{options.app}/reports", report, ["Prefer: wait=20"])
        if status != 200:
            failures[status] = failures.get(status, 0) + 1
            return
        device.check(answer)
        latencies.append(time.perf_counter() - start)

    begin = time.perf_counter()
    for number in range(options.rate * options.seconds):
        await asyncio.sleep(max(0, begin + number / options.rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(devices[number % len(devices)], number)))
    await asyncio.gather(*tasks)
    print(f"{len(latencies)} calls at {options.rate}/s: p50 {percentile(latencies, .5) * 1000:.0f} ms, "
          f"p99 {percentile(latencies, .99) * 1000:.0f} ms, not answered {failures}")


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) * 1024


async def hold(options, devices):
    before = resident(options.pid)
    versions = {}
    for start in range(0, len(devices), 200):
        part = devices[start:start + 200]
        for device, (status, answer) in zip(part, await asyncio.gather(
                *(device.call("GET", f"/v1/apps/{options.app}/token") for device in part))):
            assert status == 200, (status, answer)
            device.check(answer)
            versions[device.user] = answer["version"]
    tokens = resident(options.pid)

    async def wait(device):
        status, answer = await device.call("GET", f"/v1/apps/{options.app}/token?after={versions[device.user]}&wait=30")
        return time.perf_counter(), status, answer

    waiting = {device: asyncio.create_task(wait(device)) for device in devices}
    await asyncio.sleep(3)
    held = resident(options.pid)
    print(f"{len(devices)} devices: {(tokens - before) / len(devices) / 1000:.1f} kB a connection with its token, "
          f"{(held - tokens) / len(devices) / 1000:.1f} kB more while it waits")
    chosen = devices[:options.answered]
    asking = [Device(device.host, device.port, device.user, device.session) for device in chosen]
    start = time.perf_counter()
    sent = await asyncio.gather(*(device.call(
        "POST", f"/v1/apps/{options.app}/reports",
        device.report(options, options.run)) for device in asking))
    assert all(status in (200, 202) for status, _ in sent), sent[:3]
    ends = await asyncio.gather(*(waiting[device] for device in chosen))
    for device, (_, status, answer) in zip(chosen, ends):
        assert status == 200, (status, answer)
        device.check(answer)
    took = [end - start for end, _, _ in ends]
    print(f"{len(chosen)} of them answered within {max(took):.2f} s of the first report, p50 {percentile(took, .5):.2f} s")
    for device in devices + asking:
        device.close()
    for task in waiting.values():
        task.cancel()


async def returns(options, devices):
    latencies, lives = [], []

    async def one(device):
        start = time.perf_counter()
        status, answer = await device.call("GET", f"/v1/apps/{options.app}/token")
        assert status == 200, (status, answer)
        device.check(answer)
        latencies.append(time.perf_counter() - start)
        lives.append(answer["expires_in"])

    begin = time.perf_counter()
    for start in range(0, len(devices), 500):
        await asyncio.gather(*(one(device) for device in devices[start:start + 500]))
    print(f"{len(devices)} devices came back in {time.perf_counter() - begin:.1f} s: p50 {percentile(latencies, .5) * 1000:.0f} ms, "
          f"p99 {percentile(latencies, .99) * 1000:.0f} ms, shortest life {min(lives)} s")


async def streams(options, devices):
    ended, renewals, dropped = 0, {}, 0
    stop = time.time() + options.seconds

    async def one(device):
        nonlocal ended, dropped
        last, held, until = 0, None, None
        while time.time() < stop:
            try:
                reader, writer = await asyncio.open_connection(device.host, device.port)
                writer.write((f"GET /v1/apps/{options.app}/token/stream?last_event_id={last} HTTP/1.1\r\nHost: x\r\n"
                              f"Authorization: Bearer {device.session}\r\n\r\n").encode())
                while time.time() < stop:
                    line = await asyncio.wait_for(reader.readline(), 20)
                    if line in (b"", b"0\r\n"):  # The last chunk: the stream has come to its age.
                        break
                    if line.startswith(b"data: {\"app\""):
                        answer = json.loads(line[6:])
                        device.check(answer)
                        if held is not None:
                            second = int(time.time())
                            renewals[second] = renewals.get(second, 0) + 1
                            if time.time() > until:
                                ended += 1
                        held, last, until = answer["token"], answer["version"], answer["expires_at"]
                writer.close()
            except (OSError, asyncio.TimeoutError):
                dropped += 1
                await asyncio.sleep(1)

    await asyncio.gather(*(one(device) for device in devices))
    counts = [renewals.get(second, 0) for second in range(min(renewals), max(renewals) + 1)] if renewals else [0]
    mean = sum(counts) / len(counts)
    windows = [sum(counts[i:i + 5]) / 5 for i in range(max(1, len(counts) - 5))]
    print(f"{len(devices)} streams for {options.seconds} s: {sum(counts)} renewals, {mean:.1f} a second, at the peak of five seconds "
          f"{max(windows) / mean if mean else 0:.2f} times the mean; {ended} held an ended token, {dropped} reconnections")


async def kills(options, devices):
    """Each device reports a failure, retries as told until it has the replacement, and reports the next one a second later."""
    answered, retries, longest, slowest, statuses = 0, 0, 0.0, 0.0, {}
    stop = time.time() + options.seconds

    async def replacement(device, report):
        nonlocal retries, slowest
        while True:
            later, start = .5, time.perf_counter()
            try:
                status, answer, after = await asyncio.wait_for(ask(device, report), 30)
                slowest = max(slowest, time.perf_counter() - start)
                if status == 200:
                    return answer
                statuses[status] = statuses.get(status, 0) + 1
                later = after if after is not None else later
            except (OSError, EOFError, IndexError, asyncio.TimeoutError):
                statuses["no answer"] = statuses.get("no answer", 0) + 1
                slowest = max(slowest, time.perf_counter() - start)
                device.close()
                device.move()
            retries += 1
            await asyncio.sleep(later)

    async def ask(device, report):
        return await device.call("POST", f"/v1/apps/{options.app}/reports", report, [f"Prefer: wait={options.wait}"], retry_after=True)

    async def one(device, number):
        nonlocal answered, longest
        version = 0
        while time.time() < stop:
            number += len(devices)
            start = time.perf_counter()
            answer = await replacement(device, device.report(options, options.run + number))
            device.check(answer)
            assert answer["version"] >= version, f"an older token after a newer one for {device.user}"
            version = answer["version"]
            answered += 1
            longest = max(longest, time.perf_counter() - start)
            await asyncio.sleep(1)

    await asyncio.gather(*(one(device, number) for number, device in enumerate(devices)))
    print(f"{len(devices)} devices for {options.seconds} s: {answered} reports answered, each in the end, after {retries} retries "
          f"({statuses}); longest {longest:.1f} s, the slowest call {slowest:.1f} s of a wait of {options.wait} s; "
          "no older token after a newer one, nobody has another's")
    # A second for the machine, and half of one for the brokers to take the event.
    assert slowest < options.wait + 1.5, "a call waited beyond its wait"


class Issuer:
    """A login whose signing key is replaced; the newest two are in the key set, which it serves and counts the fetches of."""

    def __init__(self, name):
        self.name, self.keys, self.fetches = name, [], []

    def replace_key(self):
        from cryptography.hazmat.primitives.asymmetric import ec
        self.keys = [(f"key-{time.time_ns()}", ec.generate_private_key(ec.SECP256R1()))] + self.keys[:1]

    def session(self, user):
        import jwt
        kid, key = self.keys[0]
        now = int(time.time())
        return jwt.encode({"iss": self.name, "sub": user, "iat": now, "exp": now + 600}, key, "ES256", {"kid": kid})

    def key_set(self):
        from jwt.algorithms import ECAlgorithm
        return {"keys": [{**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "alg": "ES256", "use": "sig"}
                         for kid, key in self.keys]}

    async def serve(self, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        self.fetches.append(time.time())
        body = json.dumps(self.key_set()).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()


async def rotate(options, devices):
    issuer = Issuer(options.issuer)
    issuer.replace_key()
    server = await asyncio.start_server(issuer.serve, "127.0.0.1", 9900)
    statuses, later, latencies, tasks, replaced = {}, 0, [], [], 1

    async def one(device, session):
        nonlocal later
        first = time.perf_counter()
        while True:
            device.session = session
            status, answer, after = await device.call("GET", f"/v1/apps/{options.app}/token", retry_after=True)
            if status != 503:
                break
            later += 1
            await asyncio.sleep(after or 1)
        statuses[status] = statuses.get(status, 0) + 1
        if status == 200:
            device.check(answer)
            latencies.append(time.perf_counter() - first)

    begin = time.perf_counter()
    free = asyncio.Queue()
    for device in devices:
        free.put_nowait(device)

    async def turn():
        device = await free.get()
        try:
            await one(device, issuer.session(device.user))
        finally:
            free.put_nowait(device)

    for number in range(options.rate * options.seconds):
        await asyncio.sleep(max(0, begin + number / options.rate - time.perf_counter()))
        if time.perf_counter() - begin > replaced * options.every:
            issuer.replace_key()
            replaced += 1
        tasks.append(asyncio.create_task(turn()))
    await asyncio.gather(*tasks)
    gaps = [b - a for a, b in zip(issuer.fetches, issuer.fetches[1:])]
    print(f"{replaced} keys in {options.seconds} s under {options.rate} calls/s: answers {statuses}, {later} told to come later; "
          f"{len(issuer.fetches)} fetches, the closest {min(gaps, default=float('nan')):.1f} s apart; p99 "
          f"{percentile(latencies, .99) * 1000:.0f} ms, longest {max(latencies):.1f} s")
    server.close()


async def honest(options, devices, stop):
    """Calls for cached tokens, ten a second, until told to stop."""
    took = []
    number = 0
    while not stop.is_set():
        device = devices[number % len(devices)]
        number += 1
        start = time.perf_counter()
        status, answer = await device.call("GET", f"/v1/apps/{options.app}/token")
        assert status == 200, (status, answer)
        device.check(answer)
        took.append(time.perf_counter() - start)
        await asyncio.sleep(.1)
    return took


async def silent(host, port, text=b""):
    """A connection that says so much and no more; how long it was held."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(text)
    try:
        while await reader.read(65536):
            pass
    except OSError:
        pass
    writer.close()
    return time.perf_counter() - start


async def flood(host, port, head, chunk, total):
    """Sends up to so many bytes; how many were taken, and the status that came."""
    reader, writer = await asyncio.open_connection(host, port)
    sent = 0
    try:
        writer.write(head)
        while sent < total and not reader.at_eof():
            writer.write(chunk)
            sent += len(chunk)
            await writer.drain()
    except OSError:
        pass
    try:
        line = await asyncio.wait_for(reader.readline(), 5)
    except (OSError, asyncio.TimeoutError):
        line = b""
    writer.close()
    return sent, int(line.split()[1]) if line.startswith(b"HTTP/") else None


async def trickle(host, port, head, seconds):
    """One byte a second; how long that is borne."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection(host, port)
    try:
        for byte in head:
            writer.write(bytes([byte]))
            await writer.drain()
            if reader.at_eof() or time.perf_counter() - start > seconds:
                break
            await asyncio.sleep(1)
    except OSError:
        pass
    writer.close()
    return time.perf_counter() - start


async def slow_reader(options, device):
    """Opens a stream and never reads it."""
    reader, writer = await asyncio.open_connection(device.host, device.port, limit=1)
    writer.transport.pause_reading()
    writer.write((f"GET /v1/apps/{options.app}/token/stream HTTP/1.1\r\nHost: x\r\n"
                  f"Authorization: Bearer {device.session}\r\n\r\n").encode())
    await writer.drain()
    return writer


async def abuse(options, devices):
    host, port = devices[0].host, devices[0].port
    path = f"/v1/apps/{options.app}"
    others = devices[:20]
    stop = asyncio.Event()
    served = asyncio.create_task(honest(options, others, stop))
    await asyncio.sleep(1)
    before = resident(options.pid)

    half_open = [asyncio.create_task(silent(host, port)) for _ in range(options.open)]
    await asyncio.sleep(3)
    during = resident(options.pid)
    post = f"POST {path}/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {others[0].session}\r\n"
    body = await flood(host, port, (post + f"Content-Length: {1 << 30}\r\n\r\n").encode(), b" " * 65536, 1 << 30)
    chunked = await flood(host, port, (post + "Transfer-Encoding: chunked\r\n\r\n").encode(),
                          b"10000\r\n" + b" " * 65536 + b"\r\n", 1 << 30)
    headers = await flood(host, port, b"GET / HTTP/1.1\r\n", b"X-A: " + b"a" * 1000 + b"\r\n", 1 << 20)
    # Another device than those that call all the time: a connection has one call at a time.
    year = await devices[len(others)].call("GET", f"{path}/token?after=0&wait=31536000")
    slow = [await slow_reader(options, device) for device in devices[:200]]
    vanished = []
    for device in devices[:500]:
        _, writer = await asyncio.open_connection(host, port)
        writer.write((f"GET {path}/token?after={1 << 62}&wait=30 HTTP/1.1\r\nHost: x\r\n"
                      f"Authorization: Bearer {device.session}\r\n\r\n").encode())
        await writer.drain()
        vanished.append(writer)
    await asyncio.sleep(1)
    for writer in vanished:
        writer.transport.abort()
    dripped = await trickle(host, port, b"GET /health/live HTTP/1.1\r\nX-Slow: " + b"a" * 100, 60)
    held = await asyncio.gather(*half_open)
    after = resident(options.pid)
    stop.set()
    took = await served
    for writer in slow:
        writer.transport.abort()
    print(f"{options.open} half-open connections: {(during - before) / options.open / 1000:.1f} kB each, "
          f"let go of after {min(held):.0f} to {max(held):.0f} s")
    print(f"a body of a gigabyte: {body[0] >> 10} kB taken, status {body[1]}; in chunks: {chunked[0] >> 10} kB, status {chunked[1]}")
    print(f"headers of a megabyte: {headers[0] >> 10} kB taken, status {headers[1]}; a byte a second: {dripped:.0f} s")
    print(f"a wait of a year: status {year[0]}; {len(slow)} streams never read, {len(vanished)} waiting clients gone")
    print(f"the others: {len(took)} calls, p99 {percentile(took, .99) * 1000:.0f} ms, longest {max(took) * 1000:.0f} ms; "
          f"memory {before >> 20} MB before, {during >> 20} MB, {after >> 20} MB at the end")
    assert max(held) < 50 and dripped < 50, "connections that say nothing are held"
    assert body[0] < 32 << 20 and chunked[0] < 32 << 20 and headers[0] < 4 << 20, "what has no end is read"
    assert year[0] == 400, year
    assert percentile(took, .99) < options.patience, "the others wait"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["calls", "hold", "returns", "streams", "abuse", "kills", "rotate"])
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--sessions", required=True)
    parser.add_argument("--app", default="braze-ios")
    parser.add_argument("--report", default='{"errorCode":22,"userId":"USER","n":NUMBER}')
    parser.add_argument("--devices", type=int)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--wait", type=int, default=5, help="what each report of `kills` waits, in seconds")
    parser.add_argument("--answered", type=int, default=1000)
    parser.add_argument("--pid", type=int)
    parser.add_argument("--issuer", default="https://login.remint.example")
    parser.add_argument("--every", type=int, default=10, help="how often the issuer's key is replaced, in seconds")
    parser.add_argument("--open", type=int, default=10000, help="half-open connections")
    parser.add_argument("--patience", type=float, default=.5, help="what the others' p99 may be, in seconds")
    options = parser.parse_args()
    # Another failure than those of the runs before, or it is answered by their tokens.
    options.run = int(time.time()) * 1_000_000
    instances = [(host, int(port)) for host, _, port in
                 (url.removeprefix("http://").partition(":") for url in options.url.split(","))]
    with open(options.sessions) as file:
        lines = [line.split() for line in file if line.strip()]
    count = options.devices or len(lines)
    devices = []
    for number, (user, session) in enumerate(lines[:count]):
        first, *others = instances[number % len(instances):] + instances[:number % len(instances)]
        devices.append(Device(*first, user, session, others))
    run = {"calls": calls, "hold": hold, "returns": returns, "streams": streams, "abuse": abuse, "kills": kills, "rotate": rotate}[options.what]
    asyncio.run(run(options, devices))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Devices in front of a running gateway: `remint pickup`, a worker and a broker must be up.

    pickup.py calls   --url http://127.0.0.1:8080 --sessions FILE --app braze-ios [--rate 100] [--seconds 30]
    pickup.py hold    … [--devices 10000] [--answered 1000] --pid GATEWAY
    pickup.py returns … [--devices 5000]
    pickup.py streams … [--devices 2000] [--seconds 120]

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

    def __init__(self, host, port, user, session):
        self.host, self.port, self.user, self.session = host, port, user, session
        self.reader = self.writer = None

    async def open(self):
        if self.writer is None or self.writer.is_closing():
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def call(self, method, path, body=b"", headers=()):
        await self.open()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}", f"Authorization: Bearer {self.session}",
                 f"Content-Length: {len(body)}", *headers, "", ""]
        self.writer.write("\r\n".join(lines).encode() + body)
        await self.writer.drain()
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        text = await self.reader.readexactly(length) if length else b""
        return status, json.loads(text) if text else None

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
                    if not line:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["calls", "hold", "returns", "streams"])
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--sessions", required=True)
    parser.add_argument("--app", default="braze-ios")
    parser.add_argument("--report", default='{"errorCode":22,"userId":"USER","n":NUMBER}')
    parser.add_argument("--devices", type=int)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--answered", type=int, default=1000)
    parser.add_argument("--pid", type=int)
    options = parser.parse_args()
    # Another failure than those of the runs before, or it is answered by their tokens.
    options.run = int(time.time()) * 1_000_000
    host, _, port = options.url.removeprefix("http://").partition(":")
    with open(options.sessions) as file:
        lines = [line.split() for line in file if line.strip()]
    count = options.devices or len(lines)
    devices = [Device(host, int(port), user, session) for user, session in lines[:count]]
    run = {"calls": calls, "hold": hold, "returns": returns, "streams": streams}[options.what]
    asyncio.run(run(options, devices))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Two workers and two gateways on a cluster, killed under load one after the other, with its brokers: `pickup.py kills` beside it.

    failover.py --folder DIR --remint PROGRAM --brokers HOST:PORT,… [--replication 3] [--devices 200] [--seconds 120] [--every 6]
                [--kill-broker 'COMMAND kill N' --start-broker 'COMMAND start N' --broker-numbers 1,2,3] [--seed 1]

Makes a configuration, topics, sessions; starts the processes; kills one of them every so many seconds with SIGKILL and starts it again a
second later, the same ones for the same seed; `N` in the brokers' commands is a broker's number. It fails where a device gets an older token
after a newer one or another user's, where a call waits beyond its `wait`, or where a gateway is not ready again at the end. Needs
confluent-kafka, PyJWT and cryptography.
"""
import argparse
import json
import pathlib
import random
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from hostile import ask, free_port  # noqa: E402
from start import Stage, clean, load  # noqa: E402

ISSUER = "https://login.remint.example"


def sessions(folder, users):
    """The key set of an issuer, and a file with a session for each of so many users."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec
    from jwt.algorithms import ECAlgorithm
    key = ec.generate_private_key(ec.SECP256R1())
    public = {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "session", "alg": "ES256", "use": "sig"}
    (folder / "jwks.json").write_text(json.dumps({"keys": [public]}))
    now = int(time.time())
    names = [f"device-{number}" for number in range(users)]
    lines = [f"{name} " + jwt.encode({"iss": ISSUER, "sub": name, "iat": now, "exp": now + 7200}, key, "ES256", {"kid": "session"})
             for name in names]
    (folder / "sessions").write_text("\n".join(lines) + "\n")


class Fleet(Stage):
    """Several workers and gateways with one configuration, each with ports of its own."""

    def configure_instance(self, name):
        text = (self.folder / "shop" / "template.yaml").read_text()
        ports = {"ADMIN": free_port(), "HTTP": free_port(), "METRICS": free_port()}
        for word, value in {**ports, "CACHE": self.options.cache}.items():
            text = text.replace(word, str(value))
        file = self.folder / "shop" / f"{name}.yaml"
        file.write_text(text)
        return file, ports

    def begin(self, name, command):
        self.instances = getattr(self, "instances", {})
        if name not in self.instances:
            self.instances[name] = (command, *self.configure_instance(name))
        command, file, _ = self.instances[name]
        log = open(self.folder / f"{name}.log", "a")
        self.processes[name] = subprocess.Popen([self.options.remint, command, "--config", str(file)], stdout=log, stderr=log)

    def is_ready(self, name):
        command, _, ports = self.instances[name]
        port = ports["HTTP" if command == "pickup" else "ADMIN"]
        return ask(f"http://127.0.0.1:{port}/health/ready", timeout=5)[0] == 200


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--remint", required=True)
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--replication", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--devices", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--every", type=float, default=6)
    parser.add_argument("--wait", type=int, default=5)
    parser.add_argument("--app", default="onesignal-shop")
    parser.add_argument("--report", default='{"externalId":"USER","n":NUMBER}')
    parser.add_argument("--kill-broker", default="")
    parser.add_argument("--start-broker", default="")
    parser.add_argument("--broker-numbers", default="1,2,3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", default="64MB")
    options = parser.parse_args()
    options.tokens = 0
    folder = pathlib.Path(options.folder).resolve()
    fleet = Fleet(options)
    keys = folder.with_name(folder.name + "-sessions")
    keys.mkdir(exist_ok=True)
    sessions(keys, options.devices)
    fleet.make(f"  session: {{ issuer: {ISSUER}, jwks: '{keys}/jwks.json' }}\n"
               f"  apps: {{ {options.app}: {{ issuer: {ISSUER} }} }}\n")
    try:
        play(fleet, options, keys)
    finally:
        for process in fleet.processes.values():
            process.kill()
    clean(fleet, options)


def play(fleet, options, keys):
    targets = ["worker-a", "worker-b", "gateway-a", "gateway-b"]
    for name in targets:
        fleet.begin(name, "run" if name.startswith("worker") else "pickup")
    begin = time.monotonic()
    for name in targets:
        fleet.until(lambda: fleet.is_ready(name), begin)
    urls = ",".join(f"http://127.0.0.1:{fleet.instances[name][2]['HTTP']}" for name in targets[2:])
    devices = subprocess.Popen(
        [sys.executable, str(pathlib.Path(__file__).with_name("pickup.py")), "kills", "--url", urls, "--sessions", str(keys / "sessions"),
         "--app", options.app, "--report", options.report, "--seconds", str(options.seconds), "--wait", str(options.wait)])
    chance, kills = random.Random(options.seed), {}
    numbers = options.broker_numbers.split(",") if options.kill_broker else []
    end = time.monotonic() + options.seconds
    # The devices finish what they began after their time: nobody is killed any more.
    while time.monotonic() + options.every < end and devices.poll() is None:
        time.sleep(options.every)
        target = chance.choice(targets + [f"broker-{number}" for number in numbers])
        kind, _, number = target.partition("-")
        kills[kind] = kills.get(kind, 0) + 1
        if kind == "broker":
            subprocess.run(shlex.split(options.kill_broker.replace("N", number)), check=True, capture_output=True)
            time.sleep(1)
            subprocess.run(shlex.split(options.start_broker.replace("N", number)), check=True, capture_output=True)
        else:
            fleet.processes[target].kill()
            fleet.processes[target].wait()
            time.sleep(1)
            fleet.begin(target, None)
    status = devices.wait()
    begin = time.monotonic()
    for name in targets:
        fleet.until(lambda: fleet.is_ready(name), begin)
    print(f"killed: {kills}; all four are ready again; {load()}")
    if status:
        raise SystemExit(status)


if __name__ == "__main__":
    main()

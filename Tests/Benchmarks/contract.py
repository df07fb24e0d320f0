#!/usr/bin/env python3
"""A running gateway against its own description: Schemathesis before `remint pickup`, a worker and a broker.

    contract.py --folder DIR --remint PROGRAM [--schemathesis PROGRAM] [--brokers HOST:PORT] [--examples 300] [--seed 1]

Makes a configuration, topics of its own and sessions, and has Schemathesis send what config/openapi.json allows and what it forbids: by a
session, by a backend's key, and by nobody. No answer may be 5xx, or have a status, headers or a body that the description lacks. Streams
are left out: they do not end. Waits are cut to a second. Ends with 1 where anything fails. Needs Schemathesis 4, confluent-kafka, PyJWT and
cryptography.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from failover import ISSUER, sessions  # noqa: E402
from hostile import ask  # noqa: E402
from start import Stage, clean, load  # noqa: E402

# What valid requests are not always accepted: a report that matches the description may still be no report of the app's vendor.
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
          "response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,ignored_auth")

# Loaded by Schemathesis: most requests are for apps that there are, waits are short, and a backend names users.
HOOKS = '''
import os
import random
import re

import schemathesis

APPS = os.environ["CONTRACT_APPS"].split(",")


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    app, chance = (path_parameters or {}).get("app"), random.Random(str(path_parameters))
    # What is no valid name stays: it must be refused.
    if isinstance(app, str) and 0 < len(app) < 129 and chance.random() < .8:
        path_parameters["app"] = chance.choice(APPS)
    return path_parameters


@schemathesis.hook
def map_body(context, body):
    chance = random.Random(str(body))
    # Every other object becomes a report that one of the vendors' SDKs could have made for this user.
    if isinstance(body, dict) and chance.random() < .5:
        user, number = os.environ["CONTRACT_USER"], chance.randrange(1 << 40)
        return chance.choice([
            {"errorCode": 22, "reason": "EXPIRED", "userId": user, "n": number}, {"externalId": user, "n": number},
            {"code": "JWT_TOKEN_EXPIRED", "message": "the token has expired", "externalUserId": user, "n": number},
            {"nonce": str(number), "userId": user}])
    return body


@schemathesis.hook
def map_query(context, query):
    if query and str(query.get("wait")) in [str(second) for second in range(2, 31)]:
        query["wait"] = 1
    return query


@schemathesis.hook
def map_headers(context, headers):
    for name in list(headers or {}):
        if name.lower() == "prefer":
            headers[name] = re.sub(r"wait=([0-9]+)", lambda found: "wait=1" if 1 < int(found[1]) < 31 else found[0], str(headers[name]))
    return headers
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--remint", required=True)
    parser.add_argument("--schemathesis", default="schemathesis")
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--cache", default="64MB")
    options = parser.parse_args()
    options.tokens = 0
    folder = pathlib.Path(options.folder).resolve()
    keys = folder.with_name(folder.name + "-sessions")
    keys.mkdir(exist_ok=True)
    sessions(keys, 1)
    stage = Stage(options)
    apps = ["braze-ios", "onesignal-shop", "dotdigital-push", "infobip-mobile"]
    stage.make(f"  refused_rate: 100000\n  session: {{ issuer: {ISSUER}, jwks: '{keys}/jwks.json' }}\n  apps:\n"
               + "".join(f"    {app}: {{ issuer: {ISSUER} }}\n" for app in apps))
    try:
        failed = play(stage, options, keys, apps)
    finally:
        for process in stage.processes.values():
            process.kill()
    clean(stage, options)
    raise SystemExit(1 if failed else 0)


def play(stage, options, keys, apps):
    begin = stage.launch("worker", "run")
    stage.until(lambda: ask(f"http://127.0.0.1:{stage.admin}/health/ready")[0] == 200, begin)
    begin = stage.launch("gateway", "pickup")
    stage.until(lambda: ask(f"http://127.0.0.1:{stage.http}/health/ready")[0] == 200, begin)
    hooks = keys / "contract_hooks.py"
    hooks.write_text(HOOKS)
    _, session = (keys / "sessions").read_text().split()
    callers = {
        "session": ("device-0", [f"Authorization: Bearer {session}"]),
        "backend": ("ann", [f"X-Api-Key: {stage.key}", 'Remint-Vouched: {"user":"ann"}']),
        "nobody": ("ann", []),
    }
    failed = False
    for name, (user, headers) in callers.items():
        begin, log = time.monotonic(), keys / f"{name}.log"
        # A good key beside a bad session is let in, as the description says: one of them is enough.
        checks = CHECKS if name == "session" else CHECKS.removesuffix(",ignored_auth")
        command = [options.schemathesis, "run", f"http://127.0.0.1:{stage.http}/openapi.json", "--checks", checks, "--exclude-tag",
                   "stream", "--max-examples", str(options.examples), "--seed", str(options.seed), "--no-color",
                   "--continue-on-failure", "--suppress-health-check", "all"]
        for header in headers:
            command += ["--header", header]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=keys,
            env={**os.environ, "SCHEMATHESIS_HOOKS": str(hooks), "CONTRACT_APPS": ",".join(apps), "CONTRACT_USER": user})
        log.write_text(done.stdout + done.stderr)
        cases = re.findall(r"^\s+(?:Test cases:|\d+ generated).*|^Test cases:.*\n(?:  .*\n)*", done.stdout, re.M)
        print(f"{name}: exit {done.returncode} in {time.monotonic() - begin:.0f} s; {' '.join(' '.join(cases).split())}; {log}; {load()}")
        failed = failed or done.returncode != 0
    answers = ask(f"http://127.0.0.1:{stage.metrics}/metrics")[1].decode()
    for call, status, count in sorted(re.findall(r'remint_pickup_answers_total{call="(\w+)",status="(\d+)"} (\d+)', answers)):
        print(f"  {call} {status}: {count}")
    status = json.loads(ask(f"http://127.0.0.1:{stage.http}/health/ready")[1])
    print(f"the gateway at the end: {status['status']}")
    alive = all(process.poll() is None for process in stage.processes.values())
    return failed or not alive or status["status"] != "ready"


if __name__ == "__main__":
    main()

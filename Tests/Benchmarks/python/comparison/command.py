"""The command line of compare.py."""

import argparse
import json
import pathlib
import signal
import sys

from confluent_kafka import KafkaException

from . import mint, worker
from .figures import Trouble

ALGORITHMS = ["RS256", "ES256", "HS256"]


def main(here):
    options = parser(here).parse_args()
    options.algorithms = ALGORITHMS if options.algorithm == "all" else [options.algorithm]
    options.here = here
    options.bench = options.bench or str(pathlib.Path(options.remint).with_name("remint-bench"))
    for program, target in [(options.remint, "release"), (options.bench, "bench")]:
        if not pathlib.Path(program).exists():
            print(f"no {program}; build it with: make {target}", file=sys.stderr)
            return 2
    # Topics and processes are taken away on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        result = options.compare(options)
    except (Trouble, KafkaException, TimeoutError) as trouble:
        print(f"compare: {str(trouble) or 'the broker did not answer in time'}", file=sys.stderr)
        return 1
    print(json.dumps(result.json, indent=2) if options.json else result.table)
    return 1 if options.check and not result.met else 0


def parser(here):
    root = here.parent.parent
    top = argparse.ArgumentParser(prog="compare.py", description="Remint beside its peers.")
    commands = top.add_subparsers(required=True, metavar="mint|worker")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turns (5)")
    common.add_argument("--remint", default=str(root / ".build/release/remint"), help="the program, a release build")
    common.add_argument("--bench", help="the program of measurements (remint-bench beside --remint)")
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--check", action="store_true", help="exit 1 where a target is missed")

    one = commands.add_parser("mint", parents=[common], help="tokens a second, beside jwt-kit")
    one.add_argument("--algorithm", choices=["all", *ALGORITHMS], default="all")
    one.add_argument("--seconds", type=float, default=1, help="how long each measurement takes (1)")
    one.add_argument("--threads", type=positive, default=1, help="how many sign at once (1)")
    one.set_defaults(compare=mint.compare)

    two = commands.add_parser("worker", parents=[common], help="events a second, beside a worker in Python")
    two.add_argument("--brokers", required=True, help="host:port of a cluster with transactions")
    two.add_argument("--algorithm", choices=["all", *ALGORITHMS], default="HS256")
    two.add_argument("--events", type=positive, help="events of distinct users (20000, 100000, 200000 by algorithm)")
    two.add_argument("--processes", type=positive, default=2, help="processes of the Python worker (2)")
    two.add_argument(
        "--subjects", default="remint,peer", help="some of remint, peer and relay, which is librdkafka alone (remint,peer)")
    two.add_argument(
        "--transaction-events", type=positive, default=worker.TRANSACTION_EVENTS,
        help="the most events of a transaction of the relay's (12000, as Remint's)")
    two.add_argument("--transaction-seconds", type=float, default=worker.TRANSACTION_SECONDS, help=argparse.SUPPRESS)
    two.set_defaults(compare=worker.compare)
    return top


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number

"""Tokens a second: remint-bench mint and jwt-kit, with the same keys."""

import json
import pathlib
import subprocess
import sys
import tempfile

from .figures import Result, Spread, Trouble, is_met, judgement, table
from .keys import write_key

TARGETS = {"RS256": 1.0, "ES256": 2.0, "HS256": 15.0}


def compare(options):
    peer = options.here / ".build/release/jwt-kit-peer"
    if not peer.exists():
        raise Trouble(f"no {peer}; build it with: swift build -c release --package-path {options.here}")
    comparisons = [compare_one(algorithm, peer, options) for algorithm in options.algorithms]
    rows = [
        [
            one["algorithm"], one["remint"].text(".0f"), one["peer"].text(".0f"), one["ratio"].text(".2f"),
            judgement(one["ratio"], one["target"]), one["limit_ratio"].text(".2f"),
        ]
        for one in comparisons
    ]
    heads = ["ALGORITHM", "REMINT tokens/s", "jwt-kit tokens/s", "RATIO", "TARGET", "LIBCRYPTO ALONE / jwt-kit"]
    title = f"{options.rounds} rounds of {options.seconds:g} s, {options.threads} thread(s); median (low to high)\n\n"
    met = all(is_met(one["ratio"], one["target"]) for one in comparisons)
    return Result(title + table(heads, rows), report(comparisons, options), met)


def report(comparisons, options):
    def one(comparison):
        spreads = {name: comparison[name].json for name in ("remint", "peer", "ratio", "limit_ratio")}
        return {**comparison, **spreads, "met": is_met(comparison["ratio"], comparison["target"])}

    return {
        "benchmark": "mint", "peer": "jwt-kit", "rounds": options.rounds, "seconds": options.seconds,
        "threads": options.threads, "results": [one(comparison) for comparison in comparisons],
    }


def compare_one(algorithm, peer, options):
    """Both by turns, the first of each round being the last of the one before."""
    with tempfile.TemporaryDirectory(prefix="remint-bench-") as folder:
        key = pathlib.Path(folder) / "key"
        write_key(algorithm, key)
        turns = [lambda: remint_rates(algorithm, key, options), lambda: peer_rates(algorithm, key, peer, options)]
        rounds = []
        for number in range(options.rounds):
            rates = {}
            for measure in turns if number % 2 == 0 else turns[::-1]:
                rates |= measure()
            rounds.append(rates)
            print(f"{algorithm} round {number + 1}: {rates['remint']:.0f} {rates['peer']:.0f}", file=sys.stderr)
    return {
        "algorithm": algorithm, "target": TARGETS[algorithm],
        "remint": Spread([rates["remint"] for rates in rounds]), "peer": Spread([rates["peer"] for rates in rounds]),
        "ratio": Spread([rates["remint"] / rates["peer"] for rates in rounds]),
        "limit_ratio": Spread([rates["limit"] / rates["peer"] for rates in rounds]),
    }


def remint_rates(algorithm, key, options):
    """Remint's own, and libcrypto's alone, with which remint-bench mint takes turns."""
    answer = run([
        options.bench, "mint", "--algorithm", algorithm, "--rounds", "1", "--seconds", f"{options.seconds:g}",
        "--key", key, "--json",
    ])
    for result in answer["results"]:
        if result["threads"] == options.threads:
            return {"remint": result["tokens_per_second"]["median"], "limit": result["raw_per_second"]["median"]}
    raise Trouble(f"remint-bench mint has no figure for {options.threads} thread(s)")


def peer_rates(algorithm, key, peer, options):
    answer = run([
        peer, "--algorithm", algorithm, "--seconds", f"{options.seconds:g}", "--threads", str(options.threads),
        "--key", key,
    ])
    return {"peer": answer["tokens_per_second"]}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return json.loads(done.stdout)

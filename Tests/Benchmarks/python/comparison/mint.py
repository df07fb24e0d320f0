"""Tokens a second: remint bench mint and jwt-kit, with the same keys."""

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
            judgement(one["ratio"], one["target"]),
        ]
        for one in comparisons
    ]
    heads = ["ALGORITHM", "REMINT tokens/s", "jwt-kit tokens/s", "RATIO", "TARGET"]
    title = f"{options.rounds} rounds of {options.seconds:g} s, {options.threads} thread(s); median (low to high)\n\n"
    met = all(is_met(one["ratio"], one["target"]) for one in comparisons)
    return Result(title + table(heads, rows), report(comparisons, options), met)


def report(comparisons, options):
    def one(comparison):
        spreads = {name: comparison[name].json for name in ("remint", "peer", "ratio")}
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
        measure = {
            "remint": lambda: remint_rate(algorithm, key, options),
            "peer": lambda: peer_rate(algorithm, key, peer, options),
        }
        rates = {"remint": [], "peer": []}
        for number in range(options.rounds):
            for name in ["remint", "peer"] if number % 2 == 0 else ["peer", "remint"]:
                rates[name].append(measure[name]())
            print(f"{algorithm} round {number + 1}: {rates['remint'][-1]:.0f} {rates['peer'][-1]:.0f}", file=sys.stderr)
    return {
        "algorithm": algorithm, "remint": Spread(rates["remint"]), "peer": Spread(rates["peer"]),
        "ratio": Spread([ours / theirs for ours, theirs in zip(rates["remint"], rates["peer"])]),
        "target": TARGETS[algorithm],
    }


def remint_rate(algorithm, key, options):
    answer = run([
        options.remint, "bench", "mint", "--algorithm", algorithm, "--rounds", "1", "--seconds", f"{options.seconds:g}",
        "--key", key, "--json",
    ])
    for result in answer["results"]:
        if result["threads"] == options.threads:
            return result["tokens_per_second"]["median"]
    raise Trouble(f"remint bench mint has no figure for {options.threads} thread(s)")


def peer_rate(algorithm, key, peer, options):
    answer = run([
        peer, "--algorithm", algorithm, "--seconds", f"{options.seconds:g}", "--threads", str(options.threads),
        "--key", key,
    ])
    return answer["tokens_per_second"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))}\n{done.stderr.strip()}")
    return json.loads(done.stdout)

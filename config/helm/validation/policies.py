"""Checkov's policies for Kubernetes, over everything that the chart can render."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

from .cases import CASES
from .chart import VERSIONS, Chart

ACCEPTED = pathlib.Path(__file__).with_name("policies.yaml")
RENDERED = [("defaults", VERSIONS[-1]), ("everything", VERSIONS[-1]), ("everything", VERSIONS[0]), ("signer and topics", VERSIONS[-1])]


def results(folder):
    """Runs Checkov over a folder, without its network. Returns the failed checks and the number of passed ones."""
    command = [sys.executable, "-m", "checkov.main", "--framework", "kubernetes", "--directory", str(folder)]
    program = subprocess.run([*command, "--skip-download", "--quiet", "--output", "json"], capture_output=True, text=True)
    try:
        report = json.loads(program.stdout)
    except json.JSONDecodeError:
        sys.exit(f"checkov printed no report; install it: make policies\n{program.stderr[-2000:]}")
    if report["summary"]["parsing_errors"]:
        sys.exit(f"checkov cannot read {report['results']['parsing_errors']}")
    return report["results"]["failed_checks"], report["summary"]["passed"]


def main():
    accepted = yaml.safe_load(ACCEPTED.read_text())
    used, unexplained, explained, passed = set(), [], 0, 0
    for name, version in RENDERED:
        with tempfile.TemporaryDirectory() as folder:
            manifests = Chart().manifests(CASES[name], version)
            (pathlib.Path(folder) / "manifests.yaml").write_text(yaml.safe_dump_all(manifests))
            failed, good = results(folder)
        passed += good
        for check in failed:
            resource = check["resource"]
            fitting = [i for i, e in enumerate(accepted) if e["check"] == check["check_id"] and re.fullmatch(e["objects"], resource)]
            used.update(fitting)
            explained += 1 if fitting else 0
            if not fitting:
                unexplained.append(f"{name}, Kubernetes {version}: {check['check_id']} {check['check_name']}: {resource}")
    unneeded = [accepted[i] for i in range(len(accepted)) if i not in used or not accepted[i].get("reason")]
    for finding in unexplained:
        print(finding)
    for entry in unneeded:
        print(f"policies.yaml: no finding needs {entry['check']} of {entry['objects']}, or it has no reason")
    print(f"{passed} checks passed, {explained} findings explained, {len(unexplained)} not explained, {len(unneeded)} entries unneeded")
    return 1 if unexplained or unneeded or not passed else 0

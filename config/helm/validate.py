#!/usr/bin/env python3
"""Renders the chart with Helm's own library, with each value and for each version of Kubernetes, and checks every manifest.

Needs helm-python-sdk and kubernetes-validate (make setup-packages). Prints a line for each case, and exits with 1 if anything is wrong.
With a folder as argument it leaves the rendered configurations there, for remint check. With --policies it runs Checkov's policies
instead, which needs checkov (make policies).
"""

import collections
import pathlib
import sys
import tempfile

import helm_python

from validation import behavior, health, manifests, refused, rings, values
from validation.cases import CASES
from validation.chart import VERSIONS, Chart


class Report:
    """The findings so far."""

    def __init__(self):
        self.findings = 0

    def add(self, subject, problems):
        problems = list(problems)
        self.findings += len(problems)
        print("\n  ".join([f"{subject}: {'ok' if not problems else ''}".rstrip(), *problems]))


def render(chart, report, out):
    """Renders every case for every version."""
    for name, case in CASES.items():
        for version in VERSIONS:
            found = chart.manifests(case, version)
            kinds = collections.Counter(manifest["kind"] for manifest in found)
            problems = [flaw for manifest in found for flaw in manifests.flaws(manifest, version)]
            problems += manifests.references(found)
            problems += chart.lint(case, version) if version == VERSIONS[-1] else []
            counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
            report.add(f"{name}, Kubernetes {version}: {len(found)} manifests ({counts})", problems)
        if out:
            leave(found, name, out)


def leave(found, name, out):
    """Writes the configurations of a case that no other case has. One with TLS needs a certificate, which is not here."""
    written = {file.read_text() for file in out.iterdir()}
    for manifest in found:
        text = manifest["data"]["remint.yaml"] if manifest["kind"] == "ConfigMap" else None
        if text and text not in written and "certificate:" not in text:
            file = f"{name}-{manifest['metadata']['name']}.yaml".replace(" ", "-").replace("'", "")
            (out / file).write_text(text)


def packaged():
    """Yields what is wrong with the archive that helm package makes."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Chart().chart.save(folder)
        helm_python.expand(folder, archive)
        chart = Chart(pathlib.Path(folder) / "remint")
        files = {file["name"] for file in chart.chart.files}
        if "files/remint.rules.yaml" not in files or any(name.startswith(("valid", "ring")) for name in files):
            yield f"the archive has the files {sorted(files)}"
        if chart.manifests(CASES["everything"], VERSIONS[-1]) != Chart().manifests(CASES["everything"], VERSIONS[-1]):
            yield "the archive renders other manifests than the folder"


def main():
    arguments = sys.argv[1:]
    if arguments == ["--policies"]:
        from validation import policies

        return policies.main()
    out = pathlib.Path(arguments[0]) if arguments else None
    chart, report = Chart(), Report()
    render(chart, report, out)
    for check in behavior.CHECKS:
        report.add(f"behavior: {check.__name__}", check(chart))
    report.add("the test of health", health.flaws(chart))
    report.add("the script for key rings", rings.flaws(chart))
    report.add(f"{len(refused.REFUSED)} refused values", refused.flaws(chart))
    report.add("values.yaml and its schema", values.flaws())
    report.add("the archive", packaged())
    print(f"{chart.renders} renders of {len(CASES)} cases for Kubernetes {', '.join(VERSIONS)}: {report.findings} findings")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Packs the chart as Helm does, and as an OCI archive.

    chart.py --version 1.2.0 --epoch SECONDS --out FOLDER

Leaves remint-VERSION.tgz, for `helm install`, and remint-chart-VERSION.oci.tar, for a registry. A file that .helmignore names stays out,
and so does Python, which is for the validation. Shell scripts stay: templates read files/health.sh. Needs PyYAML.
"""
import argparse
import fnmatch
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import oci  # noqa: E402

try:
    import yaml
except ImportError:
    sys.exit("PyYAML is not installed; `make release-artifacts` installs it in .build/tools")

CHART = pathlib.Path(__file__).resolve().parents[1] / "helm"
CONFIG = "application/vnd.cncf.helm.config.v1+json"
CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
DROPPED = ["*.py", "__pycache__/*", ".helmignore"]


def files():
    """The chart's files, by their paths in it."""
    ignored = CHART / ".helmignore"
    lines = ignored.read_text().splitlines() if ignored.exists() else []
    patterns = DROPPED + [line.strip().lstrip("/") for line in lines if line.strip() and not line.startswith(("#", "!"))]
    for path in sorted(CHART.rglob("*")):
        name = path.relative_to(CHART).as_posix()
        forms = [name, path.name, *(f"{parent}/" for parent in pathlib.PurePosixPath(name).parents)]
        if path.is_file() and not any(fnmatch.fnmatch(form, pattern) for form in forms for pattern in patterns):
            yield name, path.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", required=True, type=int)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    found = dict(files())
    about = yaml.safe_load(found["Chart.yaml"])
    if {about["version"], about["appVersion"]} != {options.version}:
        sys.exit(f"{CHART}/Chart.yaml has version {about['version']} and appVersion {about['appVersion']}, the program {options.version}; "
                 f"write them: config/release/version {options.version}")
    tar = oci.tar_of([oci.Entry(f"{about['name']}/{name}", data=data) for name, data in found.items()], options.epoch)
    package = oci.packed(tar)
    archive = options.out / f"{about['name']}-{options.version}.tgz"
    archive.write_bytes(package)
    layout = oci.Layout()
    notes = {
        "org.opencontainers.image.title": about["name"], "org.opencontainers.image.version": options.version,
        "org.opencontainers.image.description": about["description"],
        "org.opencontainers.image.created": oci.time_text(options.epoch),
    }
    manifest = layout.manifest(layout.add(json.dumps(about, sort_keys=True).encode(), CONFIG),
                               [layout.add(package, CONTENT)], notes)
    layout.manifests = [{**manifest, "annotations": {"org.opencontainers.image.ref.name": options.version}}]
    layout.write(options.out / f"{about['name']}-chart-{options.version}.oci.tar", options.epoch)
    print(f"{archive}: {len(found)} files; {manifest['digest']}")


if __name__ == "__main__":
    main()

"""The chart, rendered by Helm's own library."""

import json
import pathlib

import helm_python
import yaml
from helm_python import _native

FOLDER = pathlib.Path(__file__).resolve().parent.parent
# The oldest version of Kubernetes that the chart is for, one in between, and the newest with a long support.
VERSIONS = ["1.25", "1.30", "1.33"]
RELEASE, NAMESPACE = "r", "remint"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Chart:
    """The chart of a folder."""

    def __init__(self, folder=FOLDER):
        self.folder = str(folder)
        self.chart = helm_python.Chart.load(self.folder)
        self.renders = 0

    def texts(self, values, version, install=True):
        """Returns the rendered texts by path, as a cluster of that version gets them."""
        self.renders += 1
        # Chart.render has no argument for the version.
        options = {"name": RELEASE, "namespace": NAMESPACE, "is_install": install, "is_upgrade": not install}
        options["kube_version"] = f"v{version}.0"
        rendered = _native.call_string("helm_render", self.chart._raw(), json.dumps(values), json.dumps(options))
        return json.loads(rendered)

    def manifests(self, values, version, install=True):
        """Returns the manifests, in the order of their files."""
        texts = self.texts(values, version, install)
        paths = sorted(path for path in texts if path.endswith(".yaml"))
        return [document for path in paths for document in yaml.load_all(texts[path], LOADER) if document]

    def notes(self, values, version):
        return next(text for path, text in self.texts(values, version).items() if path.endswith("NOTES.txt"))

    def lint(self, values, version):
        """Yields the findings of helm lint that are warnings or errors."""
        report = helm_python.lint(self.folder, values, strict=True, kube_version=f"v{version}.0")
        for message in report["messages"]:
            if message["severity"] > 1:
                yield message["error"]

    def refusal(self, values, version="1.33"):
        """Returns the error with which Helm refuses the values; None if it accepts them."""
        try:
            self.manifests(values, version)
        except helm_python.HelmError as error:
            return str(error)
        return None


def merged(*parts):
    """Returns the parts as one dictionary; the later ones win."""
    result = {}
    for part in parts:
        for key, value in part.items():
            old = result.get(key)
            result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def named(manifests, kind, name):
    """Returns the manifest of that kind and name; None if there is none."""
    found = (m for m in manifests if (m["kind"], m["metadata"]["name"]) == (kind, name))
    return next(found, None)

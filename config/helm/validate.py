#!/usr/bin/env python3
"""Renders the chart with Helm's own library and holds every manifest against Kubernetes' schemas.

Needs helm-python-sdk and kubernetes-validate (pip). Prints a line for each manifest, and ends with 1 where something is wrong.
With a folder it leaves the rendered configurations there, for `remint check`.
"""

import json
import pathlib
import sys

import helm_python
import kubernetes_validate
import yaml

CHART = pathlib.Path(__file__).resolve().parent
# The oldest that the chart is for, and the newest that is known here.
VERSIONS = ["1.25", "1.30", "1.33"]

SCALING = {"enabled": True, "min": 3, "max": 24, "authentication": "kafka"}
# What the chart is rendered with: its defaults, and everything that it can do.
CASES = {
    "defaults": {},
    "fleets": {
        "adminToken": "remint-admin",
        "podAnnotations": {"prometheus.io/scrape": "true"},
        "nodeSelector": {"disk": "none"},
        "tolerations": [{"key": "remint", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "registry"}],
        "workers": {
            "main": {"scaling": SCALING, "secrets": {"vendors": "remint-vendors"}},
            "other": {
                "replicas": 1,
                "config": {
                    "kafka": {"group": "other"},
                    "keys": {"Inbox.2": {"path": "/etc/remint/keys/Inbox.2"}},
                    "apps": {"inbox": {"adapter": "infobip", "key": "Inbox.2", "settings": {"application_code": "A"}}},
                },
                "keyRings": {"Inbox.2": "other-inbox"},
                "podDisruptionBudget": {"minAvailable": "50%"},
            },
        },
        "gateway": {"enabled": True, "secrets": {"seal": "remint-seal"}, "service": {"type": "LoadBalancer"}},
    },
    "workers-alone": {"gateway": {"enabled": False}},
}
# What the schema of the values refuses.
REFUSED = [
    {"workers": {"main": {"replica": 3}}},
    {"workers": {"Main": {"config": {}}}},
    {"workers": {"main": {"scaling": {"enabled": "yes"}}}},
    {"image": {"repository": ""}},
    {"gateways": {}},
]
# What KEDA asks of a ScaledObject and its kafka trigger, which Kubernetes' schemas do not know.
TRIGGER = {"bootstrapServers", "consumerGroup", "topic", "lagThreshold"}


def documents(chart, values):
    """The manifests, in the order of their files."""
    manifests = chart.render(values, name="r", namespace="remint", is_install=True)
    return [d for path in sorted(manifests) for d in yaml.safe_load_all(manifests[path]) if d]


def flaws(document):
    """What is wrong with a manifest."""
    if document["kind"] == "ScaledObject":
        spec = document["spec"]
        if not {"scaleTargetRef", "minReplicaCount", "maxReplicaCount", "triggers"} <= set(spec):
            yield "a member is missing"
        for trigger in spec["triggers"]:
            if trigger["type"] != "kafka" or not TRIGGER <= set(trigger["metadata"]):
                yield f"the trigger lacks something: {trigger}"
            if not all(isinstance(value, str) for value in trigger["metadata"].values()):
                yield "metadata holds texts alone"
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{version}: {error.message} at {list(error.path)}"


def references(found):
    """Names that one manifest says and another should have."""
    names = {(d["kind"], d["metadata"]["name"]) for d in found}
    for document in found:
        name = document["metadata"]["name"]
        if document["kind"] == "ScaledObject" and ("StatefulSet", document["spec"]["scaleTargetRef"]["name"]) not in names:
            yield f"{name} scales what is not there"
        if document["kind"] not in ("StatefulSet", "Deployment"):
            continue
        pod = document["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        mounts = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        if volumes != mounts:
            yield f"{name}: volumes and mounts differ: {volumes ^ mounts}"
        labels = document["spec"]["template"]["metadata"]["labels"]
        for other in found:
            spec = other.get("spec") or {}
            selector = spec.get("selector", {})
            selector = selector.get("matchLabels", selector)
            same = other["metadata"]["name"] == name
            if selector and same != (selector.items() <= labels.items()):
                yield f"{other['kind']} {other['metadata']['name']} and the pods of {name} do not fit"


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
    wrong = 0

    def tell(what, problems):
        nonlocal wrong
        problems = list(problems)
        wrong += len(problems)
        print(f"{what}: {'; '.join(problems) or 'ok'}")

    chart = helm_python.Chart.load(str(CHART))
    for name, values in CASES.items():
        report = helm_python.lint(str(CHART), values, strict=True)
        tell(f"lint {name}", [message["error"] for message in report["messages"] if message["severity"] > 1])
        found = documents(chart, values)
        for document in found:
            tell(f"{name} {document['kind']} {document['metadata']['name']}", flaws(document))
            if out and document["kind"] == "ConfigMap":
                (out / f"{name}-{document['metadata']['name']}.yaml").write_text(document["data"]["remint.yaml"])
        tell(f"{name}: what they say of each other", references(found))
    for values in REFUSED:
        try:
            documents(chart, values)
            tell(f"refused {json.dumps(values)}", ["it was taken"])
        except helm_python.HelmError:
            tell(f"refused {json.dumps(values)}", [])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

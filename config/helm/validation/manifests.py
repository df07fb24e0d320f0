"""What every manifest must be: valid for Kubernetes and the operators, and consistent with the others."""

import functools
import json

import jsonschema
import kubernetes_validate

STRING, NUMBER = {"type": "string"}, {"type": "integer"}


def members(required, **properties):
    return {"type": "object", "required": required, "properties": properties}


def exactly(required, **properties):
    return {**members(required, **properties), "additionalProperties": False}


LABELS = {"type": "object", "additionalProperties": STRING}
# The kinds of operators, which Kubernetes' schemas do not have: the members that the chart uses.
CUSTOM = {
    "ScaledObject": exactly(
        ["scaleTargetRef", "minReplicaCount", "maxReplicaCount", "triggers"],
        scaleTargetRef=exactly(["apiVersion", "kind", "name"], apiVersion=STRING, kind=STRING, name=STRING),
        minReplicaCount=NUMBER,
        maxReplicaCount=NUMBER,
        advanced={"type": "object"},
        triggers={
            "type": "array",
            "items": exactly(
                ["type", "metadata"],
                type={"const": "kafka"},
                metadata={**LABELS, "required": ["bootstrapServers", "consumerGroup", "topic", "lagThreshold"]},
                authenticationRef=exactly(["name"], name=STRING),
            ),
        },
    ),
    "ServiceMonitor": exactly(
        ["selector", "endpoints"],
        selector=exactly(["matchLabels"], matchLabels=LABELS),
        namespaceSelector=exactly(["matchNames"], matchNames={"type": "array", "items": STRING}),
        endpoints={
            "type": "array",
            "items": exactly(
                ["port", "path"],
                port=STRING, path=STRING, interval=STRING, scrapeTimeout=STRING, scheme={"enum": ["http", "https"]},
                tlsConfig={"type": "object"},
                authorization=exactly(["credentials"], credentials=exactly(["name", "key"], name=STRING, key=STRING)),
            ),
        },
    ),
    "PrometheusRule": exactly(
        ["groups"],
        groups={
            "type": "array",
            "items": exactly(
                ["name", "rules"],
                name=STRING, interval=STRING,
                rules={
                    "type": "array",
                    "items": exactly(
                        ["expr"],
                        alert=STRING, record=STRING, expr=STRING, labels=LABELS, annotations=LABELS, **{"for": STRING},
                    ),
                },
            ),
        },
    ),
    "HTTPRoute": exactly(
        ["parentRefs", "rules"],
        parentRefs={"type": "array", "minItems": 1, "items": members(["name"], name=STRING, namespace=STRING)},
        hostnames={"type": "array", "items": STRING},
        rules={
            "type": "array",
            "items": exactly(
                ["matches", "backendRefs"],
                matches={"type": "array"},
                backendRefs={"type": "array", "items": exactly(["name", "port"], name=STRING, port=NUMBER)},
                timeouts=exactly([], request=STRING, backendRequest=STRING),
            ),
        },
    ),
}


def flaws(manifest, version):
    """Yields what a cluster of that version would refuse."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    if not manifest["metadata"].get("namespace"):
        yield f"{kind} {name} has no namespace"
    if kind in CUSTOM:
        for error in jsonschema.Draft7Validator(CUSTOM[kind]).iter_errors(manifest["spec"]):
            yield f"{kind} {name}: {error.message} at {list(error.path)}"
        return
    error = refusal(json.dumps(manifest, sort_keys=True), version)
    if error:
        yield f"{kind} {name}: {version}: {error}"


@functools.cache
def refusal(manifest, version):
    """Returns the error of Kubernetes' schemas; None if there is none. Most cases share most manifests."""
    try:
        kubernetes_validate.validate(json.loads(manifest), version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{error.message} at {list(error.path)}"
    return None


def pods(manifest):
    """Returns the metadata and the specification of a manifest's pods; None if it has none."""
    if manifest["kind"] == "Pod":
        return manifest["metadata"], manifest["spec"]
    template = (manifest.get("spec") or {}).get("template") if isinstance(manifest.get("spec"), dict) else None
    return (template["metadata"], template["spec"]) if template else None


def references(manifests):
    """Yields names that one manifest uses and no other has."""
    names = {(m["kind"], m["metadata"]["name"]) for m in manifests}
    if len(names) != len(manifests):
        yield "two manifests have one kind and name"
    for manifest in manifests:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        spec = manifest.get("spec") or {}
        if "scaleTargetRef" in spec and (spec["scaleTargetRef"]["kind"], spec["scaleTargetRef"]["name"]) not in names:
            yield f"{name} scales an object that does not exist"
        for rule in spec.get("rules", []) if manifest["kind"] in ("Ingress", "HTTPRoute") else []:
            services = [b["name"] for b in rule.get("backendRefs", [])]
            services += [p["backend"]["service"]["name"] for p in rule.get("http", {}).get("paths", [])]
            for service in services:
                if ("Service", service) not in names:
                    yield f"{name} sends calls to the missing service {service}"
        found = pods(manifest)
        if found:
            yield from (f"{name}: {flaw}" for flaw in pod_flaws(found[1], names))
    yield from selections(manifests)


def pod_flaws(spec, names):
    volumes = [volume["name"] for volume in spec.get("volumes", [])]
    containers = spec["containers"] + spec.get("initContainers", [])
    mounts = {mount["name"] for container in containers for mount in container.get("volumeMounts", [])}
    if set(volumes) != mounts or len(set(volumes)) != len(volumes):
        yield f"volumes and mounts differ: {sorted(set(volumes) ^ mounts)}"
    for volume in spec.get("volumes", []):
        config = volume.get("configMap", {}).get("name")
        if config and ("ConfigMap", config) not in names:
            yield f"the ConfigMap {config} does not exist"
    for container in containers:
        paths = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
        if len(paths) != len(set(paths)):
            yield f"{container['name']}: two volumes have one path"
        if any(mount.get("subPath") for mount in container.get("volumeMounts", [])):
            yield f"{container['name']}: a change does not arrive in a mount with subPath"


def selections(manifests):
    """Yields selectors that select no pods, or the pods of another component."""
    templates = [(m["metadata"]["name"], pods(m)[0]["labels"]) for m in manifests if pods(m)]
    for manifest in manifests:
        spec = manifest.get("spec") or {}
        selector = spec.get("podSelector") or spec.get("selector") or {}
        selector = selector.get("matchLabels", selector)
        if not selector:
            continue
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        selected = [pod for pod, labels in templates if selector.items() <= labels.items()]
        expected = manifest["metadata"]["name"].removesuffix("-metrics")
        if selected != [expected]:
            yield f"{name} selects the pods of {selected or 'nothing'}"

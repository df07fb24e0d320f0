"""The values themselves: each one has a schema and is in values.yaml, and a case sets it."""

import json
import re

import yaml

from .cases import CASES
from .chart import FOLDER


def paths(schema, definitions, prefix=()):
    """Yields the paths of the values that the schema names. The fleets' name is *."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rsplit("/", 1)[1]]
    inner = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict) and "$ref" in schema["additionalProperties"]:
        inner["*"] = schema["additionalProperties"]
    for name, value in inner.items():
        yield prefix + (name,)
        if prefix + (name,) != ("workers", "*", "config") and prefix[-1:] + (name,) != ("gateway", "config"):
            yield from paths(value, definitions, prefix + (name,))


def has(values, path):
    for index, name in enumerate(path):
        if name == "*":
            return any(has(value or {}, path[index + 1 :]) for value in values.values())
        if not isinstance(values, dict) or name not in values:
            return False
        values = values[name]
    return True


def default(path):
    """Returns the path of a worker's value in workerDefaults."""
    return ("workerDefaults",) + path[2:] if path[:2] == ("workers", "*") else path


def shared(path, names):
    """Returns the path of the chart's own value that a worker's or the gateway's replaces; None for another path."""
    rest = path[2:] if path[:2] == ("workers", "*") else path[1:] if path[:1] == ("gateway",) else ()
    return rest if rest and rest[0] in names else None


def flaws():
    schema = json.loads((FOLDER / "values.schema.json").read_text())
    text = (FOLDER / "values.yaml").read_text()
    values = yaml.safe_load(text)
    all_paths = [p for p in paths(schema, schema["definitions"]) if p[0] != "global"]
    if len(all_paths) < 150:
        yield f"the schema names {len(all_paths)} values"
    pod = {"podLabels", "podAnnotations", "nodeSelector", "tolerations", "affinity", "priorityClassName", "extraEnv"}
    pod |= {"extraEnvFrom", "extraVolumes", "extraVolumeMounts", "topologySpreadConstraints", "serviceAccount"}
    # Members of a value that Kubernetes or another value defines.
    blobs = {"affinity", "resources", "podDisruptionBudget", "timeouts"}
    for path in all_paths:
        dotted = ".".join(path)
        isBlob = any(name in blobs for name in path[:-1]) or path[-1] == "config" and path[:2] == ("workers", "*")
        if not isBlob and not shared(path, pod) and not has(values, path) and not has(values, default(path)):
            yield f"values.yaml does not have {dotted}"
        if not any(has(case, path) for case in CASES.values()) and not isBlob and not has(values, path):
            if not shared(path, pod):
                yield f"no case sets {dotted}"
    yield from undocumented(text)
    yield from misnamed(values)


def misnamed(values):
    """Yields values that KUBERNETES.md names and the chart does not have."""
    page = (FOLDER.parent / "KUBERNETES.md").read_text()
    roots = set(values) - {"config"}
    for text in sorted(set(re.findall(r"`([A-Za-z]+(?:\.[A-Za-z]+)*)(?::[^`]*)?`", page))):
        path = tuple(text.split("."))
        if path[0] in roots and not has(values, path):
            yield f"KUBERNETES.md names the value {text}, which does not exist"


def undocumented(text):
    """Yields keys of values.yaml that have no comment and whose group has none."""
    documented, stack = False, []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"^( *)([A-Za-z_-]+):", line)
        if line.strip().startswith("#"):
            documented = True
        elif not line.strip():
            documented = False
        elif match:
            depth = len(match[1])
            stack = [entry for entry in stack if entry[0] < depth]
            if not documented and not any(entry[1] for entry in stack) and depth < 4 and match[2] not in SELF_EVIDENT:
                yield f"values.yaml:{number}: {match[2]} has no comment"
            stack.append((depth, documented))
            documented = False


# Their names are their meaning.
SELF_EVIDENT = {"image", "repository", "pullPolicy", "gateway", "enabled", "monitoring", "main", "labels"}

"""What the chart does with its values: restarts, grace periods, networks, containers and notes."""

import ast
import json
import re

import yaml

from .cases import BUDGET, KNOBS, LOOKUP, POD
from .chart import FOLDER, RELEASE, VERSIONS, merged, named
from .manifests import pods

NEWEST = VERSIONS[-1]
# Keys that the chart sets itself, and the whole of apps and keys, which have a check of their own.
SET_BY_CHART = {"admin.listen", "admin.hosts", "admin.token_file", "admin.open", "kafka.instance", "pickup.listen", "pickup.metrics"}


def expect(condition, text):
    return [] if condition else [text]


def workload(manifests, component):
    kind = "Deployment" if component == "gateway" else "StatefulSet"
    return named(manifests, kind, f"{RELEASE}-{component}")


def checksum(manifests, component):
    return pods(workload(manifests, component))[0]["annotations"]["checksum/config"]


def restarting_keys():
    """Returns the keys of OPERATION.md's table that need a restart."""
    page = (FOLDER.parent / "OPERATION.md").read_text()
    table = page[page.index("Some keys need a restart.") :]
    table = table[: table.index("\n## ")]
    return {key for row in re.findall(r"^\| (`.*?) \|", table, re.M) for key in re.findall(r"`([a-z_.*]+)`", row)}


def leaves(schema, path=()):
    """Yields the configuration's keys, each with a value of its type. Apps and rings have a check of their own."""
    for name, value in schema.get("properties", {}).items():
        if not path and name in ("apps", "keys", "tests"):
            continue
        if value.get("properties"):
            yield from leaves(value, path + (name,))
        elif name == "bootstrap_servers":
            yield path + (name,), "other:9093"
        else:
            yield path + (name,), {"more": {}} if "additionalProperties" in value else "7s"


def restarts(chart):
    """Yields keys whose change replaces pods although it need not, and keys whose change does not although it must."""
    keys = restarting_keys()
    schema = json.loads((FOLDER.parent / "remint.schema.json").read_text())
    before = chart.manifests({}, NEWEST)
    changes = [(path, value) for path, value in leaves(schema) if ".".join(path) not in SET_BY_CHART]
    if len(changes) < 50 or len(keys) < 25:
        yield f"only {len(changes)} keys and {len(keys)} keys that need a restart were found"
    for path, value in changes:
        for name in reversed(path):
            value = {name: value}
        after = chart.manifests({"workers": {"main": {"config": value}}, "gateway": {"config": value}}, NEWEST)
        key = ".".join(path)
        needed = any(key == k or key.startswith(k + ".") for k in keys)
        component = "gateway" if path[0] == "pickup" else "worker-main"
        if (checksum(before, component) != checksum(after, component)) != needed:
            yield f"{key}: a change {'must' if needed else 'need not'} replace the pods of {component}"
    yield from named_restarts(chart, before, keys)


def named_restarts(chart, before, keys):
    """Yields the same for the keys of apps and rings."""
    wanted = {"keys.*.signer", "keys.*.policy", "apps.*.topics"}
    yield from expect(wanted <= keys, f"OPERATION.md no longer has {wanted - keys}")
    changes = {
        "apps.*.topics": ({"apps": {"shop-ios": {"topics": ["a"]}}}, True),
        "keys.*.policy": ({"keys": {"shop-ios": {"policy": {"longest_life": "1h"}}}}, True),
        "keys.*.signer": ({"keys": {"more": {"signer": "/run/other.sock"}}}, True),
        "apps.*.lifetime": ({"apps": {"shop-ios": {"lifetime": "1h"}}}, False),
        "apps.more": ({"apps": {"more": {"adapter": "braze", "key": "shop-ios"}}}, False),
    }
    for key, (config, needed) in changes.items():
        after = chart.manifests({"workers": {"main": {"config": config}}}, NEWEST)
        if (checksum(before, "worker-main") != checksum(after, "worker-main")) != needed:
            yield f"{key}: a change {'must' if needed else 'need not'} replace the pods"
    always = {"restartOnConfigChange": "always"}
    lifetime = {"workers": {"main": {"config": changes["apps.*.lifetime"][0]}}}
    pair = [checksum(chart.manifests(v, NEWEST), "worker-main") for v in (always, merged(always, lifetime))]
    yield from expect(pair[0] != pair[1], "restartOnConfigChange: always does not replace the pods")


def grace(chart):
    def seconds(values, component):
        return pods(workload(chart.manifests(values, NEWEST), component))[1]["terminationGracePeriodSeconds"]

    slow = {"config": {"worker": {"shutdown_deadline": "2m"}}}
    drain = {"gateway": {"config": {"pickup": {"drain": "1500ms"}}, "preStopSeconds": 3}}
    for values, component, expected in [
        ({}, "worker-main", 45), ({}, "gateway", 45), (slow, "worker-main", 140), (slow, "gateway", 140), (drain, "gateway", 40),
        (KNOBS["worker"], "worker-main", 90),
    ]:
        found = seconds(values, component)
        yield from expect(found == expected, f"the grace period of {component} is {found}, not {expected}")
    for version, action in (("1.25", "exec"), ("1.30", "sleep")):
        container = pods(workload(chart.manifests(drain, version), "gateway"))[1]["containers"][0]
        yield from expect(list(container["lifecycle"]["preStop"]) == [action], f"{version}: preStop is no {action}")


def networks(chart):
    def ports(manifests, component, direction):
        rules = named(manifests, "NetworkPolicy", f"{RELEASE}-{component}")["spec"][direction]
        return sorted({port["port"] for rule in rules for port in rule["ports"]})

    closed = chart.manifests({}, NEWEST)
    asking = chart.manifests(KNOBS["look-ups"], NEWEST)
    scraped = chart.manifests(KNOBS["monitors"], NEWEST)
    file = {"gateway": {"config": {"pickup": {"session": {"jwks": "/etc/remint/config/keys.json"}}}}}
    silent = chart.manifests(file, NEWEST)
    for what, found, expected in [
        ("a worker without look-ups connects to", ports(closed, "worker-main", "egress"), [53, 9093]),
        ("a worker with look-ups connects to", ports(asking, "worker-main", "egress"), [53, 443, 9093]),
        ("a gateway whose keys are at a URL connects to", ports(closed, "gateway", "egress"), [53, 443, 9093]),
        ("a gateway whose keys are a file connects to", ports(silent, "gateway", "egress"), [53, 9093]),
        ("the clients of a gateway reach", ports(closed, "gateway", "ingress"), [8080]),
        ("Prometheus and clients reach a gateway at", ports(scraped, "gateway", "ingress"), [8080, 9465]),
        ("Prometheus reaches a worker at", ports(scraped, "worker-main", "ingress"), [9464]),
    ]:
        yield from expect(found == expected, f"{what} {found}, not {expected}")
    rules = named(asking, "NetworkPolicy", f"{RELEASE}-worker-main")["spec"]["egress"]
    blocks = {to["ipBlock"]["cidr"] for rule in rules if rule["ports"][0]["port"] == 443 for to in rule["to"]}
    yield from expect(blocks == {"0.0.0.0/0", "::/0"}, f"look-ups reach the addresses {blocks}")
    test = {"app.kubernetes.io/component": "test"}
    rule = named(closed, "NetworkPolicy", f"{RELEASE}-worker-main")["spec"]["ingress"]
    labels = rule[0]["from"][0]["podSelector"]["matchLabels"]
    yield from expect(len(rule) == 1 and test.items() <= labels.items(), "others than helm test reach a closed worker")


def admin(chart):
    """Yields ways in which the admin server is open although it must not be."""
    for name, values in KNOBS.items():
        for manifest in chart.manifests(values, NEWEST):
            text = manifest.get("data", {}).get("remint.yaml") if manifest["kind"] == "ConfigMap" else None
            config = yaml.safe_load(text) if text else {}
            if "admin" not in config:
                continue
            isOpen = values.get("admin", {}).get("open", False)
            if config["admin"].get("open", False) != isOpen or ("token_file" in config["admin"]) == isOpen:
                yield f"{name}: the admin server of {manifest['metadata']['name']} is {config['admin']}"


def signers(chart):
    for version in VERSIONS:
        manifests = chart.manifests(KNOBS["signer"], version)
        spec = pods(workload(manifests, "worker-main"))[1]
        containers = {c["name"]: c for c in spec["containers"] + spec["initContainers"]}
        worker, signer = containers["remint"], containers["signer"]
        rings = [[m["mountPath"] for m in c["volumeMounts"] if "/keys/" in m["mountPath"]] for c in (worker, signer)]
        yield from expect(rings == [[], ["/etc/remint/keys/shop-ios"]], f"{version}: the rings are mounted at {rings}")
        isSidecar = version != "1.25"
        found = ("restartPolicy" in signer, signer in spec["initContainers"])
        yield from expect(found == (isSidecar, isSidecar), f"{version}: the signer is in the wrong list")
        yield from expect(signer["securityContext"]["runAsUser"] != 65532, f"{version}: the signer has the worker's account")
        texts = {n: named(manifests, "ConfigMap", f"{RELEASE}-worker-main{n}")["data"]["remint.yaml"] for n in ("", "-signer")}
        configs = {name: yaml.safe_load(text) for name, text in texts.items()}
        keys = [configs[name]["keys"]["shop-ios"] for name in ("", "-signer")]
        ring = {"path": "/etc/remint/keys/shop-ios", "policy": {"longest_life": "12h"}}
        yield from expect(keys == [{"signer": "/run/remint/signer.sock"}, ring], f"{version}: the rings are {keys}")
        yield from expect(LOOKUP["endpoint"] not in texts["-signer"], "the signer gets the look-ups")
        more = merged(KNOBS["signer"], KNOBS["pods of components"])
        spec = pods(workload(chart.manifests(more, version), "worker-main"))[1]
        containers = {c["name"]: c for c in spec["containers"] + spec["initContainers"]}
        worker, signer = containers["remint"], containers["signer"]
        for part in ("env", "envFrom"):
            yield from expect(signer[part] == worker[part], f"{version}: {part} of the signer is not the worker's")
        mounts = POD["extraVolumeMounts"]
        yield from expect(all(m in signer["volumeMounts"] for m in mounts), f"{version}: the signer lacks mounts of extraVolumeMounts")


def notes(chart):
    """Yields commands of the notes that name objects or options which do not exist."""
    for name, values in KNOBS.items():
        manifests = chart.manifests(values, NEWEST)
        names = {(m["kind"].lower(), m["metadata"]["name"]) for m in manifests}
        pod = {w["metadata"]["name"] + "-0" for w in manifests if w["kind"] == "StatefulSet"}
        text = chart.notes(values, NEWEST)
        for kind, object in re.findall(r"(statefulset|service|pod)/([a-z0-9-]+)", text):
            if (kind, object) not in names and object not in pod:
                yield f"{name}: the notes name the missing {kind} {object}"
        for object in re.findall(r" exec ([a-z0-9-]+) --container remint ", text):
            yield from expect(object in pod, f"{name}: the notes name the missing pod {object}")
        commands = [line for line in text.splitlines() if line.startswith("  ")]
        yield from expect(commands, f"{name}: the notes have no command")
        yield from expect("<no value>" not in text and "%!" not in text, f"{name}: the notes have a hole")
        yield from expect(max(map(len, text.splitlines())) < 200, f"{name}: a line of the notes is too long")


def alerts(chart):
    rules = yaml.safe_load((FOLDER.parent / "prometheus/remint.rules.yaml").read_text())
    found = named(chart.manifests(KNOBS["alerts"], NEWEST), "PrometheusRule", f"{RELEASE}-alerts")["spec"]
    links = json.dumps(found).count("https://a.example/r/OPERATION.md#")
    yield from expect(links == json.dumps(rules).count("runbook_url"), f"{links} alerts link to the runbook")
    written = json.loads(json.dumps(rules).replace("https://docs.example.com/remint/", "https://a.example/r/"))
    yield from expect(found == written, "the alerts differ from config/prometheus")


def budgets(chart):
    for version in VERSIONS:
        budget = named(chart.manifests({"gateway": {"podDisruptionBudget": BUDGET}}, version), "PodDisruptionBudget", "r-gateway")
        evicts = "unhealthyPodEvictionPolicy" in budget["spec"]
        yield from expect(evicts == (version != "1.25"), f"{version}: unhealthyPodEvictionPolicy is {evicts}")


def defaults(chart):
    """Yields values of workerDefaults that a worker does not get, or that win over the worker's own."""
    manifests = chart.manifests(KNOBS["defaults of workers"], NEWEST)
    sets = {name: workload(manifests, name) for name in ("worker-main", "worker-other")}
    replicas = {name: found["spec"].get("replicas") for name, found in sets.items()}
    yield from expect(replicas == {"worker-main": None, "worker-other": 1}, f"the replicas are {replicas}")
    signers = {name: "signer" in json.dumps(pods(found)[1]) for name, found in sets.items()}
    yield from expect(signers == {"worker-main": True, "worker-other": False}, f"the signers are {signers}")
    common = {"config": {"kafka": {"insecure": True}}, "workers": {"main": {"config": {"kafka": {"insecure": False}}}}}
    text = named(chart.manifests(common, NEWEST), "ConfigMap", f"{RELEASE}-worker-main")["data"]["remint.yaml"]
    yield from expect(yaml.safe_load(text)["kafka"]["insecure"] is False, "a worker's false does not win over config")


def programs(chart):
    """Yields programs that containers run and the image of a release does not have."""
    tree = ast.parse((FOLDER.parent / "release/image.py").read_text())
    tools = next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "TOOLS")
    known = {f"{folder}/{name}" for names in tools.values() for name in names for folder in ("/bin", "/usr/bin")}
    found = set()
    for version in VERSIONS:
        for values in (KNOBS["signer"], KNOBS["worker"]):
            text = json.dumps([pods(m)[1] for m in chart.manifests(values, version) if pods(m)])
            found.update(re.findall(r'"command": \["([^"]+)"', text))
    yield from expect(len(found) >= 3 and found <= known, f"the image of a release lacks one of {sorted(found)}")


CHECKS = [restarts, grace, networks, admin, signers, notes, alerts, budgets, defaults, programs]

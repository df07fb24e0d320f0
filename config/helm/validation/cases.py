"""The values that the chart is rendered with: its defaults, each knob alone, and all of them together."""

from .chart import merged

DIGEST = "sha256:" + "0" * 64
PEERS = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
OAUTH = {"source": "file", "token_file": "/var/run/kafka/token"}
BROKERS = {"config": {"kafka": {"oauth": OAUTH, "properties": {"security.protocol": "sasl_ssl"}}}}
BUDGET = {"minAvailable": 1}
# A second fleet, whose ring has a name that no volume can have.
OTHER = {
    "replicas": 1,
    "config": {
        "kafka": {"group": "other"},
        "keys": {"Inbox.2": {"path": "/etc/remint/keys/Inbox.2"}},
        "apps": {"inbox": {"adapter": "infobip", "key": "Inbox.2", "settings": {"application_code": "A"}}},
    },
    "keyRings": {"Inbox.2": "other-inbox"},
    "podDisruptionBudget": {"minAvailable": "50%"},
}
LOOKUP = {"mode": "verify", "endpoint": "https://rest.example.com", "key_file": "/etc/remint/secrets/vendors/rest-key"}


def worker(**values):
    return {"workers": {"main": values}}


def gateway(**values):
    return {"gateway": values}


TOKEN = {"name": "kafka-token", "projected": {"sources": [{"serviceAccountToken": {"audience": "kafka", "path": "token"}}]}}
POD = {
    "podLabels": {"team": "identity"},
    "podAnnotations": {"sidecar.istio.io/inject": "false"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "remint", "operator": "Exists"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
            }
        },
        "podAffinity": {},
        "podAntiAffinity": {},
    },
    "priorityClassName": "tokens",
    "extraEnv": [{"name": "REMINT_REGION", "value": "eu"}],
    "extraEnvFrom": [{"configMapRef": {"name": "brokers"}}],
    "extraVolumes": [TOKEN],
    "extraVolumeMounts": [{"name": "kafka-token", "mountPath": "/var/run/kafka", "readOnly": True}],
    "topologySpreadConstraints": [
        {
            "maxSkew": 2,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "remint"}},
        }
    ],
}
ACCOUNT = {"create": True, "annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/remint"}}
SCALING = {
    "enabled": True, "min": 3, "max": 24, "liveLag": 100, "bulkLag": 1000, "topic": "live", "bulkTopic": "bulk",
    "authentication": "kafka",
}
RESOURCES = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
METRICS = [{"type": "Pods", "pods": {"metric": {"name": "streams"}, "target": {"type": "AverageValue", "averageValue": "9k"}}}]
TLS = {"certificate": "/etc/remint/secrets/tls/tls.crt", "key": "/etc/remint/secrets/tls/tls.key"}

KNOBS = {
    "image": {"image": {"repository": "registry.example.com/remint", "tag": "1", "digest": DIGEST, "pullPolicy": "Always"}},
    "tag": {"image": {"tag": "0.2.0", "pullPolicy": "Never"}},
    "pull secrets": {"imagePullSecrets": [{"name": "registry"}]},
    "IPv6": {"ipFamily": "IPv6"},
    "always restart": {"restartOnConfigChange": "always"},
    "labels": {"labels": {"team": "identity"}},
    **{name: {name: value} for name, value in POD.items() if not name.startswith("extraVolume")},
    "volumes": {"extraVolumes": POD["extraVolumes"], "extraVolumeMounts": POD["extraVolumeMounts"], **BROKERS},
    "accounts": {"serviceAccount": ACCOUNT},
    "existing account": {"serviceAccount": {"create": False, "name": "existing"}},
    "namespace's account": {"serviceAccount": {"create": False}},
    "accounts of components": merged(worker(serviceAccount=ACCOUNT), gateway(serviceAccount={"name": "edge", "create": False})),
    "pods of components": merged(worker(**POD), gateway(**POD)),
    "admin token": {"admin": {"tokenSecret": "remint-admin"}},
    "admin open": {"admin": {"open": True}},
    "admin TLS": {"workers": {"main": {"config": {"admin": {"tls": TLS, "hosts": ["r.example.com"]}}, "secrets": {"tls": "tls"}}}},
    "monitors": {
        "admin": {"tokenSecret": "remint-admin"},
        "monitoring": {"serviceMonitor": {"enabled": True, "labels": {"release": "p"}, "interval": "15s", "scrapeTimeout": "10s"}},
        "networkPolicy": {"prometheus": PEERS},
    },
    "monitors without token": {
        "admin": {"open": True},
        "monitoring": {"serviceMonitor": {"enabled": True}},
        "networkPolicy": {"enabled": False},
    },
    "monitors with TLS": {
        "admin": {"tokenSecret": "remint-admin"},
        "monitoring": {"serviceMonitor": {"enabled": True, "tlsConfig": {"ca": {"secret": {"name": "ca", "key": "ca.crt"}}}}},
        "networkPolicy": {"prometheus": PEERS},
        "workers": {"main": {"config": {"admin": {"tls": TLS}}, "secrets": {"tls": "tls"}}},
    },
    "alerts": {"monitoring": {"prometheusRule": {"enabled": True, "labels": {"a": "b"}, "runbookUrl": "https://a.example/r/"}}},
    "no network policy": {"networkPolicy": {"enabled": False}},
    "network policy": {
        "networkPolicy": {
            "prometheus": PEERS,
            "clients": [{"ipBlock": {"cidr": "0.0.0.0/0"}}],
            "dns": PEERS,
            "brokers": {"to": [{"podSelector": {"matchLabels": {"app": "kafka"}}}], "ports": [9092, 9093]},
            "https": {"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [443, 8443]},
            "extraIngress": [{"ports": [{"port": 1, "protocol": "TCP"}]}],
            "extraEgress": [{"ports": [{"port": 4318, "protocol": "TCP"}]}],
        }
    },
    "look-ups": worker(config={"apps": {"shop-ios": {"lookup": LOOKUP}}}, secrets={"vendors": "remint-vendors"}),
    "topics": {
        "topicsHook": {
            "enabled": True, "partitions": 24, "replication": 2, "backoffLimit": 0, "activeDeadlineSeconds": 60,
            "resources": RESOURCES,
        }
    },
    "topics without policy": {"topicsHook": {"enabled": True}, "networkPolicy": {"enabled": False}},
    "fleets": {"workers": {"other": OTHER}},
    "no gateway": {"gateway": {"enabled": False}},
    "no workers": {"workers": {"main": None}},
    "worker": worker(
        replicas=3, resources=RESOURCES, podDisruptionBudget=BUDGET, preStopSeconds=5, files={"acme.yaml": "a: 1\n"},
        terminationGracePeriodSeconds=90,
    ),
    "signer": worker(
        signer={"enabled": True, "resources": RESOURCES},
        config={"keys": {"shop-ios": {"policy": {"longest_life": "12h"}}}, "apps": {"shop-ios": {"lookup": LOOKUP}}},
        secrets={"vendors": "remint-vendors"}, files={"acme.yaml": "a: 1\n"},
    ),
    "scaling": worker(scaling=SCALING),
    "defaults of workers": {
        "workerDefaults": {
            "replicas": 4, "files": {"acme.yaml": ""}, "secrets": {"vendors": "vendors"}, "resources": RESOURCES,
            "podDisruptionBudget": BUDGET, "preStopSeconds": 1, "terminationGracePeriodSeconds": 50, "scaling": SCALING,
            "signer": {"enabled": True, "resources": RESOURCES},
        },
        "workers": {"other": merged(OTHER, {"replicas": 1, "signer": {"enabled": False}, "scaling": {"enabled": False}})},
    },
    "gateway": gateway(
        replicas=3, resources=RESOURCES, podDisruptionBudget=BUDGET, preStopSeconds=5, secrets={"seal": "remint-seal"},
        files={"acme.yaml": "a: 1\n"}, terminationGracePeriodSeconds=120,
    ),
    "no budgets": merged(worker(podDisruptionBudget={"enabled": False}), gateway(podDisruptionBudget={"maxUnavailable": "25%"})),
    "load balancer": gateway(
        service={
            "type": "LoadBalancer", "port": 443, "annotations": {"a": "b"}, "loadBalancerClass": "nlb",
            "externalTrafficPolicy": "Local",
        }
    ),
    "gateway TLS": gateway(config={"pickup": {"tls": TLS, "drain": "1m"}}, secrets={"tls": "tls"}),
    "autoscaling": gateway(autoscaling={"enabled": True, "min": 3, "max": 30, "cpu": 50, "memory": 80, "metrics": METRICS}),
    "ingress": gateway(
        ingress={
            "enabled": True, "className": "nginx", "annotations": {"a": "b"}, "hosts": ["a.example.com", "b.example.com"],
            "path": "/tokens", "tls": [{"secretName": "a", "hosts": ["a.example.com"]}],
        }
    ),
    "route": gateway(
        route={
            "enabled": True, "annotations": {"a": "b"}, "parentRefs": [{"name": "public", "namespace": "infra"}],
            "hostnames": ["a.example.com"], "path": "/tokens", "timeouts": {"request": "0s", "backendRequest": "0s"},
        }
    ),
}
ALTERNATIVES = {
    "tag", "existing account", "namespace's account", "admin open", "admin TLS", "monitors without token", "monitors with TLS",
    "no network policy", "topics without policy", "no gateway", "no workers", "no budgets", "defaults of workers",
}
CASES = {
    "defaults": {},
    **KNOBS,
    # Everything that does not exclude another knob.
    "everything": merged(*(values for name, values in KNOBS.items() if name not in ALTERNATIVES)),
    "signer and topics": merged(KNOBS["signer"], KNOBS["topics"], KNOBS["fleets"], KNOBS["scaling"], KNOBS["admin open"]),
    "IPv6 with TLS": merged(KNOBS["IPv6"], KNOBS["admin TLS"], KNOBS["gateway TLS"], KNOBS["look-ups"]),
    "edge": merged(KNOBS["gateway TLS"], KNOBS["autoscaling"], KNOBS["ingress"], KNOBS["route"], KNOBS["load balancer"]),
}

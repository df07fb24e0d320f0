"""Values that the chart refuses, and the key that the error names."""

PEERS = [{"namespaceSelector": {}}]
REFUSED = [
    ({"workers": {"main": {"replica": 3}}}, "replica"),
    ({"workers": {"Main": {"config": {}}}}, "Main"),
    ({"workers": {"main": {"scaling": {"enabled": "yes"}}}}, "/workers/main/scaling/enabled"),
    ({"workers": {"main": {"config": {"kafka": {"group": ""}}}}}, "/workers/main/config/kafka/group"),
    ({"workers": {"main": {"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}}}, "/workers/main/podDisruptionBudget"),
    ({"workers": {"main": {"files": {"remint.yaml": ""}}}}, "remint.yaml"),
    ({"workers": {"main": {"files": {"a/b": ""}}}}, "a/b"),
    ({"workers": {"main": {"extraVolumeMounts": [{"name": "a", "mountPath": "b"}]}}}, "/workers/main/extraVolumeMounts/0/mountPath"),
    ({"workers": {"main": {"keyRings": {"shop-web": "a"}}}}, "workers.main.keyRings.shop-web"),
    ({"workers": {"main": {"config": {"keys": {"shop-ios": {"path": "keys/shop-ios"}}}}}}, "workers.main.keyRings.shop-ios"),
    ({"workers": {"main": {"terminationGracePeriodSeconds": 25}}}, "workers.main.terminationGracePeriodSeconds"),
    ({"workers": {"main": {"config": {"worker": {"shutdown_deadline": "${D}"}}}}}, "config.worker.shutdown_deadline"),
    ({"gateway": {"terminationGracePeriodSeconds": 30, "preStopSeconds": 5}}, "gateway.terminationGracePeriodSeconds"),
    ({"gateway": {"config": {"pickup": {"drain": "soon"}}}}, "gateway.config.pickup.drain"),
    ({"gateway": {"ingress": {"enabled": True}}}, "gateway.ingress.hosts"),
    ({"gateway": {"route": {"enabled": True}}}, "gateway.route.parentRefs"),
    ({"gateway": {"enabled": False, "ingress": {"enabled": True, "hosts": ["a"]}}}, "gateway.ingress.enabled"),
    ({"gateway": {"enabled": False, "route": {"enabled": True, "parentRefs": [{"name": "a"}]}}}, "gateway.route.enabled"),
    ({"gateway": {"service": {"type": "Loadbalancer"}}}, "/gateway/service/type"),
    ({"gateway": {"autoscaling": {"enabled": True, "cpu": 0}}}, "/gateway/autoscaling/cpu"),
    ({"image": {"repository": ""}}, "/image/repository"),
    ({"image": {"digest": "latest"}}, "/image/digest"),
    ({"ipFamily": "IPv5"}, "/ipFamily"),
    ({"restartOnConfigChange": "never"}, "/restartOnConfigChange"),
    ({"config": {"kafka": {"bootstrap_servers": ""}}}, "config.kafka.bootstrap_servers"),
    ({"config": {"kafka": {"bootstrap_servers": "${BROKERS}"}}}, "networkPolicy.brokers.ports"),
    ({"networkPolicy": {"prometheus": [{"podLabels": {}}]}}, "podLabels"),
    ({"networkPolicy": {"brokers": {"ports": [0]}}}, "/networkPolicy/brokers/ports/0"),
    ({"monitoring": {"serviceMonitor": {"enabled": True}}, "networkPolicy": {"prometheus": PEERS}}, "admin.tokenSecret"),
    ({"monitoring": {"serviceMonitor": {"enabled": True}}, "admin": {"open": True}}, "networkPolicy.prometheus"),
    (
        {
            "monitoring": {"serviceMonitor": {"enabled": True}}, "networkPolicy": {"enabled": False}, "admin": {"open": True},
            "workers": {"main": {"config": {"admin": {"tls": {"certificate": "a", "key": "b"}}}}},
        },
        "monitoring.serviceMonitor.tlsConfig",
    ),
    ({"monitoring": {"serviceMonitor": {"interval": "often"}}}, "/monitoring/serviceMonitor/interval"),
    ({"topicsHook": {"partitions": 0}}, "/topicsHook/partitions"),
    ({"adminToken": "a"}, "adminToken"),
    ({"gateways": {}}, "gateways"),
]


def flaws(chart):
    """Yields refusals that are missing or do not name their key."""
    for values, key in REFUSED:
        error = chart.refusal(values)
        if error is None:
            yield f"accepted: {values}"
        elif key and key not in error:
            yield f"the error of {values} does not name {key}: {error}"

"""Three apps of three vendors, configured for both workers with the same keys."""

import json

from .keys import make_ring

APPLICATION_ID = "0f0f0f0f-1111-2222-3333-444444444444"
APPLICATION_CODE = "app-code-A"

# The app of each algorithm, and what a device of it reports for a user.
APPS = {
    "RS256": {
        "name": "shop-braze", "vendor": "braze", "lifetime": 43_200,
        "report": lambda user: {"errorCode": 22, "reason": "EXPIRED", "userId": user},
    },
    "ES256": {
        "name": "shop-onesignal", "vendor": "onesignal", "lifetime": 3600, "settings": {"app_id": APPLICATION_ID},
        "report": lambda user: {"externalId": user},
    },
    "HS256": {
        "name": "shop-infobip", "vendor": "infobip", "lifetime": 900, "encoding": "hex",
        "settings": {"application_code": APPLICATION_CODE},
        "report": lambda user: {
            "code": "JWT_TOKEN_EXPIRED", "message": "The provided JWT is expired.", "type": "SDK_ERROR",
            "externalUserId": user,
        },
    },
}


class Shop:
    """A folder with key rings and the configurations of each round."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        rings = self.write("rings.yaml", self.yaml("remint-bench", {name: name for name in TOPICS}))
        self.keys = {
            algorithm: make_ring(options.remint, rings, app["name"], folder / "keys" / app["name"])
            for algorithm, app in APPS.items()
        }

    def remint_command(self, group, topics):
        return [self.options.remint, "run", "--config", self.write(f"{group}.yaml", self.yaml(group, topics))]

    def peer_command(self, python, group, topics):
        apps = {}
        for algorithm, app in APPS.items():
            key_id, file = self.keys[algorithm]
            apps[app["name"]] = {
                "vendor": app["vendor"], "algorithm": algorithm, "lifetime": app["lifetime"], "key_id": key_id,
                "key_file": str(file), "encoding": app.get("encoding"), **app.get("settings", {}),
            }
        configuration = {
            "brokers": self.options.brokers, "group": group, "topics": topics, "apps": apps,
            "transaction_seconds": self.options.transaction_seconds,
        }
        path = self.write(f"{group}.json", json.dumps(configuration, indent=2))
        worker = self.options.here / "python" / "worker.py"
        return [python, worker, "--config", path, "--processes", str(self.options.processes)]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def yaml(self, group, topics):
        """JSON is YAML as well."""
        return json.dumps({
            "kafka": {"bootstrap_servers": self.options.brokers, "insecure": True, "group": group},
            "delivery": "exactly_once",
            "topics": {name: topics[name] for name in TOPICS},
            "keys": {app["name"]: {"path": f"keys/{app['name']}"} for app in APPS.values()},
            "apps": {
                app["name"]: {
                    "adapter": app["vendor"], "key": app["name"], "lifetime": f"{app['lifetime']}s",
                    "settings": app.get("settings", {}),
                }
                for app in APPS.values()
            },
            "log": {"level": "info", "format": "text"},
        }, indent=2)


TOPICS = ["invalidations", "invalidations_bulk", "tokens", "dead_letters", "retries"]

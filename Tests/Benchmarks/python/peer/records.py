"""What is published: the members and headers of Sources/Rules/Pipeline/Records and DeadLetters, in the same order."""

import time
from urllib.parse import quote

import orjson


def subject_key(app, user):
    """The subject key; only RFC 3986's unreserved characters stand for themselves."""
    return f"{quote(app, safe='')}/{quote(user, safe='')}"


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Clock:
    """The second as text, formatted once a second; versions that only grow."""

    def __init__(self):
        self.version, self.second, self.text = 0, None, ""

    def next_version(self, microseconds):
        self.version = max(self.version + 1, microseconds)
        return self.version

    def format(self, second):
        if second != self.second:
            self.second, self.text = second, rfc3339(second)
        return self.text


def token(event, app, key, user, signed, issued_at, clock, version):
    """Value and headers of a replacement token."""
    expires_at = issued_at + app.lifetime
    value = {
        "app": app.name, "vendor": app.vendor, "subject": {"user": user}, "token": signed, "algorithm": app.algorithm,
        "key_id": app.key_id, "issued_at": issued_at, "expires_at": expires_at, "version": version,
        "event_id": event.id,
    }
    if event.device:
        value["device"] = event.device
    headers = [
        ("ce_specversion", "1.0"), ("ce_id", event.id), ("ce_source", f"/remint/{app.name}"),
        ("ce_type", "remint.token.replaced.v1"), ("ce_subject", key), ("ce_time", clock.format(issued_at)),
        ("content-type", "application/json"), ("remint-key-id", app.key_id), ("remint-expires-at", str(expires_at)),
        ("remint-version", str(version)),
    ]
    if event.trace:
        headers += event.trace
    return orjson.dumps(value), headers


def dead_letter_headers(message, rejection):
    """The record's own headers, and why and where from."""
    ours = [
        ("remint-error-code", rejection.code), ("remint-error-stage", rejection.stage),
        ("remint-error-detail", rejection.detail), ("remint-origin-topic", message.topic()),
        ("remint-origin-partition", str(message.partition())), ("remint-origin-offset", str(message.offset())),
        ("remint-origin-timestamp", str(message.timestamp()[1])), ("remint-attempts", "1"),
        ("remint-failed-at", rfc3339(time.time())), ("remint-redrives", "0"),
    ]
    names = {name for name, _ in ours}
    return [header for header in message.headers() or () if header[0] not in names] + ours

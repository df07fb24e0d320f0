"""An edge: it validates the session of a device, vouches for its user, produces the event for Remint, and returns the token.

README.md has the variables of the environment. Replace `user_of` with the check of your own sessions.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from confluent_kafka import KafkaException, Producer


def need(name):
    return os.environ.get(name) or sys.exit(f"edge: {name}: not set. README.md describes it")


SECRET, KEY, GATEWAY = need("EDGE_SECRET"), need("EDGE_GATEWAY_KEY"), need("EDGE_GATEWAY").rstrip("/")
APPS = set(need("EDGE_APPS").split(","))
TOPIC = os.environ.get("EDGE_TOPIC", "remint.invalidations")
if len(SECRET) < 32:
    sys.exit("edge: EDGE_SECRET: shorter than 32 characters. Make one: openssl rand -hex 32")
producer = Producer(
    {"bootstrap.servers": need("EDGE_BROKERS"), "enable.idempotence": True, "message.timeout.ms": 5000, "linger.ms": 0}
)


def user_of(headers):
    """Returns the user of the request's session; None without a valid session.

    The session is user.expiry.HMAC-SHA256, as a bearer token (apps) or in a cookie (pages).
    """
    shown_session = re.sub("^Bearer ", "session=", headers.get("Authorization", "")) or headers.get("Cookie", "")
    found = re.search(r"(?:^|;\s*)session=([\w-]+)\.(\d+)\.([\w-]+)", shown_session)
    if not found:
        return None
    user, expiry, shown = found.groups()
    mac = hmac.digest(SECRET.encode(), f"{user}.{expiry}".encode(), hashlib.sha256)
    wanted = base64.urlsafe_b64encode(mac).rstrip(b"=")
    if not hmac.compare_digest(shown.encode(), wanted) or int(expiry) <= time.time():
        return None
    return base64.urlsafe_b64decode(user + "=" * (-len(user) % 4)).decode()


def percent(text):
    return urllib.parse.quote(text, safe="")


def produce(key, value, headers):
    """Produces a record and waits until all in-sync replicas have it. Raises KafkaException otherwise."""
    results = []
    producer.produce(TOPIC, value, key, headers=headers, on_delivery=lambda error, _: results.append(error))
    while not results:
        producer.poll(0.05)
    if results[0]:
        raise KafkaException(results[0])


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: another server must not get the key."""

    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def ask(app, user, query):
    """Asks the gateway as a trusted backend, only for the user of the session. Returns status, headers and body."""
    url = f"{GATEWAY}/v1/apps/{percent(app)}/token?{query}"
    # json.dumps writes ASCII: every other character is an escape.
    request = urllib.request.Request(url, headers={"X-Api-Key": KEY, "Remint-Vouched": json.dumps({"user": user})})
    try:
        with opener.open(request, timeout=40) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read()


class Edge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def write(self, status, body, **headers):
        self.send_response(status)
        headers = {"Content-Type": "application/json" if status < 400 else "application/problem+json", **headers}
        if status != 204:
            headers["Content-Length"] = str(len(body))
        for name, value in {"Cache-Control": "no-store", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, **headers):
        self.close_connection = True  # The body of the request may be unread.
        problem = {"type": f"urn:remint:problem:{code}", "title": code, "status": status, "code": code}
        self.write(status, json.dumps(problem).encode(), Connection="close", **headers)

    def hand_on(self, answer):
        status, headers, body = answer
        names = ["Content-Type", "ETag", "Location", "Retry-After"]
        self.write(status, body, **{name: headers[name] for name in names if name in headers})

    def serve(self):
        path, _, query = self.path.partition("?")
        parts = re.fullmatch(r"/v1/apps/([^/]+)/(reports|token)", path)
        app, call = (urllib.parse.unquote(parts[1]), parts[2]) if parts else (None, None)
        user = user_of(self.headers)
        if not user:
            return self.refuse(401, "no_session")
        if app not in APPS:
            return self.refuse(404, "unknown_app")
        try:
            if (self.command, call) == ("POST", "reports"):
                return self.report(app, user)
            if (self.command, call) == ("GET", "token"):
                return self.hand_on(ask(app, user, query))
        except (OSError, KafkaException, BufferError) as error:
            self.log_error("%s", error)
            return self.refuse(503, "unavailable", Retry_After="1")
        self.refuse(405, "method_not_allowed", Allow="GET" if call == "token" else "POST")

    do_GET = do_POST = serve

    def report(self, app, user):
        # A page of another site cannot send this type without a preflight request, so the page cannot report for the user.
        if not self.headers.get("Content-Type", "").startswith("application/json"):
            return self.refuse(415, "unsupported_media_type")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.refuse(411, "length_required")
        if int(length) > 65536:
            return self.refuse(413, "event_too_large")
        body = self.rfile.read(int(length))
        # The version of the token that the gateway knows: the token that answers the report has a higher one.
        known = ask(app, user, "after=0&wait=0")
        if known[0] > 299:
            return self.hand_on(known)
        after = json.loads(known[2])["version"] if known[0] == 200 else 0
        event = str(uuid.uuid4())
        # CloudEvents in binary mode: the value is the report, unchanged. The user is the user of the session, never of the report.
        headers = {
            "ce_specversion": "1.0", "ce_id": event, "ce_source": "/edge", "ce_type": "remint.report.v1", "ce_app": app,
            "ce_time": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "ce_vouched": json.dumps({"user": user}), "content-type": "application/json",
        }
        produce(f"{app}/{percent(user)}", body, headers)
        url = f"/v1/apps/{percent(app)}/token?after={after}"
        self.write(202, json.dumps({"event_id": event, "after": after, "token_url": url}).encode(), Location=url)

    def log_message(self, form, *values):
        """Logs no requests, because an address may contain text of a device."""

    def log_error(self, form, *values):
        print("edge: " + form % values, file=sys.stderr, flush=True)


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("EDGE_PORT", "8090"))), Edge)
print(f"edge: listens on {server.server_port}", file=sys.stderr, flush=True)
server.serve_forever()

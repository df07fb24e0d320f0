"""The script of helm test, against servers of this machine."""

import contextlib
import http.server
import socket
import ssl
import subprocess
import tempfile
import threading

from .chart import RELEASE, VERSIONS, named


class Server(http.server.ThreadingHTTPServer):
    """A server that answers health calls with a status, and keeps the paths."""

    def __init__(self, status):
        self.status, self.asked = status, []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.path, self.headers["Host"]))
        status = self.server.status if self.path == "/health/ready" else 200
        body = b'{"status":"not_ready","dependencies":{"brokers":"no broker answers"}}' if status != 200 else b"{}"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serving(status, certificate=None):
    server = Server(status)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def unused_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def flaws(chart):
    pod = named(chart.manifests({}, VERSIONS[-1]), "Pod", f"{RELEASE}-test")
    container = pod["spec"]["containers"][0]
    services = [["r-worker-main", "9464", "http"], ["r-gateway-metrics", "8080", "http"]]
    if container["args"][2:] != sum(services, []):
        yield f"the test asks {container['args'][2:]}"

    def run(*arguments):
        command = container["command"] + container["args"][:2] + [str(argument) for argument in arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    with tempfile.NamedTemporaryFile(suffix=".pem") as file, serving(200) as good, serving(503) as bad:
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
        subprocess.run([*request, "-subj", "/CN=a", "-keyout", file.name, "-out", file.name + ".c"], check=True, capture_output=True)
        with open(file.name + ".c") as chain, open(file.name, "a") as both:
            both.write(chain.read())
        with serving(200, file.name) as encrypted:
            ports = [server.server_port for server in (good, bad, encrypted)]
            ready = run("127.0.0.1", ports[0], "http", "127.0.0.1", ports[2], "https")
            unready = run("127.0.0.1", ports[0], "http", "127.0.0.1", ports[1], "http")
            silent = run("127.0.0.1", unused_port(), "http")
            missing = run("no-such-service.invalid", ports[0], "http")
    if ready.returncode or ready.stdout.count(": ok") != 4:
        yield f"ready pods fail the test: {ready.stdout}{ready.stderr}"
    if {path for path, _ in good.asked} != {"/health/live", "/health/ready"}:
        yield f"the test asks {good.asked}"
    if any(host != f"127.0.0.1:{ports[0]}" for _, host in good.asked):
        yield f"the header Host is wrong: {good.asked}"
    if unready.returncode == 0 or "503" not in unready.stdout or "no broker answers" not in unready.stdout:
        yield f"a pod that is not ready passes, or its reason is missing: {unready.stdout}{unready.stderr}"
    if silent.returncode == 0 or "no answer" not in silent.stdout:
        yield f"a pod that does not answer passes the test: {silent.stdout}{silent.stderr}"
    if missing.returncode == 0 or "no pod has an address" not in missing.stdout:
        yield f"a service without pods passes the test: {missing.stdout}{missing.stderr}"

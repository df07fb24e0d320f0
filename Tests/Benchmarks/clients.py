#!/usr/bin/env python3
"""Plain clients and proxies before a running gateway: curl, wget and nginx, a thousand calls each, and none lost.

    clients.py --url http://127.0.0.1:8080 --app shop-ios --session JWT [--calls 1000]

The gateway must let one user make that many calls (pickup.user_rate and the other rates). nginx stands in front of it four times:
with its defaults (HTTP/1.0 to the gateway, buffered), without buffering, compressing, and with HTTP/1.1 and connections that are kept.
What is not installed is left out and named (Debian: curl, wget, nginx-light). Ends with 1 where a call is lost.
"""

import argparse
import collections
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

NGINX = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream kept {{ server {gateway}; keepalive 8; }}
    server {{ listen 127.0.0.1:{ports[0]}; location / {{ proxy_pass http://{gateway}; }} }}
    server {{ listen 127.0.0.1:{ports[1]}; location / {{ proxy_pass http://{gateway}; proxy_buffering off; }} }}
    server {{
        listen 127.0.0.1:{ports[2]};
        gzip on; gzip_min_length 1; gzip_types application/json application/problem+json; gzip_proxied any;
        location / {{ proxy_pass http://{gateway}; }}
    }}
    server {{
        listen 127.0.0.1:{ports[3]};
        location / {{ proxy_pass http://kept; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}
}}
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Clients:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = pathlib.Path(folder)
        self.rows = []

    def header(self):
        return f"Authorization: Bearer {self.arguments.session}"

    def path(self, call="token"):
        return f"/v1/apps/{self.arguments.app}/{call}"

    def note(self, name, wanted, statuses, start, text=""):
        good = sum(count for status, count in statuses.items() if status in wanted)
        others = {status: count for status, count in statuses.items() if status not in wanted}
        self.rows.append((name, good, self.arguments.calls, others, time.monotonic() - start, text))

    def curl(self, name, url, wanted=("200",), options=(), body=None, calls=None):
        """All calls by one process, over whatever connections it keeps."""
        calls = calls or self.arguments.calls
        parts = ["-sS", "-o", os.devnull, "-w", "%{http_code}\\n", "--max-time", "40", "-H", self.header(), *options]
        if body:
            report = self.folder / "report.json"
            report.write_text(body)
            parts += ["-H", "Content-Type: application/json", "--data-binary", f"@{report}"]
        # Options belong to one URL; `next` begins another.
        lines = []
        for part in parts:
            lines.append(part if part.startswith("-") else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"')
        config, line = [], []
        for part in lines:
            if part.startswith("-") and line:
                config.append(" ".join(line))
                line = []
            line.append(part)
        config.append(" ".join(line))
        one = "\n".join(config) + f'\nurl = "{url}"\n'
        file = self.folder / "curl.conf"
        file.write_text("next\n".join([one] * calls))
        file.chmod(0o600)
        start = time.monotonic()
        done = subprocess.run(["curl", "-K", str(file)], capture_output=True, text=True)
        self.note(name, wanted, collections.Counter(done.stdout.split()), start, done.stderr.strip()[:200])

    def wget(self, name, url, options=()):
        file = self.folder / "urls"
        file.write_text(f"{url}\n" * self.arguments.calls)
        rc = self.folder / "wgetrc"
        rc.write_text(f"header = {self.header()}\n")
        rc.chmod(0o600)
        start = time.monotonic()
        done = subprocess.run(
            ["wget", "--server-response", "--tries=1", "--timeout=40", "-O", os.devnull, *options, "-i", str(file)],
            capture_output=True, text=True, env={**os.environ, "WGETRC": str(rc), "LC_ALL": "C"})
        statuses = [line.split()[1] for line in done.stderr.splitlines() if line.strip().startswith("HTTP/1.")]
        self.note(name, ("200",), collections.Counter(statuses), start, f"exit {done.returncode}" if done.returncode else "")

    def etag(self, url, options=()):
        done = subprocess.run(
            ["curl", "-sS", "-D", "-", "-o", os.devnull, "-H", self.header(), *options, url], capture_output=True, text=True)
        return next((line.split(":", 1)[1].strip() for line in done.stdout.splitlines()
                     if line.lower().startswith("etag:")), "")

    def run(self):
        url, report = self.arguments.url.rstrip("/"), '{"externalId":"%s"}' % self.arguments.user
        if shutil.which("curl"):
            self.curl("curl", url + self.path())
            self.curl("curl, a connection each", url + self.path(), options=["-H", "Connection: close"])
            self.curl("curl, HTTP/1.0", url + self.path(), options=["--http1.0"])
            self.curl("curl, HEAD", url + self.path(), options=["--head"])
            self.curl("curl, upgrade to h2c", url + self.path(), options=["--http2"])
            self.curl("curl, Expect: 100-continue", url + self.path("reports"), ("200", "202"),
                      ["-H", "Expect: 100-continue", "-H", "Prefer: wait=10"], body=report)
            self.curl("curl, If-None-Match", url + self.path(), ("304",),
                      ["-H", "If-None-Match: " + self.etag(url + self.path())])
        if shutil.which("wget"):
            self.wget("wget", url + self.path())
            self.wget("wget --spider", url + self.path(), ["--spider"])
            self.wget("wget --spider, health", url + "/health/ready", ["--spider"])
        if shutil.which("nginx") and shutil.which("curl"):
            self.nginx(url, report)

    def nginx(self, url, report):
        ports = free_ports(4)
        file = self.folder / "nginx.conf"
        file.write_text(NGINX.format(folder=self.folder, gateway=url.split("://", 1)[1], ports=ports))
        server = subprocess.Popen(["nginx", "-p", str(self.folder), "-c", str(file)], stderr=subprocess.DEVNULL)
        try:
            for port in ports:
                for _ in range(200):
                    try:
                        socket.create_connection(("127.0.0.1", port), 1).close()
                        break
                    except OSError:
                        time.sleep(0.05)
            for name, port in zip(["nginx", "nginx, unbuffered", "nginx, gzip", "nginx, HTTP/1.1 kept"], ports):
                front = f"http://127.0.0.1:{port}"
                self.curl(name, front + self.path(), options=["--compressed"])
                self.curl(f"{name}, HEAD", front + self.path(), options=["--head"])
                self.curl(f"{name}, reports", front + self.path("reports"), ("200", "202"), ["-H", "Prefer: wait=10"], body=report)
                tag = self.etag(front + self.path(), ["--compressed"])
                self.curl(f"{name}, If-None-Match {'weak' if tag.startswith('W/') else 'strong'}", front + self.path(),
                          ("304",), ["--compressed", "-H", f"If-None-Match: {tag}"])
                self.stream(f"{name}, stream", front + self.path("token/stream"))
        finally:
            server.terminate()
            server.wait()

    def stream(self, name, url):
        """The first event of a stream, at once: a proxy that holds it back has buffered it."""
        start = time.monotonic()
        # Before the first heartbeat, which comes after 15 seconds and would push the event through a buffer.
        curl = subprocess.Popen(["curl", "-sSN", "--max-time", "12", "-H", self.header(), url], stdout=subprocess.PIPE, text=True)
        came = "200" if any(line.startswith("event: token") for line in curl.stdout) else "none"
        curl.kill()
        curl.communicate()
        self.rows.append((name, int(came == "200"), 1, {} if came == "200" else {came: 1}, time.monotonic() - start, ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--app", required=True, help="an app of OneSignal, whose reports it sends")
    parser.add_argument("--session", required=True, help="a session that lives for as long as this takes")
    parser.add_argument("--user", default="ann", help="the session's user")
    parser.add_argument("--calls", type=int, default=1000)
    arguments = parser.parse_args()
    for tool in ["curl", "wget", "nginx"]:
        if not shutil.which(tool):
            print(f"left out: {tool} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        clients = Clients(arguments, folder)
        clients.run()
    lost = 0
    for name, good, wanted, others, seconds, text in clients.rows:
        lost += wanted - good
        print(f"{name:40} {good:5} of {wanted}  {seconds:6.1f} s  {others or ''} {text if others or good < wanted else ''}".rstrip())
    print(f"lost: {lost}")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()

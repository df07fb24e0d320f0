"""The script that copies a key ring between a Secret and a folder, with a stand-in for kubectl."""

import base64
import json
import os
import pathlib
import stat
import subprocess
import tempfile

from .chart import FOLDER

# Keeps one Secret in a file, and refuses a replacement of an older version, as the API server does.
KUBECTL = """#!/usr/bin/env python3
import json, os, sys
path = os.environ["SECRET_FILE"]
stored = json.load(open(path))
assert sys.argv[-2:] == ["--namespace", "remint"], sys.argv
if sys.argv[1:4] == ["get", "secret", "remint-shop-ios"]:
    print(json.dumps(stored))
elif sys.argv[1] == "replace":
    new = json.load(sys.stdin)
    if new["metadata"]["resourceVersion"] != stored["metadata"]["resourceVersion"]:
        sys.exit("Error from server (Conflict)")
    new["metadata"]["resourceVersion"] = str(int(stored["metadata"]["resourceVersion"]) + 1)
    json.dump(new, open(path, "w"))
    print(json.dumps(new))
else:
    sys.exit(f"unexpected: {sys.argv}")
"""
FILES = {"keyring.json": b'{"versions":[]}\n', "2026-11.pem": b"-----BEGIN\n", "odd.secret": bytes(range(256))}


def flaws(_):
    with tempfile.TemporaryDirectory() as name:
        yield from check(pathlib.Path(name))


def check(folder):
    (folder / "kubectl").write_text(KUBECTL)
    (folder / "kubectl").chmod(0o755)
    stored, ring = folder / "secret.json", folder / "ring"
    data = {file: base64.b64encode(content).decode() for file, content in FILES.items()}
    metadata = {"name": "remint-shop-ios", "namespace": "remint", "resourceVersion": "7", "labels": {"team": "identity"}}
    # A Secret that kubectl apply made has its content a second time.
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"data": data})}
    metadata["annotations"] = {"note": "kept", **applied}
    stored.write_text(json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data}))
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "SECRET_FILE": str(stored)}

    def run(command, target=ring):
        arguments = [FOLDER / "ring", command, "remint-shop-ios", target, "--namespace", "remint"]
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=60)

    def content():
        return {file: base64.b64decode(text) for file, text in json.loads(stored.read_text())["data"].items()}

    pulled = run("pull")
    if pulled.returncode or {path.name: path.read_bytes() for path in ring.iterdir()} != FILES:
        yield f"pull: {pulled.stderr} {sorted(ring.iterdir()) if ring.exists() else ''}"
        return
    modes = {stat.S_IMODE(path.stat().st_mode) for path in ring.iterdir()}
    if modes != {0o600} or stat.S_IMODE(ring.stat().st_mode) != 0o700:
        yield f"pull: the files have the modes {modes}"
    if any(text in (folder / "ring.secret.json").read_text() for text in ('"data"', *data.values())):
        yield "pull: the file of the version has the keys too"
    if run("pull").returncode == 0:
        yield "pull: a folder that exists is overwritten"
    for file in ("keyring.lock", "rotation-1.subjects", "rotation-1.json", ".remint-a.0.new"):
        (ring / file).write_text("users")
    (ring / "rotation.json").write_text("{}")
    (ring / "2026-11.pem").unlink()
    for _ in range(2):
        pushed = run("push")
        if pushed.returncode or sorted(content()) != ["keyring.json", "odd.secret", "rotation.json"]:
            yield f"push: {pushed.stderr} {sorted(content())}"
    if content()["odd.secret"] != FILES["odd.secret"]:
        yield "push: a file changed on the way"
    if json.loads(stored.read_text())["metadata"]["labels"] != {"team": "identity"}:
        yield "push: the labels of the Secret are lost"
    if json.loads(stored.read_text())["metadata"]["annotations"] != {"note": "kept"}:
        yield "push: the Secret has other annotations than before, or the keys twice"
    other = run("pull", folder / "other")
    (folder / "other" / "more.pem").write_text("new")
    first, second = run("push", folder / "other"), run("push")
    if other.returncode or first.returncode or second.returncode == 0 or "unchanged" not in second.stderr:
        yield f"push: a change of somebody else is overwritten: {first.stderr}{second.stderr}"
    for command, problem in (("peek", "no command"), ("push", "no such file")):
        refused = run(command, folder / "missing")
        if refused.returncode == 0 or problem not in refused.stderr:
            yield f"{command}: {refused.stderr}"

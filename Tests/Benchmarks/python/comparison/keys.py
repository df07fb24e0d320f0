"""Keys that both sign with."""

import json
import secrets
import subprocess

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from .figures import Trouble


def write_key(algorithm, path):
    """A new key: PKCS#8 PEM, or 64 hexadecimal digits, which are the secret as they stand."""
    path.touch(mode=0o600)
    if algorithm == "HS256":
        path.write_text(secrets.token_hex(32))
        return
    key = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def make_ring(remint, configuration, ring, folder):
    """A ring with one key, made by remint; the key's id and file."""
    folder.mkdir(mode=0o700, parents=True)
    done = subprocess.run(
        [remint, "keys", "generate", "--config", configuration, "--key", ring], capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"remint keys generate --key {ring}: {done.stderr.strip()}")
    version = json.loads((folder / "keyring.json").read_text())["versions"][0]
    return version["id"], folder / version["file"]


def verification_key(algorithm, path):
    """What verifies the tokens of a ring's key; a ring's secret is in hex."""
    if algorithm == "HS256":
        return bytes.fromhex(path.read_text().strip())
    return serialization.load_pem_private_key(path.read_bytes(), password=None).public_key()

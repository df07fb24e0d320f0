"""Apps, their keys and their tokens, with PyJWT."""

import hashlib
import uuid

import jwt
import orjson
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import HMACAlgorithm


class CheckedHMAC(HMACAlgorithm):
    """PyJWT asks of every HMAC key, for every token, whether it is a PEM, a certificate or a JWK by mistake. Ours comes
    from a file that says what it is; asking once, at the start, is enough and many times as fast."""

    def prepare_key(self, key):
        return key


def signer():
    """PyJWT's signer for the three algorithms."""
    jws = jwt.PyJWS(algorithms=["RS256", "ES256", "HS256"])
    jws.unregister_algorithm("HS256")
    jws.register_algorithm("HS256", CheckedHMAC(hashlib.sha256))
    return jws


def load_key(algorithm, path, encoding):
    """The key as PyJWT signs fastest with it: a key object, or the secret's bytes."""
    with open(path, "rb") as file:
        content = file.read()
    if algorithm != "HS256":
        return load_pem_private_key(content, password=None)
    secret = bytes.fromhex(content.decode().strip()) if encoding == "hex" else content
    return HMACAlgorithm(hashlib.sha256).prepare_key(secret)


class App:
    """One app: its vendor's token and the key that signs it."""

    def __init__(self, name, settings, jws):
        self.name, self.vendor, self.algorithm = name, settings["vendor"], settings["algorithm"]
        self.key_id, self.lifetime = settings["key_id"], settings["lifetime"]
        self.audience = settings.get("app_id") or settings.get("application_code")
        self.key = load_key(self.algorithm, settings["key_file"], settings.get("encoding"))
        self.headers = {"kid": self.key_id} if self.vendor == "infobip" else None
        self.claims = getattr(self, self.vendor)
        self.jws = jws

    def mint(self, user, now):
        """A token for `user`, from `now` for the app's lifetime."""
        payload = orjson.dumps(self.claims(user, now, now + self.lifetime))
        return self.jws.encode(payload, self.key, self.algorithm, self.headers)

    def braze(self, user, now, end):
        return {"sub": user, "exp": end}

    def onesignal(self, user, now, end):
        return {"iss": self.audience, "exp": end, "identity": {"external_id": user}}

    def infobip(self, user, now, end):
        return {
            "typ": "Bearer", "sub": user, "infobip-api-key": self.audience, "iss": self.audience, "iat": now,
            "exp": end, "jti": str(uuid.uuid4()),
        }

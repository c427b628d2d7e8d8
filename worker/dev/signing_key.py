"""The development issuer's one signing key."""

import hashlib
import json
import os
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key


class SigningKey:
    """The one key, made at first use and kept with mode 0600."""

    def __init__(self, state_dir: Path) -> None:
        self._key = _kept_key(state_dir)
        self.public: dict[str, Any] = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key()))
        self.public |= {"kid": _thumbprint(self.public), "use": "sig", "alg": "ES256"}

    def sign(self, claims: Mapping[str, Any], kind: str) -> str:
        """A token that lasts as long as `claims` say; `kind` is its `typ`."""
        return jwt.encode(dict(claims), self._key, "ES256", headers={"kid": self.public["kid"], "typ": kind})


def _thumbprint(public: Mapping[str, Any]) -> str:
    # RFC 7638: the required members in lexical order.
    plain = json.dumps({name: public[name] for name in ("crv", "kty", "x", "y")}, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(plain.encode()).digest()).rstrip(b"=").decode()


def _kept_key(state_dir: Path) -> ec.EllipticCurvePrivateKey:
    path = state_dir / "signing-key.pem"
    if not path.exists():
        _write_new_key(path)
    key = load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{path} holds no elliptic-curve key; remove it and a new one is made")
    return key


def _write_new_key(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_bytes(pem)
    # Two first starts at once: the first link wins and both read the same key.
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()

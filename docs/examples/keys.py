"""Makes NAME.pem, which signs, and NAME.pub.pem, which shows who did: python keys.py NAME…"""

import sys
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

for name in sys.argv[1:]:
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    secret = Path(f"{name}.pem")
    secret.touch(mode=0o600, exist_ok=False)  # before there is a secret in it; one that is there stays
    secret.write_bytes(private)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    Path(f"{name}.pub.pem").write_bytes(public)

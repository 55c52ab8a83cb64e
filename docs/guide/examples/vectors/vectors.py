"""Record keys and cell keys by nothing but the standard library, to compare with."""

import hashlib
import hmac

SECRET = bytes(range(32))
PERSONS = [f"TT|2011|0412|0007|{number:02}" for number in (1, 2, 3)]


def record_key(canonical_id: str, tag: str, modulus: int = 2**32) -> int:
    """The record key of a person (tag P), family (F), household (H), dwelling (D), building (B)."""
    digest = hashlib.blake2b(
        canonical_id.encode("utf-8"),
        key=SECRET,
        person=b"rkey1" + tag.encode("ascii"),
        digest_size=8,
    ).digest()
    top = int.from_bytes(digest, "big") >> 32
    return top * modulus >> 32


def hmac_key(canonical_id: str, tag: str) -> int:
    """The variant for systems that have no keyed BLAKE2b."""
    message = b"rkey1\0" + tag.encode("ascii") + b"\0" + canonical_id.encode("utf-8")
    return int.from_bytes(hmac.digest(SECRET, message, "sha256")[:4], "big")


keys = [record_key(one, "P") for one in PERSONS]
print("persons:  ", *keys)
print("household:", record_key("TT|2011|0412|0007", "H"))
print("sum:      ", sum(keys))
print("cell key: ", sum(keys) % 2**32)
print("by xor:   ", keys[0] ^ keys[1] ^ keys[2])
print("by HMAC:  ", *(hmac_key(one, "P") for one in PERSONS), hmac_key("TT|2011|0412|0007", "H"))
secret_id = hashlib.blake2b(b"", key=SECRET, person=b"secret-id", digest_size=8)
print("secret id:", secret_id.hexdigest())
lookup = hashlib.blake2b(b"1", key=SECRET, person=b"lookup", digest_size=16)
print("look-up 1:", lookup.hexdigest())

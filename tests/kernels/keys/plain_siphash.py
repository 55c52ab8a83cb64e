"""SipHash-2-4 in plain Python: what the compiled one is compared with."""

from __future__ import annotations

from sdcensus.kernels.keys.siphash import key_words

MASK = 2**64 - 1


def siphash24_bytes(key: bytes, message: bytes) -> int:
    """Hash one message of any length: plain and slow, the reference for the compiled one."""
    first, second = (int(word) for word in key_words(key))
    v0, v1 = first ^ 0x736F6D6570736575, second ^ 0x646F72616E646F6D
    v2, v3 = first ^ 0x6C7967656E657261, second ^ 0x7465646279746573
    whole = len(message) - len(message) % 8
    blocks = [int.from_bytes(message[at : at + 8], "little") for at in range(0, whole, 8)]
    blocks.append(int.from_bytes(message[whole:], "little") | (len(message) & 0xFF) << 56)
    for block in blocks:
        v3 ^= block
        for _ in range(2):
            v0, v1, v2, v3 = _plain_round(v0, v1, v2, v3)
        v0 ^= block
    v2 ^= 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _plain_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def _plain_round(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    v0 = (v0 + v1) & MASK
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 = (v2 + v3) & MASK
    v3 = _rotated(v3, 16) ^ v2
    v0 = (v0 + v3) & MASK
    v3 = _rotated(v3, 21) ^ v0
    v2 = (v2 + v1) & MASK
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & MASK

#!/usr/bin/env python3
"""Prints the ring's rounds for rank r of p and n elements: ring.py p r n [root]."""
import sys

p, r, n = (int(word) for word in sys.argv[1:4])


def chunk(i):
    """The elements of chunk i of p; the first n % p chunks are one longer."""
    i %= p
    first = i * (n // p) + min(i, n % p)
    return f"output[{first}:{first + n // p + (i < n % p)}]"


print("plan all_reduce printed_ring")
print("copy input -> all")
for half, adds in ((0, " +"), (1, "")):
    for k in range(p - 1):
        print("round:")
        print(f"  send {chunk(r + half - k)} -> {(r + 1) % p}")
        print(f"  receive {chunk(r + half - k - 1)} <- {(r - 1) % p}{adds}")

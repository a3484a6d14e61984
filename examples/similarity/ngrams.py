#!/usr/bin/env python3
"""Embeds texts by their spelling: counts each sequence of three characters, hashed to 512 numbers.

It needs no model and no network, but texts are similar only if they are spelled alike. To compare meanings, use a
model such as sentence-transformers.
"""
import json
import sys
import zlib

SIZE = 512


def embed(text):
    vector = [0] * SIZE
    padded = f"  {' '.join(text.casefold().split())}  "
    for start in range(len(padded) - 2):
        vector[zlib.crc32(padded[start : start + 3].encode()) % SIZE] += 1
    return vector


texts = json.load(sys.stdin)["args"]["texts"]
print(json.dumps({"result": {"embeddings": [embed(text) for text in texts]}}))

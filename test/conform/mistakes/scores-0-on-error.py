#!/usr/bin/env python3
import json, sys

try:
    score = 1 if "please" in json.load(sys.stdin.buffer)["content"] else 0.5
except Exception:
    score = 0
print(json.dumps({"score": score}))

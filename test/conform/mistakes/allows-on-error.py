#!/usr/bin/env python3
import json, sys

try:
    allow = json.load(sys.stdin.buffer)["request"]["name"] != "rm"
except Exception:
    allow = True
print(json.dumps({"allow": allow}))

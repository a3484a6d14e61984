#!/usr/bin/env python3
import json, sys

request = json.load(sys.stdin.buffer)
assert set(request) == {"hook", "phase", "request"}
print(json.dumps({"allow": request["request"]["name"] != "rm"}))

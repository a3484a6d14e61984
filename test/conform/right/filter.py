#!/usr/bin/env python3
import json, sys

print("a log line", file=sys.stderr)
try:
    name = json.load(sys.stdin.buffer)["request"]["name"]
    answer = {"allow": name != "rm", "reason": "" if name != "rm" else "never"}
except Exception as error:
    answer = {"allow": False, "reason": f"not a request: {type(error).__name__}"}
print(json.dumps(answer))

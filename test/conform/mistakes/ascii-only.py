#!/usr/bin/env python3
import json, sys

request = json.loads(sys.stdin.buffer.read().replace(b"\xe2\x80\xa8", b"").replace(b"\xe2\x80\xa9", b"").replace(b"\xc2\x85", b"").decode("ascii"))
print(json.dumps({"allow": request["request"]["name"] != "rm"}))

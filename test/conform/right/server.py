#!/usr/bin/env python3
import json, sys

for line in sys.stdin.buffer:
    request = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = {"allow": request["params"]["request"]["name"] != "rm"}
    except Exception as error:
        reply["error"] = {"code": 1, "message": f"not a request: {error}"}
    print(json.dumps(reply), flush=True)

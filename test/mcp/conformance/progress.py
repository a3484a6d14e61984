#!/usr/bin/env python3
import json, sys, time

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    id = json.loads(line)["id"]
    for progress in (0, 50, 100):
        send(method="progress", params={"id": id, "progress": progress, "total": 100})
        time.sleep(0.1)
    send(id=id, result="done")

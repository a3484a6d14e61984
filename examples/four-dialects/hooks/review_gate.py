"""A PicoClaw hook: JSON-RPC on stdin and stdout, one object per line."""
import json
import sys


def answer(method, params):
    if method == "hook.hello":
        return {"ok": True, "name": "review-gate"}
    command = params["arguments"].get("command", "")
    if "http" in command:
        return {"approved": False, "reason": "nothing leaves this machine"}
    return {"approved": True}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        reply = {"jsonrpc": "2.0", "id": request["id"], "result": answer(request["method"], request["params"])}
        print(json.dumps(reply), flush=True)

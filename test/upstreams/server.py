#!/usr/bin/env python3
# An MCP server of 2025-06-18 over stdio. Each of its tools misbehaves in the way that its name says.
import json, os, sys, time

digits = '{"type": "text", "text": "12345678901234567890"}], "structuredContent": {"n": 12345678901234567890, "f": 1.10}'


def tool(name, **more):
    return {"name": name, "description": f"It does {name}.", "inputSchema": {"type": "object"}, **more}


names = "echo die hang error wrong_id twice garbage long silent_exit bad_shape batch noise slow changed env stderr".split()
tools = [tool(name) for name in names] + json.loads(os.environ.get("MORE", "[]"))


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def call(id, params, line):
    name = params["name"]
    good = '{"jsonrpc": "2.0", "id": %s, "result": {"content": [%s}}'
    if name == "die":
        sys.exit("SECRET-OF-DESK in a crash")
    if name == "silent_exit":
        sys.exit(0)
    if name == "hang":
        time.sleep(60)
    if name == "error":
        return say('{"jsonrpc": "2.0", "id": %s, "error": {"code": -32000, "message": "out of SECRET-OF-DESK"}}' % json.dumps(id))
    if name == "wrong_id":
        return say(good % (id + 1000, digits))
    if name == "garbage":
        say("this is not JSON SECRET-OF-DESK")
        say('{"jsonrpc": "2.0", "id":')
        return say("[1, 2")
    if name == "long":
        for _ in range(60):
            sys.stdout.write("x" * 1024 * 1024)
        return say("")
    if name == "bad_shape":
        return say('{"jsonrpc": "2.0", "id": %s, "result": {"content": "none"}}' % id)
    if name == "batch":
        return say("[" + good % (id, digits) + "]")
    if name == "noise":
        for n in range(20000):
            say("starting up %d" % n)
    if name == "stderr":
        for n in range(20000):
            sys.stderr.write("loud %d\n" % n)
    if name == "slow":
        time.sleep(0.3)
    if name == "changed":
        tools.append(tool("late"))
        for _ in range(50):
            say('{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}')
    if name == "env":
        return say(good % (id, json.dumps({"type": "text", "text": json.dumps(dict(os.environ))}) + "]"))
    if name == "echo":
        args = line[line.index('"arguments":') + len('"arguments":'):]
        return say(good % (id, json.dumps({"type": "text", "text": args}) + '], "structuredContent": {"n": 12345678901234567890, "f": 1.10}'))
    say(good % (id, digits))
    if name == "twice":
        say(good % (id, digits))


for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message["method"], message.get("params", {})
    if method == "initialize":
        if os.environ.get("REFUSES"):
            sys.exit("no")
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "s", "version": "1"}}
        say(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))
    elif method == "tools/list":
        more = {"nextCursor": str(time.time())} if os.environ.get("LOOPS") else {}
        say(json.dumps({"jsonrpc": "2.0", "id": id, "result": {"tools": tools, **more}}))
    elif method == "tools/call":
        call(id, params, line)
    elif id is not None:
        if os.environ.get("DIES_AT_UNKNOWN"):
            sys.exit("unknown request")
        say(json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))

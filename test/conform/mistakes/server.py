#!/usr/bin/env python3
"""A server that makes the one mistake of its argument."""
import json, signal, sys, threading, time

mistake = sys.argv[1]


def say(line):
    print(line, flush=mistake != "does-not-flush")


def judge(params):
    try:
        return {"allow": params["request"]["name"] != "rm"}
    except Exception:
        if mistake == "dies-of-bad-params":
            raise
        return {"allow": mistake == "allows-bad-params"}


if mistake == "greets":
    say("ready")
if mistake == "answers-before-it-is-asked":
    say('{"jsonrpc": "2.0", "id": 1, "result": {"allow": true}}')
if mistake == "ignores-term":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
current = None


def answer_later(request):
    # All threads share the request that came last.
    global current
    current = request["params"]
    time.sleep(0.2)
    say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": judge(current)}))


count = 0
for line in iter(sys.stdin.buffer.readline, b""):
    if mistake == "splits-at-u-2028":
        line = line.decode().splitlines()[0]
    request = json.loads(line)
    count += 1
    number = request["id"]
    if mistake == "mixes-requests":
        threading.Thread(target=answer_later, args=(request,)).start()
        continue
    reply = {"jsonrpc": "2.0", "id": number, "result": judge(request["params"])}
    if mistake == "prints-half-characters":
        # Without escapes, half of a surrogate pair is no character of UTF-8.
        json.dumps(request["params"], ensure_ascii=False).encode("utf-8")
    if mistake == "id-as-text":
        reply["id"] = str(number)
    if mistake == "another-id":
        reply["id"] = number + 1000
    if mistake == "no-id":
        del reply["id"]
    if mistake == "no-envelope":
        reply = reply["result"]
    if mistake == "logs-to-stdout":
        say("request %d" % number)
    if mistake == "drops-its-twentieth" and count == 20:
        continue
    say(json.dumps(reply, indent=2 if mistake == "several-lines" else None))
    if mistake == "answers-twice":
        say(json.dumps(reply))
    if mistake == "serves-one-call":
        break
if mistake == "outlives-its-stdin":
    while True:
        time.sleep(1)

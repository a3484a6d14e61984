#!/usr/bin/env python3
"""Eval: compares the final number of a solution, the one after its last "A:", with the one in params.truth.

    {"params": {"truth": "…\\nA: 18"}, "content": "…\\nA: 18.0"}   ->   {"score": 1, "detail": "18.0 is 18"}

Without arguments, it reads one request from stdin, replies and exits. With --server, it speaks JSON-RPC, one message
per line, until stdin ends. The reply to a request with a "batch" of cases (see `batch` of an eval) is a list of
"results". A solution without a final number scores 0. A truth without one is an error, because the data is wrong.
"""
import json
import re
import sys
from decimal import Decimal

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def reply_to(request):
    if "batch" not in request:
        return judge(request)
    return {"results": [judge_of_batch(case) for case in request["batch"]]}


def judge_of_batch(case):
    try:
        return judge(case)
    except Exception as problem:  # One bad case must not affect the scores of the others.
        return {"error": explain(problem)}


def judge(request):
    truth = final_number(request["params"]["truth"])
    if truth is None:
        raise ValueError("params.truth has no final number")
    answer = final_number(request["content"])
    if answer is None:
        return {"score": 0, "detail": f"no final number, expected {truth}"}
    is_right = Decimal(answer) == Decimal(truth)
    return {"score": int(is_right), "detail": f"{answer} is {truth}" if is_right else f"{answer}, expected {truth}"}


def final_number(text):
    _, marker, tail = text.rpartition("A:")
    found = NUMBER.search(tail) if marker else None
    return found[0].replace(",", "") if found else None


def serve():
    for line in sys.stdin.buffer:
        request = read(line)
        if request is None:
            continue
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = reply_to(request["params"])
        except Exception as problem:  # One bad request must not end the server.
            reply["error"] = {"code": -32602, "message": explain(problem)}
        print(json.dumps(reply), flush=True)


def read(line):
    """Returns the request, or None for lines that need no reply: notifications and anything that is not JSON."""
    try:
        request = json.loads(line)
    except ValueError:
        print(f"not JSON: {line[:200]!r}", file=sys.stderr)
        return None
    return request if isinstance(request, dict) and "id" in request else None


def answer_once():
    try:
        reply = reply_to(json.load(sys.stdin.buffer))
    except Exception as problem:
        reply = {"error": explain(problem)}
    print(json.dumps(reply))


def explain(problem):
    return str(problem) if isinstance(problem, ValueError) else f"the request cannot be read: {problem!r}"


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--server"] else answer_once()

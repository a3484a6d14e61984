#!/usr/bin/env python3
"""Eval. Full marks up to params.max_words words (40), then fewer the longer the text gets.

stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
"""
import json
import sys

try:
    request = json.load(sys.stdin.buffer)
    limit = request["params"].get("max_words", 40)
    words = len(request["content"].split())
    if words == 0:
        # No score is better than a wrong one: an eval that says `error` is counted, but never averaged.
        reply = {"abstain": "there is no text to score"}
    else:
        reply = {"score": min(1, limit / words), "detail": f"{words} words of {limit}", "data": {"words": words}}
except (ValueError, LookupError, TypeError, AttributeError) as problem:
    reply = {"error": f"cannot score this: {problem!r}"}

json.dump(reply, sys.stdout)

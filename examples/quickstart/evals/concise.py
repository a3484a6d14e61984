#!/usr/bin/env python3
"""Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.

stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
"""
import json
import sys

try:
    request = json.load(sys.stdin.buffer)
    limit = request["params"].get("max_words", 40)
    words = len(request["content"].split())
    if words == 0:
        # Abstain if there is nothing to judge: an unscored case does not enter the mean.
        reply = {"abstain": "there is no text to score"}
    else:
        reply = {"score": min(1, limit / words), "detail": f"{words} words of {limit}", "data": {"words": words}}
except (ValueError, LookupError, TypeError, AttributeError) as problem:
    reply = {"error": f"cannot score this: {problem!r}"}

json.dump(reply, sys.stdout)

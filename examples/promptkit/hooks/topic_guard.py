#!/usr/bin/env python3
"""PromptKit exec hook, provider: keeps a museum guide from discussing prices and security.

before_call checks the last message and denies the call. after_call checks the answer and replaces it.
"""
import json
import re
import sys

TOPICS = {
    "prices of works": re.compile(r"\b(worth|price|value|auction)\b", re.I),
    "security": re.compile(r"\b(alarm|camera|guard|security)s?\b", re.I),
}
INSTEAD = "That is not something I can talk about. Shall I tell you about the painting instead?"


def main():
    try:
        event = json.load(sys.stdin.buffer)
        after = event["phase"] == "after_call"
        message = event["response"]["message"] if after else event["request"]["messages"][-1]
        topic = next((name for name, pattern in TOPICS.items() if pattern.search(message["content"])), None)
    except (ValueError, LookupError, TypeError) as problem:
        return {"allow": False, "reason": f"the event cannot be read: {problem!r}"}
    if topic is None:
        return {"allow": True}
    verdict = {"allow": False, "reason": f"off limits: {topic}", "metadata": {"topic": topic}}
    if after:
        verdict["enforced"] = True
        verdict["metadata"]["replacement"] = INSTEAD
    return verdict


json.dump(main(), sys.stdout)

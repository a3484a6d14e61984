#!/usr/bin/env python3
"""PromptKit exec eval: the share of sentences with at most params.max_words words (default 20)."""
import json
import re
import sys


def main():
    try:
        request = json.load(sys.stdin.buffer)
        limit = int(request.get("params", {}).get("max_words", 20))
        sentences = [text for text in re.split(r"[.!?。！？]+", request["content"]) if text.strip()]
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        return {"error": f"the request cannot be read: {problem!r}"}
    if not sentences:
        return {"error": "there is no sentence to judge"}
    plain = sum(len(sentence.split()) <= limit for sentence in sentences)
    return {"score": plain / len(sentences), "detail": f"{plain} of {len(sentences)} sentences are plain"}


json.dump(main(), sys.stdout)

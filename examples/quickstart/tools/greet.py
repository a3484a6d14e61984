#!/usr/bin/env python3
"""Tool. stdin {"args": {"name": "Ada", "language": "fr"}}, stdout {"result": "Bonjour, Ada !"}."""
import json
import sys

GREETINGS = {"en": "Hello, {}!", "de": "Hallo, {}!", "es": "¡Hola, {}!", "fr": "Bonjour, {} !", "ja": "{}さん、こんにちは！"}

try:
    args = json.load(sys.stdin.buffer)["args"]
    reply = {"result": GREETINGS[args.get("language", "en")].format(args["name"])}
except (ValueError, LookupError, TypeError, AttributeError) as problem:
    reply = {"error": f"cannot greet: {problem!r}"}

# stdout is for the reply and nothing else; print to stderr to debug.
json.dump(reply, sys.stdout)

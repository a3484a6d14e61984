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

# Write only the reply to stdout. To debug, print to stderr.
json.dump(reply, sys.stdout)

#!/usr/bin/env python3
"""Tool. Answers {"args": {"name": "Ada", "language": "fr"}} with "Bonjour, Ada !"."""
import signalbox

GREETINGS = {"en": "Hello, {}!", "de": "Hallo, {}!", "es": "¡Hola, {}!", "fr": "Bonjour, {} !", "ja": "{}さん、こんにちは！"}


@signalbox.tool
def greet(request):
    args = request["args"]
    return GREETINGS[args.get("language", "en")].format(args["name"])


greet.run()

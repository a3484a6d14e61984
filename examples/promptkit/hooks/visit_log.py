#!/usr/bin/env python3
"""PromptKit exec hook, session: writes one line per event to stderr, which goes to the runtime's log."""
import json
import sys

payload = json.load(sys.stdin.buffer)
event = payload["event"]
print(f"{payload['phase']} {event['session_id']}, turn {event['turn_index']}", file=sys.stderr)
json.dump({"ack": True}, sys.stdout)

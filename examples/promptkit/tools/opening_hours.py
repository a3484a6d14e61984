#!/usr/bin/env python3
"""PromptKit exec tool. {"args": {"date": "2026-03-24"}} -> {"result": {"weekday": "Tuesday", "open": true, …}}"""
import json
import sys
from datetime import date

CLOSED_ON = {"Monday"}
HOURS = {"Thursday": "10:00-21:00"}


def main():
    try:
        day = date.fromisoformat(json.load(sys.stdin.buffer)["args"]["date"])
    except (ValueError, LookupError, TypeError) as problem:
        return {"error": f"no day can be read: {problem}"}
    weekday = day.strftime("%A")
    if weekday in CLOSED_ON:
        return {"result": {"weekday": weekday, "open": False}}
    return {"result": {"weekday": weekday, "open": True, "hours": HOURS.get(weekday, "10:00-18:00")}}


json.dump(main(), sys.stdout)

#!/usr/bin/env python3
"""Observer: appends one JSON line per event, without the text of any message.

The file is AUDIT_FILE, by default .signalbox/audit.jsonl in this example's folder.
"""
import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

DEFAULT = Path(__file__).parent.parent / ".signalbox" / "audit.jsonl"


def main():
    event = json.load(sys.stdin.buffer)
    line = {"at": datetime.now(timezone.utc).isoformat(timespec="milliseconds"), **summary(event)}
    path = Path(os.environ.get("AUDIT_FILE") or DEFAULT)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    json.dump({"ack": True}, sys.stdout)


def summary(event):
    head = {"hook": event["hook"], "phase": event["phase"]}
    if event["hook"] == "session":
        session = event["event"]
        return {**head, "session": session["session_id"], "turn": session["turn_index"], "messages": len(session["messages"])}
    request, response = event["request"], event["response"]
    return {
        **head,
        "tool": request["name"],
        "call": request["call_id"],
        "failed": response["error"] != "",
        "latency_ms": response["latency_ms"],
    }


if __name__ == "__main__":
    main()

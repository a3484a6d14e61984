#!/usr/bin/env python3
import json, os, sys, time

lock = os.environ["LOCK"]
os.mkdir(lock)
try:
    time.sleep(0.5)
    request = json.load(sys.stdin.buffer)
    answer = {"allow": request["request"]["name"] != "rm"}
except Exception:
    answer = {"allow": False}
finally:
    os.rmdir(lock)
print(json.dumps(answer))

#!/usr/bin/env python3
# Uses one folder for all of its processes. While it has the folder, it waits for the other process of the check at-once.
import json, os, shutil, sys, time

text = json.load(sys.stdin.buffer)["request"]["args"]["text"]
folder = os.environ["LOCK"]
other = os.path.join(folder, "other")
try:
    os.mkdir(folder)
except FileExistsError:
    open(other, "w").close()
    raise
while text in ("one", "two") and not os.path.exists(other):
    time.sleep(0.02)
shutil.rmtree(folder)
print(json.dumps({"allow": False}))

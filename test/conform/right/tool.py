#!/usr/bin/env python3
import json, sys

args = json.load(sys.stdin.buffer)["args"]
json.dump({"result": args} if args else {"error": "no args"}, sys.stdout)

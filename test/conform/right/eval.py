#!/usr/bin/env python3
import json, sys

content = json.load(sys.stdin.buffer)["content"]
json.dump({"score": 1 if "please" in content else 0, "detail": content[:20]}, sys.stdout)

#!/usr/bin/env python3
import json, os

request = json.loads(os.read(0, 65536))
print(json.dumps({"allow": request["request"]["name"] != "rm"}))

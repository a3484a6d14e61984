#!/bin/sh
cat >/dev/null
printf '{"allow": false, "reason": "zu gro\337"}\n'

#!/bin/sh
cat >/dev/null
echo '{"allow": false, "reason": "no"}'
exit 1

#!/bin/sh
# A tool of one process for each call wraps its result: {"result": …}.
cat >/dev/null
echo '{"celsius": 21}'

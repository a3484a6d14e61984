#!/bin/sh
cat >/dev/null
echo 'checking the call'
echo '{"allow": false}'

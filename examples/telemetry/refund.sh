#!/bin/sh
cat > /dev/null
echo '{"result": {"refunded": true}}'

#!/bin/sh
set -e
read -r request
case $request in
  *'"request":{'*'}') echo '{"allow": true}' ;;
  *) echo '{"allow": false}' ;;
esac

#!/bin/sh
case "$(tr -d ' ')" in
  *'"amount":13}'*) echo '{"allow": false, "reason": "no refunds of 13"}' ;;
  *) echo '{"allow": true}' ;;
esac

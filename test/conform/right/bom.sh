#!/bin/sh
cat >/dev/null
printf '\357\273\277{"allow": false}\r\n'

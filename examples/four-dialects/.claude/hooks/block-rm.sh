#!/bin/sh
# A PreToolUse hook of Claude Code. Exit code 2 blocks the call, and the model reads stderr.
if grep -q 'rm -rf' /dev/stdin; then
  echo 'rm -rf is not allowed here' >&2
  exit 2
fi

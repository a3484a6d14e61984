#!/bin/sh
# Claude Code's PreToolUse: exit 2 blocks, and stderr is what the model reads.
if grep -q 'rm -rf' /dev/stdin; then
  echo 'rm -rf is not allowed here' >&2
  exit 2
fi

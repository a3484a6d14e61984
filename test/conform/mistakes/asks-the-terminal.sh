#!/bin/sh
# Waits for an answer at the terminal, and reads stdin again and again without one.
until read -r answer </dev/tty 2>/dev/null; do sleep 0.1; done
echo '{"allow": true}'

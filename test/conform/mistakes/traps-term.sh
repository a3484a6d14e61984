#!/bin/sh
# Does not answer, and does not end at SIGTERM either.
trap '' TERM
while :; do sleep 0.1; done

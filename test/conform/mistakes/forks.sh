#!/bin/sh
# Leaves children that hold stdout, and does not answer.
for child in 1 2 3; do sleep 1000 & done
wait

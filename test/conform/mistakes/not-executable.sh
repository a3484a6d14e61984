#!/bin/sh
echo '{"allow": false}'

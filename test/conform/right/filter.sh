#!/bin/sh
# Ends without a reply, and so denies, if jq cannot read the request or finds no name in it.
exec jq -c -e -n '[inputs] | if length == 1 then .[0].request.name else null end | if type == "string" then {allow: (. != "rm")} else error("no name") end'

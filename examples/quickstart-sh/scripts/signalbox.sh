# Write tools, filters, evaluators and observers for Signalbox in POSIX sh with jq: one script runs one-shot and as a server.
#
#     #!/bin/sh
#     . "${0%/*}/signalbox.sh"
#     greet() { text "Hello, $(get .args.name)!"; }
#     tool greet
#
# The function reads the request on stdin, or parts of it with `get` and `is`. It answers once, with a command from below.
# What the script prints goes to stderr. A filter that does not answer denies, and an evaluator fails. A status other than 0, a
# second answer, and a `get` or `is` that finds nothing fail the call, whatever the function answers. A server answers one
# request after the other.
#
# signalbox helper 0.1.0 (POSIX sh, jq 1.6 and later). Update this copy with `npx signalbox init --helper --lang sh`.

# From here on, what the script prints goes to stderr. Descriptor 4 is the real stdout, and 3 takes the answers.
exec 4>&1 1>&2

command -v jq >/dev/null || {
  echo 'signalbox: jq is not on PATH. Install it: this script reads JSON with jq.' >&2
  exit 127
}

# ---- What the request says ----

# get FILTER: prints the text, number or boolean that a jq filter finds. "$(get …)" drops NUL and newlines at the end, so a
# decision that must see them compares with `is`: is '.request.args.path == "/srv"'
get() {
  signalbox_jq -r "($1) | if type == \"object\" or type == \"array\" or . == null then error(\"none\") else . end" ||
    signalbox_say x "\"the request has no text at $(signalbox_escape "$1")\""
}

# is FILTER: succeeds if a jq filter gives true. jq takes null for less than every number: is '(.args.n | numbers) < 5'
is() {
  case $(signalbox_jq -r "($1) | if type == \"boolean\" then . else error(\"none\") end") in
  true) return 0 ;;
  false) return 1 ;;
  *) signalbox_say x "\"the request does not say whether $(signalbox_escape "$1")\"" && return 1 ;;
  esac
}

# ---- Answers ----

# result JSON, or JSON on stdin: of a tool.
result() { signalbox_value=$(signalbox_json "$@") && signalbox_say r "$signalbox_value"; }

# text TEXT: a text as the result of a tool.
text() { signalbox_value=$(signalbox_quote "$1") && signalbox_say r "$signalbox_value"; }

# pending MESSAGE: of a tool that a person decides about. It runs again with .approval in the request.
pending() { signalbox_say a "{\"pending\":{\"reason\":\"\",\"message\":$(signalbox_quote "$1")}}"; }

# fail MESSAGE: the call fails with your own message.
fail() { signalbox_say f "$(signalbox_quote "$1")"; }

# allow; deny REASON; ask REASON: of a filter. `ask` lets a person decide, before a tool runs.
allow() { signalbox_say a '{"allow":true}'; }
deny() { signalbox_say a "{\"allow\":false,\"reason\":$(signalbox_quote "$1")}"; }
ask() { signalbox_say a "{\"allow\":false,\"ask\":true,\"reason\":$(signalbox_quote "$1")}"; }

# score NUMBER [DETAIL]; abstain REASON: of an evaluator.
score() {
  signalbox_value=$(signalbox_number "$1") || return
  [ $# -lt 2 ] || signalbox_value="$signalbox_value,\"detail\":$(signalbox_quote "$2")"
  signalbox_say a "{\"score\":$signalbox_value}"
}
abstain() { signalbox_say a "{\"abstain\":$(signalbox_quote "$1")}"; }

# reply JSON, or JSON on stdin: any whole reply, such as {"allow": true, "replace": {…}}.
reply() { signalbox_value=$(signalbox_json "$@") && signalbox_say a "$signalbox_value"; }

# result_jq FILTER and reply_jq FILTER: what a jq filter makes of the request, with options of jq such as --arg before it.
result_jq() { signalbox_value=$(signalbox_jq -c "$@") && signalbox_say r "$signalbox_value"; }
reply_jq() { signalbox_value=$(signalbox_jq -c "$@") && signalbox_say a "$signalbox_value"; }

# progress DONE [TOTAL [MESSAGE]]: how far a tool is. It has an effect only in a server.
progress() {
  [ "$signalbox_id" != null ] || return 0
  signalbox_value="\"id\":$signalbox_id,\"progress\":$1${2:+,\"total\":$2}"
  [ $# -lt 3 ] || signalbox_value="$signalbox_value,\"message\":$(signalbox_quote "$3")"
  printf '{"jsonrpc":"2.0","method":"progress","params":{%s}}\n' "$signalbox_value" >&4
}

# ---- Programs: each is the last line of a script ----

tool() { signalbox_run tool "$@"; }
filter() { signalbox_run filter "$@"; }
evaluator() { signalbox_run evaluator "$@"; }
observer() { signalbox_run observer "$@"; }

# ---- The rest is not for your script ----

signalbox_newline='
'

signalbox_jq() { printf '%s' "$signalbox_request" | jq "$@"; }

signalbox_quote() { printf '%s' "$1" | jq -Rs .; }

signalbox_escape() { printf '%s' "$1" | tr -d '\000-\037"\\'; }

# One JSON value as it is, on one line. Anything else fails the call.
signalbox_json() {
  if [ $# -gt 0 ]; then signalbox_given=$1; else signalbox_given=$(cat); fi
  if printf '%s' "$signalbox_given" | jq -es 'length == 1' >/dev/null 2>&1; then
    printf '%s' "$signalbox_given" | tr '\n' ' '
  else
    signalbox_say x '"the answer is not one JSON value"'
    return 1
  fi
}

# A score as a number of JSON: bc prints .5, and jq takes nan for a number.
signalbox_number() {
  printf '%s' "$1" | jq -es '
    if length == 1 then .[0] else null end | if . == true then 1 elif . == false then 0 else . end |
    if type == "number" and (isnan | not) then . else error("none") end
  ' 2>/dev/null || {
    signalbox_say x "\"the score is not a number: $(signalbox_escape "$1")\""
    return 1
  }
}

# The answers of a function are lines: a kind and JSON. r is a result, a another reply, f a failure, x a fault.
signalbox_say() { printf '%s %s\n' "$1" "$2" >&3; }

# Prints the code, the id and the params of a message, or nothing. The code is 0 or that of an error, whose text follows.
# No function decides about an empty or broken request.
signalbox_messages='
  def problem:
    if type != "object" then "the request is not a JSON object"
    elif $kind == "tool" and (.args | type) != "object" then "the request has no valid `args`"
    elif $kind == "filter" and (.phase | IN("before_call", "after_call", "before_execution", "after_execution") | not)
    then "the request has no valid `phase`"
    elif $kind == "filter" and (.request | type) != "object" then "the request has no valid `request`"
    elif $kind == "filter" and (.phase | startswith("after_")) and (.response | type) != "object"
    then "the request has no valid `response`"
    elif $kind == "evaluator" and has("batch") then
      if (.batch | type) == "array" then null else "the request has no valid `batch`" end
    elif $kind == "evaluator" and (.params | type) != "object" then "the request has no valid `params`"
    elif $kind == "evaluator" and (.content | type) != "string" then "the request has no valid `content`"
    else null end;
  def checked($id): problem as $problem | if $problem == null then 0, $id, . else 1, $id, $problem end;
  if $mode == "batch" then
    .[0] | .type as $type | .batch[] | if type == "object" then . + {type: $type} else . end | checked(null)
  elif $mode == "once" then
    if length == 1 then .[0] | checked(null) else 1, null, "the request is not one JSON value" end
  elif . == "" then empty
  else (try {line: fromjson} catch {}) |
    if has("line") | not then -32700, null, "the line is not JSON"
    else .line |
      if type != "object" or (.method | type) != "string" or (.id | type | IN("object", "array"))
      then -32600, null, "the line is not a request of JSON-RPC"
      elif .method == "cancel" or .id == null and $kind != "observer" then empty
      elif .method != "execute" then -32601, .id, "there is no method \(.method)"
      else .id as $id | .params | checked($id) end
    end
  end
'

# signalbox_read MODE OPTION...: prints the messages on stdin.
signalbox_read() {
  signalbox_mode=$1
  shift
  jq "$@" --arg kind "$signalbox_kind" --arg mode "$signalbox_mode" "$signalbox_messages"
}

signalbox_next() { IFS= read -r signalbox_code && IFS= read -r signalbox_id && IFS= read -r signalbox_request; }

# Sets signalbox_answer to the line of an answer for $signalbox_request.
signalbox_answer() {
  signalbox_answer=$({ printf '%s\n' "$signalbox_request" | "$@"; } 3>&1 1>&2)
  signalbox_status=$?
  if [ $signalbox_status -ne 0 ]; then
    signalbox_answer="$signalbox_answer${signalbox_newline}x \"$1 ended with status $signalbox_status\""
  fi
  case $signalbox_newline$signalbox_answer in
  *"${signalbox_newline}x "*)
    signalbox_answer=${signalbox_newline}$signalbox_answer
    signalbox_answer="x ${signalbox_answer#*"${signalbox_newline}x "}"
    signalbox_answer=${signalbox_answer%%"$signalbox_newline"*}
    ;;
  *"$signalbox_newline"*"$signalbox_newline"*) signalbox_answer="x \"$1 answered more than once\"" ;;
  esac
  [ -z "$signalbox_answer" ] || return 0
  case $signalbox_kind in
  tool) signalbox_answer='r null' ;;
  filter) signalbox_answer='a {"allow":false,"reason":"the filter did not answer"}' ;;
  evaluator) signalbox_answer='x "the evaluator did not answer"' ;;
  observer) signalbox_answer='a {"ack":true}' ;;
  esac
}

# Prints the answers to the cases of a batch, separated by commas.
signalbox_batch() {
  printf '%s' "$signalbox_request" | signalbox_read batch -cs | while signalbox_next; do
    signalbox_mode=once
    signalbox_take "$@"
  done 4>&1 | paste -s -d , -
}

# Prints an answer for a process that answers once, or for a server.
signalbox_emit() {
  signalbox_value=${2#* }
  case $1$2 in
  once"r "*) printf '{"result":%s}\n' "$signalbox_value" ;;
  once"a "*) printf '%s\n' "$signalbox_value" ;;
  once*) printf '{"error":%s}\n' "$signalbox_value" ;;
  server[ra]*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$signalbox_id" "$signalbox_value" ;;
  *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%s}}\n' "$signalbox_id" "$signalbox_code" "$signalbox_value" ;;
  esac
}

# Answers a message, if it has an id or answers once.
signalbox_take() {
  case $signalbox_code in
  0)
    signalbox_code=1
    case $signalbox_kind:$signalbox_request in
    evaluator:*'"batch":'*)
      if signalbox_jq -e 'has("batch")' >/dev/null; then
        signalbox_answer="a {\"results\":[$(signalbox_batch "$@")]}"
      else
        signalbox_answer "$@"
      fi
      ;;
    *) signalbox_answer "$@" ;;
    esac
    ;;
  *) signalbox_answer="f $signalbox_request" ;;
  esac
  [ "$signalbox_mode:$signalbox_id:$signalbox_code" = server:null:1 ] || signalbox_emit "$signalbox_mode" "$signalbox_answer" >&4
}

signalbox_once() {
  signalbox_given=$signalbox_start$(cat)
  case $signalbox_given in
  *[!\ $signalbox_newline]*) ;;
  *)
    echo 'signalbox: stdin ended without a request' >&2
    exit 1
    ;;
  esac
  signalbox_code=$(printf '%s' "$signalbox_given" | signalbox_read once -cs) ||
    signalbox_code="1${signalbox_newline}null${signalbox_newline}\"the request is not JSON\""
  signalbox_request=${signalbox_code#*"$signalbox_newline"*"$signalbox_newline"}
  signalbox_code=${signalbox_code%%"$signalbox_newline"*}
  signalbox_take "$@"
  case $signalbox_answer in
  x*) exit 1 ;;
  f*) [ "$signalbox_kind" != filter ] || exit 1 ;;
  esac
}

signalbox_serve() {
  { printf '%s' "$signalbox_start" && exec cat; } |
    signalbox_read server -cR --unbuffered |
    while signalbox_next; do signalbox_take "$@"; done
}

signalbox_run() {
  signalbox_kind=$1
  signalbox_id=null
  shift
  # Ten bytes say whether a server was started.
  signalbox_start=$(dd bs=1 count=10 2>/dev/null)
  if [ "$signalbox_start" = '{"jsonrpc"' ]; then
    signalbox_mode=server
    signalbox_serve "$@"
  else
    signalbox_mode=once
    signalbox_once "$@"
  fi
  exit 0
}

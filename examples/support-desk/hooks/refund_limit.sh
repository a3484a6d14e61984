#!/bin/sh
# Tool filter, before_execution: denies a refund that is too large or whose order is on hold.
# POSIX sh without jq: it recognizes a few forms of an event and denies everything else.
#   REFUND_LIMIT_CENTS   the largest amount that is allowed, in hundredths (default 10000)

event=$(tr '\r\n' '  ')
limit=${REFUND_LIMIT_CENTS:-10000}
on_hold=data/on_hold.txt

deny() {
  printf '{"allow": false, "reason": "%s", "metadata": {"rule": "%s"}}\n' "$2" "$1"
  exit 0
}

# Prints the value of the member $1, a number or a string, if the event has exactly one member of that name.
member() {
  printf '%s\n' "$event" | awk -F "\"$1\"[ \t]*:[ \t]*" 'NF == 2 { sub(/[ \t]*[,}].*/, "", $2); print $2 }'
}

case $event in
  *'"request":{"name":"refund",'*) ;;
  *'"request":{"name":"'*) echo '{"allow": true}' && exit 0 ;;
  *) deny unreadable 'this is not a tool event' ;;
esac

amount=$(member amount_cents)
case $amount in
  '' | *[!0-9]* | ??????????*) deny unreadable 'amount_cents is not one plain whole number' ;;
esac

order=$(member order_id | tr -d '"')
case $order in
  LL-[0-9][0-9][0-9][0-9]) ;;
  *) deny unreadable 'order_id is not one order number' ;;
esac

grep -Fxq "$order" "$on_hold"
case $? in
  0) deny on_hold "$order is on hold, ask the payments team" ;;
  1) ;;
  *) deny unreadable 'the list of orders on hold cannot be read' ;;
esac
[ "$amount" -le "$limit" ] || deny limit "$amount is more than $limit cents, ask a colleague"

echo '{"allow": true, "metadata": {"rule": "refund_limit"}}'

#!/bin/sh
# Filter around a model. Hides e-mail addresses and card numbers, on the way in and on the way out.
# stdout {"allow": true}, or {"allow": true, "replace": {…}} with clean text, or {"allow": false, "reason": "…"}.
# When jq fails there is no answer, and a filter without an answer denies.
exec jq --compact-output '
  # Not every long number is a card: those pass the Luhn check.
  def is_card:
    [scan("[0-9]") | tonumber] | reverse
    | [range(length) as $at | .[$at] * (1 + $at % 2) | if . > 9 then . - 9 else . end]
    | add % 10 == 0;

  def clean_text:
    gsub("[\\w.%+-]+@[\\w-]+(?:\\.[\\w-]+)+"; "[email]")
    | gsub("(?<![0-9])(?<card>[0-9]{4}[ -]?(?:[0-9]{6}[ -]?[0-9]{4,5}|[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}))(?![0-9])";
        if (.card | is_card) then "[card]" else .card end);

  # The value with every text in it redacted, at any depth. Some members of a message are no text, and are passed on as they are.
  def clean:
    if type == "string" then clean_text
    elif type == "array" then map(clean)
    elif type == "object" then
      with_entries(if .key == "id" or .key == "timestamp" or .key == "media" then . else .value |= clean end)
    else . end;

  # "other" is what else a program has sent with the request, such as its tools; not every host has it.
  (if .phase == "before_call"
   then .request | with_entries(select(.key == "messages" or .key == "system_prompt" or .key == "other"))
   else {message: .response.message} end) as $given
  # What stays as it is stands in no replacement: jq before 1.7 keeps 17 digits of a number.
  | ($given | clean | with_entries(select(.value != $given[.key]))) as $replace
  | if $replace == {} then {allow: true}
    else {allow: true, replace: $replace, reason: "personal data was hidden"} end
'

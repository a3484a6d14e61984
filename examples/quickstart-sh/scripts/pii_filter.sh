#!/bin/sh
# Filter around a model. Hides e-mail addresses and card numbers in requests and answers.
. "${0%/*}/signalbox.sh"

# If jq fails, so does the function, and Signalbox denies the call.
pii_filter() {
  reply_jq '
    # Card numbers pass the Luhn check; other long numbers usually do not.
    def is_card:
      [scan("[0-9]") | tonumber] | reverse
      | [range(length) as $at | .[$at] * (1 + $at % 2) | if . > 9 then . - 9 else . end]
      | add % 10 == 0;

    def clean_text:
      gsub("[\\w.%+-]+@[\\w-]+(?:\\.[\\w-]+)+"; "[email]")
      | gsub("(?<![0-9])(?<card>[0-9]{4}[ -]?(?:[0-9]{6}[ -]?[0-9]{4,5}|[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{1,7}))(?![0-9])";
          if (.card | is_card) then "[card]" else .card end);

    # Redacts every text in the value, at any depth. Members of a message that are not text pass unchanged.
    def clean:
      if type == "string" then clean_text
      elif type == "array" then map(clean)
      elif type == "object" then
        with_entries(if .key == "id" or .key == "timestamp" or .key == "media" then . else .value |= clean end)
      else . end;

    # "other" has the remaining members of a request, such as its tools. Not every event has it.
    (if .phase == "before_call"
     then .request | with_entries(select(.key == "messages" or .key == "system_prompt" or .key == "other"))
     else {message: .response.message} end) as $given
    # Replace only members that changed, because jq before 1.7 keeps only 17 digits of a number.
    | ($given | clean | with_entries(select(.value != $given[.key]))) as $replace
    | if $replace == {} then {allow: true}
      else {allow: true, replace: $replace, reason: "personal data was hidden"} end
  '
}

filter pii_filter

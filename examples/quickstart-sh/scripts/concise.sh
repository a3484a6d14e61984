#!/bin/sh
# Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
. "${0%/*}/signalbox.sh"

concise() {
  jq --compact-output '
    (.params.max_words // 40) as $limit |
    (.content | [scan("\\S+")] | length) as $words |
    # Abstain if there is nothing to judge: an unscored case does not enter the mean.
    if $words == 0 then {abstain: "there is no text to score"}
    else {score: ([1, $limit / $words] | min), detail: "\($words) words of \($limit)", data: {words: $words}}
    end
  ' | reply
}

evaluator concise

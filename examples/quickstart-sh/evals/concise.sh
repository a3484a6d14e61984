#!/bin/sh
# Eval. Full marks up to params.max_words words (40), then fewer the longer the text gets.
# stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
exec jq --compact-output '
  (.params.max_words // 40) as $limit |
  (.content | [scan("\\S+")] | length) as $words |
  # No score is better than a wrong one: an eval that says `error` is counted, but never averaged.
  if $words == 0 then {abstain: "there is no text to score"}
  else {score: ([1, $limit / $words] | min), detail: "\($words) words of \($limit)", data: {words: $words}}
  end
'

#!/bin/sh
# Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
# stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
exec jq --compact-output '
  (.params.max_words // 40) as $limit |
  (.content | [scan("\\S+")] | length) as $words |
  # Abstain if there is nothing to judge: an unscored case does not enter the mean.
  if $words == 0 then {abstain: "there is no text to score"}
  else {score: ([1, $limit / $words] | min), detail: "\($words) words of \($limit)", data: {words: $words}}
  end
'

#!/bin/sh
# Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
. "${0%/*}/signalbox.sh"

concise() {
  words=$(get .content | wc -w)
  if [ "$words" -eq 0 ]; then
    # Abstain if there is nothing to judge: an unscored case does not enter the mean.
    abstain 'there is no text to score'
  else
    reply_jq --argjson words "$words" '
      (.params.max_words // 40) as $limit |
      {score: ([1, $limit / $words] | min), detail: "\($words) words of \($limit)", data: {words: $words}}
    '
  fi
}

evaluator concise

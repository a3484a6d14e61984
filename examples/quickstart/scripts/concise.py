#!/usr/bin/env python3
"""Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts."""
import signalbox


@signalbox.evaluator
def concise(request):
    limit = request["params"].get("max_words", 40)
    words = len(request["content"].split())
    if words == 0:
        # Abstain if there is nothing to judge: an unscored case does not enter the mean.
        return signalbox.abstain("there is no text to score")
    return signalbox.score(min(1, limit / words), f"{words} words of {limit}", {"words": words})


concise.run()

"""A promptfoo provider: returns the note that shares most words with the question."""
import re


def words(text):
    return set(re.findall(r"[a-z]+", text.lower())) - {"a", "the", "you", "i", "do", "is", "what", "of", "in", "one"}


def call_api(prompt, options, context):
    with open(options["config"]["notes"]) as file:
        notes = [line.strip() for line in file]
    asked = words(context["vars"]["question"])
    shared, best = max((len(asked & words(note)), note) for note in notes)
    return {"output": best if shared > 0 else "I do not know."}

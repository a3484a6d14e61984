#!/usr/bin/env python3
"""One-shot eval: scores how courteous an answer is.

Any text scores 0.25, plus 0.25 each for courtesy, sympathy and an offer of further help, minus 0.5 for a rude phrase
or for shouting. params: {"language": "en"}. It abstains for a language without phrases.
"""
import json
import re
import sys

PHRASES = {
    "en": {
        "courtesy": ["thank", "please", "welcome", "good news", "happy to", "glad to"],
        "sympathy": ["sorry", "apolog", "understand", "frustrating", "congratulations", "i can see"],
        "help": ["let me know", "anything else", "help", "write to us", "just reply", "get in touch"],
        "rude": ["calm down", "obviously", "as i already", "not our problem", "your own fault", "stop asking", "whatever"],
    },
    "de": {
        "courtesy": ["dank", "bitte", "gern", "freuen"],
        "sympathy": ["tut mir leid", "tut uns leid", "entschuldig", "verstehe", "bedauer"],
        "help": ["melden sie sich", "helfe", "helfen", "fragen", "zur verfügung"],
        "rude": ["selbst schuld", "wie bereits gesagt", "nicht unser problem", "beruhigen sie sich"],
    },
    "fr": {
        "courtesy": ["merci", "bonjour", "s'il vous plaît", "avec plaisir", "cordialement"],
        "sympathy": ["désolé", "excus", "compren", "navré"],
        "help": ["n'hésitez pas", "aider", "à votre disposition", "écrivez-nous"],
        "rude": ["calmez-vous", "évidemment", "pas notre problème", "votre faute"],
    },
    "es": {
        "courtesy": ["gracias", "por favor", "con gusto", "encantad", "hola"],
        "sympathy": ["lo siento", "lamento", "disculp", "entiendo"],
        "help": ["ayud", "avís", "escríb", "no dude"],
        "rude": ["cálmese", "obviamente", "no es nuestro problema", "su culpa"],
    },
    "it": {
        "courtesy": ["grazie", "per favore", "volentieri", "buongiorno", "cordiali"],
        "sympathy": ["dispiace", "scus", "capisco", "comprendo"],
        "help": ["aiut", "ci scriva", "a disposizione", "non esiti", "mi faccia sapere"],
        "rude": ["si calmi", "ovviamente", "non è un nostro problema", "colpa sua"],
    },
    "pl": {
        "courtesy": ["dziękuj", "proszę", "dzień dobry", "chętnie"],
        "sympathy": ["przykro", "przepraszam", "rozumiem"],
        "help": ["pomo", "pomóc", "pytania", "daj znać", "proszę napisać"],
        "rude": ["uspokoić się", "to nie nasz problem", "pani wina", "pana wina"],
    },
    "ja": {
        "courtesy": ["ありがとう", "ください", "お願い", "いただ"],
        "sympathy": ["申し訳", "お詫び", "恐れ入り", "ご心配"],
        "help": ["お知らせ", "お問い合わせください", "お手伝い", "ご連絡"],
        "rude": ["自己責任", "当社の問題ではありません"],
    },
}


def main():
    try:
        request = json.load(sys.stdin.buffer)
        reply = judge(request["content"], request["params"].get("language", "en"))
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        reply = {"error": f"the request cannot be read: {problem!r}"}
    json.dump(reply, sys.stdout)


def judge(content, language):
    phrases = PHRASES.get(language)
    if phrases is None:
        return {"abstain": f"there are no phrases for the language {language!r}"}
    if not content.strip():
        return {"abstain": "there is no text to judge"}
    text = content.casefold().replace("’", "'")
    signs = [sign for sign in ("courtesy", "sympathy", "help") if any(phrase in text for phrase in phrases[sign])]
    rude = [phrase for phrase in phrases["rude"] if phrase in text]
    if is_shouted(content):
        rude.append("SHOUTING")
    score = max(0.0, 0.25 * (1 + len(signs)) - (0.5 if rude else 0.0))
    detail = ", ".join(signs + [f"rude: {phrase}" for phrase in rude]) or "no sign of courtesy"
    return {"score": score, "detail": detail, "data": {"signs": signs, "rude": rude}}


def is_shouted(content):
    """Four words in capitals in a row; order and tracking numbers have digits and do not count."""
    return re.search(r"\b[A-Z]{2,}(?:\W+[A-Z]{2,}){3}\b", content) is not None


if __name__ == "__main__":
    main()

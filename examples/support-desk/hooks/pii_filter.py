#!/usr/bin/env python3
"""Provider filter: keeps personal data away from the model, and card numbers out of its answers.

before_call   e-mail addresses, phone numbers, card numbers and IBANs become [email], [phone], [card], [iban].
after_call    an answer that spells out a card number or an IBAN is withheld; other personal data is redacted.
"""
import json
import re
import sys

OURS = "@larchandloom.example"
SECRET = {"card", "iban", "ssn"}
WITHHELD = "I may not repeat payment details here. Please look them up in your account."

EMAIL = re.compile(r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)+")
IBAN = re.compile(r"\b[A-Za-z]{2}\d{2}(?:[A-Za-z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)\b")
SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
NUMBERS = re.compile(r"\d+(?:[ \u00a0.-]\d+)*")
DATE = r"\d{4}-\d\d-\d\d|\d\d?\.\d\d?\.\d{4}"
PHONE = re.compile(
    rf"(?<![\w.€$£¥-])(?!(?:{DATE})(?!\d))(?:\+\d{{1,3}}[ .-]?)?(?:\(\d{{1,4}}\)[ .-]?)?"
    r"\d{2,5}(?:[ .-]?\d{2,4}){1,4}(?:x\d+)?(?!\w|-\d)"
)
IP_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def main():
    try:
        event = json.load(sys.stdin.buffer)
        verdict = before_call(event) if event["phase"] == "before_call" else after_call(event)
    except (ValueError, LookupError, TypeError, AttributeError) as problem:
        verdict = {"allow": False, "reason": f"the event cannot be read: {problem!r}"}
    json.dump(verdict, sys.stdout)


def before_call(event):
    found = {}
    messages = [redact_message(message, found) for message in event["request"]["messages"]]
    system_prompt = redact(event["request"]["system_prompt"], found)
    if not found:
        return {"allow": True}
    return {
        "allow": True,
        "reason": f"redacted {summary(found)}",
        "replace": {"messages": messages, "system_prompt": system_prompt},
        "metadata": {"pii": found},
    }


def after_call(event):
    found = {}
    message = event["response"]["message"]
    clean = redact_text(message, found)
    if not found:
        return {"allow": True}
    if SECRET & found.keys():
        reason = f"the answer spells out {summary(found)}"
        return {"allow": False, "enforced": True, "reason": reason, "metadata": {"pii": found, "replacement": WITHHELD}}
    return {
        "allow": True,
        "reason": f"redacted {summary(found)}",
        "replace": {"message": clean},
        "metadata": {"pii": found},
    }


def summary(found):
    return ", ".join(f"{count} {kind}" for kind, count in found.items())


def redact_message(message, found):
    """The message with clean text, tool arguments and tool results."""
    clean = redact_text(message, found)
    if message.get("tool_calls"):
        clean["tool_calls"] = [{**call, "args": redact(call.get("args"), found)} for call in message["tool_calls"]]
    if message.get("tool_result"):
        clean["tool_result"] = redact_text(message["tool_result"], found)
    return clean


def redact_text(message, found):
    """Redacts the texts of a message. `parts` repeat `content`, so findings in both are counted once."""
    clean, inside, in_parts = dict(message), {}, {}
    for key in ("content", "reasoning"):
        if key in message:
            clean[key] = redact(message[key], inside)
    if message.get("parts"):
        clean["parts"] = [
            {**part, "text": redact(part["text"], in_parts)} if "text" in part else part for part in message["parts"]
        ]
    for kind in inside | in_parts:
        found[kind] = found.get(kind, 0) + max(inside.get(kind, 0), in_parts.get(kind, 0))
    return clean


def redact(value, found):
    if isinstance(value, str):
        return redact_string(value, found)
    if isinstance(value, list):
        return [redact(item, found) for item in value]
    if isinstance(value, dict):
        return {key: redact(item, found) for key, item in value.items()}
    return value


def redact_string(text, found):
    def mark(kind):
        found[kind] = found.get(kind, 0) + 1
        return f"[{kind}]"

    text = EMAIL.sub(lambda match: match[0] if match[0].lower().endswith(OURS) else mark("email"), text)
    text = IBAN.sub(lambda match: mark("iban") if is_iban(match[0]) else match[0], text)
    text = SSN.sub(lambda match: mark("ssn"), text)
    text = NUMBERS.sub(lambda match: mark_cards(match[0], mark), text)
    return PHONE.sub(lambda match: mark("phone") if is_phone(match[0]) else match[0], text)


def mark_cards(run, mark):
    """A run of digit groups may hold a card number and more, as in `4242 4242 4242 4242 12`."""
    groups = list(re.finditer(r"\d+", run))
    for size in range(len(groups), 0, -1):
        for first in range(len(groups) - size + 1):
            chosen = groups[first : first + size]
            if is_card("".join(group[0] for group in chosen)):
                before, after = run[: chosen[0].start()], run[chosen[-1].end() :]
                return mark_cards(before, mark) + mark("card") + mark_cards(after, mark)
    return run


def is_card(digits):
    if not 12 <= len(digits) <= 19 or not re.match(r"[2-6]|1800", digits):
        return False
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


def is_iban(text):
    letters = text.replace(" ", "").upper()
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


def is_phone(text):
    digits = sum(letter.isdigit() for letter in text.split("x")[0])
    separated = re.search(r"[ .()+-]", text)
    return 8 <= digits <= 15 and bool(separated) and not IP_ADDRESS.fullmatch(text)


if __name__ == "__main__":
    main()

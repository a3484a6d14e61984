#!/usr/bin/env python3
"""Filter around a model. Hides e-mail addresses and card numbers in requests and answers."""
import re

import signalbox

EMAIL = re.compile(r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)+")
CARD = re.compile(r"(?<!\d)\d{4}[ -]?(?:\d{6}[ -]?\d{4,5}|\d{4}[ -]?\d{4}[ -]?\d{1,7})(?!\d)")
# Members of a message that are not text and pass unchanged.
OPAQUE = {"id", "timestamp", "media"}


def clean(value):
    """Returns the value with every text in it redacted, at any depth."""
    if isinstance(value, str):
        return CARD.sub(hide_card, EMAIL.sub("[email]", value))
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {key: item if key in OPAQUE else clean(item) for key, item in value.items()}
    return value


def hide_card(match):
    """Hides only numbers that pass the Luhn check, as card numbers do."""
    digits = [int(digit) for digit in match[0] if digit.isdigit()]
    total = sum(digits[-1::-2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return "[card]" if total % 10 == 0 else match[0]


@signalbox.filter
def pii_filter(event):
    if event["phase"] == "before_call":
        request = event["request"]
        # "other" has the remaining members of a request, such as its tools. Not every event has it.
        given = {key: request[key] for key in ("messages", "system_prompt", "other") if key in request}
    else:
        given = {"message": event["response"]["message"]}
    changed = {key: value for key, value in clean(given).items() if value != given[key]}
    if not changed:
        return True
    return signalbox.replace("personal data was hidden", **changed)


pii_filter.run()

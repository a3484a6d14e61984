#!/usr/bin/env python3
"""One-shot tool: returns the data of an order, without the customer's name and address.

stdin {"args": {"order_id": "LL-1042"}}   stdout {"result": {…}} or {"error": "…"}
"""
import json
import sys
from pathlib import Path

ORDERS = Path(__file__).parent.parent / "data" / "orders.json"
PRIVATE = {"customer", "email"}


def main():
    try:
        order_id = json.load(sys.stdin.buffer)["args"]["order_id"]
        order = look_up(order_id)
        reply = {"error": f"there is no order {order_id}"} if order is None else {"result": order}
    except (OSError, ValueError, LookupError, TypeError) as problem:
        reply = {"error": f"the request or the order book cannot be read: {problem!r}"}
    json.dump(reply, sys.stdout)


def look_up(order_id):
    for order in json.loads(ORDERS.read_text(encoding="utf-8")):
        if order["order_id"] == order_id:
            return {key: value for key, value in order.items() if key not in PRIVATE}
    return None


if __name__ == "__main__":
    main()

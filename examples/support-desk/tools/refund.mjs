#!/usr/bin/env node
// Server tool: pays refunds. The process is long-lived, so it remembers the refunds of each order.
// params {"args": {"order_id", "amount_cents", "reason"}}   result {"refund_id", "remaining_cents", …}
import { readFileSync } from 'node:fs';
import { serve } from '../rpc.mjs';

const orders = new Map(readOrders().map((order) => [order.order_id, order]));
const refunds = new Map();

await serve(({ args = {} }) => refund(args));

function refund({ order_id, amount_cents, reason }) {
  const order = orders.get(order_id);
  if (!order) throw new Error(`there is no order ${order_id}`);
  if (order.shipped_on === null) throw new Error(`${order_id} is ${order.status}: nothing was charged yet`);
  if (order.status === 'returned') throw new Error(`${order_id} is returned and already paid back`);
  const paid = refunds.get(order_id) ?? [];
  const left = order.total_cents - paid.reduce((sum, amount) => sum + amount, 0);
  if (amount_cents > left)
    throw new Error(`only ${money(left, order)} of ${order_id} can still be paid back`);
  refunds.set(order_id, [...paid, amount_cents]);
  return {
    refund_id: `RF-${order_id.slice(3)}-${paid.length + 1}`,
    order_id,
    reason,
    currency: order.currency,
    amount_cents,
    remaining_cents: left - amount_cents,
  };
}

function money(cents, order) {
  return `${order.currency} ${(cents / 100).toFixed(2)}`;
}

function readOrders() {
  return JSON.parse(readFileSync(new URL('../data/orders.json', import.meta.url), 'utf8'));
}

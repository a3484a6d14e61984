#!/usr/bin/env node
// One-shot tool: {"args": {"order_id", "email"}} in, {"result": {"order_id", "items"}} out.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const { args } = JSON.parse(await text(process.stdin));
const orders = JSON.parse(readFileSync(new URL('../data/orders.json', import.meta.url), 'utf8'));
const order = orders.find(({ order_id }) => order_id === args.order_id);

// Gives the same error for an unknown order and a wrong address, so that an order id alone reveals nothing.
if (order === undefined || order.email !== args.email) {
  console.log(JSON.stringify({ error: `there is no order ${args.order_id} for that address` }));
} else {
  const { order_id, items, currency } = order;
  console.log(JSON.stringify({ result: { order_id, currency, items } }));
}

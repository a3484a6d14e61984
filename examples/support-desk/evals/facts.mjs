#!/usr/bin/env node
// Server eval with two modes, chosen by its argument:
//   grounded   the share of numbers, amounts and dates that are known from the order, the policy or the customer
//   answered   the share of expected facts (params.facts, alternatives separated by "|") that the answer contains
// params: {"order": "LL-1042", "facts": ["LL-1042", "2026-03-07", "refund|paid back"]}
import { readFileSync } from 'node:fs';
import { serve } from '../rpc.mjs';
import { findClaims } from './claims.mjs';

const questions = { grounded, answered };
const judge = questions[process.argv[2]];
if (!judge) throw new Error(`facts.mjs: the question is one of ${Object.keys(questions).join(', ')}`);

const orders = new Map(JSON.parse(read('orders.json')).map((order) => [order.order_id, order]));
const policy = findClaims(read('policy.txt'));

await serve((request) => judge(request));

function grounded({ content, params, context }) {
  if (content.trim() === '') return { abstain: 'there is no answer to check' };
  const claims = findClaims(content);
  const known = new Set([
    ...policy.map((claim) => claim.value),
    ...context.messages.flatMap((message) => findClaims(message.content)).map((claim) => claim.value),
    ...orderFacts(orders.get(params.order)),
  ]);
  const unknown = claims.filter((claim) => !known.has(claim.value)).map((claim) => claim.text);
  return {
    score: claims.length === 0 ? 1 : (claims.length - unknown.length) / claims.length,
    detail:
      unknown.length === 0 ? `all of ${claims.length} claims are known` : `unknown: ${unknown.join(', ')}`,
    data: { claims: claims.map((claim) => claim.text), unknown },
  };
}

function answered({ content, params }) {
  const facts = params.facts ?? [];
  if (facts.length === 0) return { abstain: 'the case expects no facts' };
  const values = new Set(findClaims(content).map((claim) => claim.value));
  const missing = facts.filter(
    (fact) => !fact.split('|').some((spelling) => isIn(spelling, content, values)),
  );
  return {
    score: (facts.length - missing.length) / facts.length,
    detail:
      missing.length === 0 ? `all of ${facts.length} facts are there` : `missing: ${missing.join(', ')}`,
    data: { missing },
  };
}

function isIn(spelling, content, values) {
  const [claim] = findClaims(spelling);
  if (claim) return values.has(claim.value);
  return content.normalize('NFKC').toLowerCase().includes(spelling.toLowerCase());
}

function orderFacts(order) {
  if (!order) return [];
  const { order_id, tracking, placed_on, shipped_on, delivered_on, eta, total_cents, shipping_cents, items } =
    order;
  const amounts = [total_cents, shipping_cents, total_cents - shipping_cents];
  for (const item of items) amounts.push(item.price_cents, item.price_cents * item.quantity);
  const spelled = [order_id, tracking, placed_on, shipped_on, delivered_on, eta];
  for (const cents of amounts) spelled.push(`${order.currency} ${(cents / 100).toFixed(2)}`);
  return spelled.flatMap((text) => findClaims(text ?? '')).map((claim) => claim.value);
}

function read(name) {
  return readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8');
}

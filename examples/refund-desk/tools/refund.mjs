#!/usr/bin/env node
// One-shot tool: pays a refund once per idempotency_key. It records payments in .signalbox/ledger.jsonl in this
// example's folder, one JSON object per line.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const { args, idempotency_key: key, approval } = JSON.parse(await text(process.stdin));
const ledger = fileURLToPath(new URL('../.signalbox/ledger.jsonl', import.meta.url));

const known = readLedger().find((entry) => entry.key === key);
const entry = known ?? { key, ...args, approved_by: approval?.by ?? null };
if (known === undefined) {
  mkdirSync(dirname(ledger), { recursive: true });
  appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
}
const { order_id, item, amount_cents } = entry;
console.log(JSON.stringify({ result: { refunded: true, order_id, item, amount_cents } }));

function readLedger() {
  if (!existsSync(ledger)) return [];
  return readFileSync(ledger, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

#!/usr/bin/env node
// One-shot eval: 1 if tools have confirmed every amount in the answer, otherwise 0.
import { text } from 'node:stream/consumers';

const { content, context } = JSON.parse(await text(process.stdin));
const confirmed = new Set(
  context.tool_calls
    .filter(({ error }) => error === '')
    .flatMap(({ result }) =>
      [...result.matchAll(/"(?:amount|price)_cents":\s*(\d+)/g)].map(([, cents]) => Number(cents)),
    ),
);
const stated = [...content.matchAll(/(\d+)[.,](\d\d)\b/g)].map(
  ([, euros, cents]) => Number(euros) * 100 + Number(cents),
);
const invented = stated.filter((cents) => !confirmed.has(cents));
const detail =
  invented.length === 0
    ? ''
    : `no tool has confirmed ${invented.map((cents) => (cents / 100).toFixed(2)).join(', ')}`;
console.log(JSON.stringify({ score: invented.length === 0 ? 1 : 0, detail }));

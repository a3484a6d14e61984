#!/usr/bin/env node
// One-shot eval: 0 if the answer is rude to the customer, otherwise 1.
import { text } from 'node:stream/consumers';

const { content } = JSON.parse(await text(process.stdin));
const rude = content.match(/\b(your own fault|calm down|whatever|as i already said)\b/i);
console.log(
  JSON.stringify(
    rude === null ? { score: 1 } : { score: 0, detail: `"${rude[0]}" is no way to talk to a customer` },
  ),
);

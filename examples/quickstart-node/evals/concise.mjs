#!/usr/bin/env node
// Eval. Full marks up to params.max_words words (40), then fewer the longer the text gets.
// stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
import { json } from 'node:stream/consumers';

let reply;
try {
  const { params, content } = await json(process.stdin);
  const limit = params.max_words ?? 40;
  const words = content.split(/\s+/).filter((word) => word !== '').length;
  // No score is better than a wrong one: an eval that says `error` is counted, but never averaged.
  if (words === 0) reply = { abstain: 'there is no text to score' };
  else reply = { score: Math.min(1, limit / words), detail: `${words} words of ${limit}`, data: { words } };
} catch (problem) {
  reply = { error: `cannot score this: ${problem}` };
}

process.stdout.write(JSON.stringify(reply));

#!/usr/bin/env node
// Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
// stdin {"params": {"max_words": 40}, "content": "…", …}, stdout {"score": 0.8, "detail": "50 words of 40"}.
import { json } from 'node:stream/consumers';

let reply;
try {
  const { params, content } = await json(process.stdin);
  const limit = params.max_words ?? 40;
  const words = content.split(/\s+/).filter((word) => word !== '').length;
  // Abstain if there is nothing to judge: an unscored case does not enter the mean.
  if (words === 0) reply = { abstain: 'there is no text to score' };
  else reply = { score: Math.min(1, limit / words), detail: `${words} words of ${limit}`, data: { words } };
} catch (problem) {
  reply = { error: `cannot score this: ${problem}` };
}

process.stdout.write(JSON.stringify(reply));

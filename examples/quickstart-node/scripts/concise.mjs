#!/usr/bin/env node
// Eval. Scores 1 for up to params.max_words words (default 40), and less for longer texts.
import { abstain, evaluator, score } from './signalbox.mjs';

export const concise = evaluator(({ params, content }) => {
  const limit = params.max_words ?? 40;
  const words = content.split(/\s+/).filter((word) => word !== '').length;
  // Abstain if there is nothing to judge: an unscored case does not enter the mean.
  if (words === 0) return abstain('there is no text to score');
  return score(Math.min(1, limit / words), `${words} words of ${limit}`, { words });
});

await concise.run(import.meta);

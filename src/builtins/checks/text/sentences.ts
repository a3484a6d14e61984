import { Json } from '../../../base/json/json.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check } from '../check.ts';

export const sentenceCount: Check = {
  type: 'sentence_count',
  aliases: ['max_sentences'],
  family: 'text',
  summary: 'Whether the content has at most this number of sentences.',
  range: '0 or 1',
  params: {
    max: {
      schema: { type: 'integer', minimum: 0 },
      required: true,
      description:
        'A sentence ends with `.`, `!`, `?` or `…` before white space or the end, or with `。`, `！`, `？`.',
    },
  },
  example: { params: { max: 2 }, content: 'It costs 3.50. Really! Do you want it?', score: 0 },
  run: ({ params, request }) => {
    const count = countSentences(request.content);
    const max = Number(params['max']);
    return scored(count <= max ? 1 : 0, `${count} sentences, at most ${max}`, Json.from({ count, max }));
  },
};

/** Counts text after the last sentence end as a sentence. */
export function countSentences(text: string): number {
  let count = 0;
  let start = 0;
  for (const { 0: end, index } of text.matchAll(ends)) {
    const isEnd =
      /[。！？]/.test(end) || /^\s?$/.test(text.slice(index + end.length, index + end.length + 1));
    if (!isEnd) continue;
    if (hasWords(text.slice(start, index))) count += 1;
    start = index + end.length;
  }
  if (hasWords(text.slice(start))) count += 1;
  return count === 0 && text.trim() !== '' ? 1 : count;
}

const ends = /[.!?…。！？]+["'’”»)\]]*/g;

function hasWords(text: string): boolean {
  return /[^\s.!?…。！？"'’”»)\]]/.test(text);
}

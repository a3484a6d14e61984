import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextWindow } from '../../src/provider/window.ts';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { finish, fireOnText, readParts, streamingModel, type TextFilter, textOf } from './guard-bench.ts';

type Part = LanguageModelV4StreamPart;

const letters = ['a', 'b', ' ', '1', '\n', '😀', 'é'];
const word = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((units) => units.join(''));

interface Streamed {
  readonly text: string;
  readonly secrets: readonly string[];
  readonly window: number;
  readonly parts: readonly Part[];
}

/** A text with secrets in it, none longer than the window, cut into chunks anywhere. */
const streamed: fc.Arbitrary<Streamed> = fc
  .record({
    secrets: fc.array(word, { minLength: 1, maxLength: 3 }),
    pieces: fc.array(fc.oneof(word, fc.nat({ max: 2 }), fc.string({ unit: fc.constantFrom(...letters), maxLength: 40 })), {
      maxLength: 12,
    }),
    margin: fc.nat({ max: 5 }),
    sizes: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 8 }),
    ids: fc.array(fc.constantFrom('1', '1', '1', '2'), { minLength: 1, maxLength: 5 }),
  })
  .map(({ secrets, pieces, margin, sizes, ids }) => {
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : (secrets[piece % secrets.length] ?? ''))).join('');
    const window = Math.max(...secrets.map((secret) => secret.length)) + margin;
    const chunks = chunk(text, sizes);
    const parts = chunks.map((delta, index): Part => ({ type: 'text-delta', id: ids[index % ids.length] ?? '1', delta }));
    return { text, secrets, window, parts: [...parts, finish] };
  });

/** Chunks of these sizes in turn, empty ones among them; they part surrogate pairs too. */
function chunk(text: string, sizes: readonly number[]): string[] {
  const chunks: string[] = [];
  const turn = sizes.some((size) => size > 0) ? sizes : [1];
  for (let at = 0, index = 0; at < text.length; index++) {
    const size = turn[index % turn.length] ?? 1;
    chunks.push(text.slice(at, at + size));
    at += size;
  }
  return chunks;
}

function pattern(secrets: readonly string[]): RegExp {
  return new RegExp(secrets.map((secret) => RegExp(secret).source).join('|'), 'g');
}

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDetector } from '../../../src/builtins/pii/detector.ts';
import { entityNames } from '../../../src/builtins/pii/entity.ts';
import { injectionRules, linkRules, secretRules } from './support.ts';

// Every pattern of a guard takes linear time. A text 16 times as long may take up to 64 times as long; quadratic time
// would take 256 times.
const timeout = 3_600_000;
const numRuns = Number(process.env['GUARDS_GROWTH'] ?? 40);
const small = 8 * 1024;
const growth = 16;
const limit = 64;
/** Shorter times are noise. */
const leastMs = 2;

const place = { origin: 'tool', prefix: '', conversation: () => ['What is it?'] } as const;
const detect = createDetector({ entities: [...entityNames], regions: [], isAllowed: () => false });
const guards: Readonly<Record<string, (text: string) => unknown>> = {
  secrets: (text) => secretRules().find(text, place),
  links: (text) => linkRules().find(text, place),
  injection: (text) => injectionRules().find(text, place),
  pii: detect,
};

/** All words and all other characters in the files that hold the patterns. */
function piecesOf(...folders: readonly string[]): string[] {
  const root = join(import.meta.dirname, '../../../src');
  const texts = folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .filter((file) => !file.endsWith('weights.ts'))
    .map((file) =>
      readFileSync(join(root, file), 'utf8').replaceAll(/^import .*$|^\s*(?:\/\/|\/?\*).*$/gm, ''),
    );
  const words = texts.flatMap((text) => text.match(/[\p{L}\p{N}_]{2,24}/gu) ?? []);
  const characters = texts.flatMap((text) => text.match(/[^\p{L}\p{N}_]|\p{Lo}/gu) ?? []);
  return [...new Set([...words, ...characters, 'a', 'B', '7', '\u200b', '\u{e0041}', '\ud800'])];
}

const piece = fc.constantFrom(...piecesOf('builtins/guards', 'builtins/pii'));
const part = fc.oneof(
  { weight: 2, arbitrary: piece },
  {
    weight: 2,
    arbitrary: fc
      .tuple(piece, fc.constantFrom(' ', '\n', '-', '.', '=', ':', '/'))
      .map((each) => each.join('')),
  },
  { weight: 1, arbitrary: fc.tuple(piece, piece).map((each) => each.join('')) },
);
/** Sequences of repeated parts, for expressions with several quantifiers. */
const parts = fc.array(part, { minLength: 1, maxLength: 3 });

function textOf(given: readonly string[], length: number): string {
  const share = length / given.length;
  return given.map((each) => each.repeat(Math.ceil(share / each.length))).join('');
}

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The ratio of the times for the long and the short text. If it is too high, the lowest of three tries. */
function growthOf(find: (text: string) => unknown, given: readonly string[]): number {
  const [short, long] = [textOf(given, small), textOf(given, small * growth)];
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && least > limit; tries += 1) {
    const shortMs = Math.max(
      leastMs,
      cpuMs(() => find(short)),
    );
    least = Math.min(least, cpuMs(() => find(long)) / shortMs);
  }
  return least;
}

test.each(Object.entries(guards))(
  'signalbox-%s takes linear time for any repetition',
  { timeout },
  (_, find) => {
    find('warm');
    for (const each of ['-', '-'.repeat(3), ' ', '\n', 'a', '7'])
      expect([each, growthOf(find, [each]) <= limit]).toEqual([each, true]);
    fc.assert(
      fc.property(parts, (given) => {
        expect(growthOf(find, given)).toBeLessThanOrEqual(limit);
      }),
      { numRuns },
    );
  },
);

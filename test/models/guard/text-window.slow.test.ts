import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextWindow } from '../../../src/models/guard/text-window.ts';
import { finish, fireOnText, readParts, streamingModel, type TextFilter, textOf } from '../guard-bench.ts';

type Part = LanguageModelV4StreamPart;

const letters = ['a', 'b', ' ', '1', '\n', '😀', 'é'];
const word = fc
  .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 })
  .map((units) => units.join(''));

interface Streamed {
  readonly text: string;
  readonly secrets: readonly string[];
  readonly window: number;
  readonly parts: readonly Part[];
}

/** A text cut anywhere, with secrets no longer than the window. */
const streamed: fc.Arbitrary<Streamed> = fc
  .record({
    secrets: fc.array(word, { minLength: 1, maxLength: 3 }),
    pieces: fc.array(
      fc.oneof(word, fc.nat({ max: 2 }), fc.string({ unit: fc.constantFrom(...letters), maxLength: 40 })),
      {
        maxLength: 12,
      },
    ),
    margin: fc.nat({ max: 5 }),
    sizes: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 8 }),
    ids: fc.array(fc.constantFrom('1', '1', '1', '2'), { minLength: 1, maxLength: 5 }),
  })
  .map(({ secrets, pieces, margin, sizes, ids }) => {
    const text = pieces
      .map((piece) => (typeof piece === 'string' ? piece : (secrets[piece % secrets.length] ?? '')))
      .join('');
    const window = Math.max(...secrets.map((secret) => secret.length)) + margin;
    const chunks = chunk(text, sizes);
    const parts = chunks.map(
      (delta, index): Part => ({ type: 'text-delta', id: ids[index % ids.length] ?? '1', delta }),
    );
    return { text, secrets, window, parts: [...parts, finish] };
  });

/** Chunks of these sizes in turn, some empty. They may split surrogate pairs. */
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

const changing =
  (secrets: readonly string[], change: (secret: string) => string): TextFilter =>
  (text) =>
    text.replace(pattern(secrets), change);

const runs = { numRuns: 1000 };
/** In milliseconds, for a busy machine. */
const patience = 60_000;

async function stream({ parts, window }: Streamed, filter: TextFilter): Promise<Part[]> {
  const { model } = streamingModel(parts);
  return await readParts(model, { fire: fireOnText(filter), stream: 'windowed', windowChars: window });
}

/** Whether a delta splits a surrogate pair of the text. */
function partsPair(parts: readonly Part[]): boolean {
  const deltas = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []));
  return deltas.some(
    (delta, index) => /[\ud800-\udbff]$/.test(delta) && /^[\udc00-\udfff]/.test(deltas[index + 1] ?? ''),
  );
}

const typesOf = (parts: readonly Part[]) => parts.map(({ type }) => type);

test(
  'a denying filter sends nothing from the first secret on',
  async () => {
    await fc.assert(
      fc.asyncProperty(streamed, async (given) => {
        const { text, secrets } = given;
        const parts = await stream(given, (piece) => (pattern(secrets).test(piece) ? undefined : piece));
        const first = text.search(pattern(secrets));
        expect(textOf(parts)).toBe(first === -1 ? text : textOf(parts).slice(0, first));
        expect(text.startsWith(textOf(parts))).toBe(true);
        expect(typesOf(parts).slice(first === -1 ? -1 : -2)).toEqual(
          first === -1 ? ['finish'] : ['error', 'finish'],
        );
        expect(partsPair(parts)).toBe(false);
      }),
      runs,
    );
  },
  patience,
);

test.each([
  { title: 'one character', mark: '█' },
  { title: 'a longer word', mark: '[MASK]' },
])(
  'a filter that puts $title in place of secrets changes the stream like the whole text',
  async ({ mark }) => {
    await fc.assert(
      fc.asyncProperty(streamed, async (given) => {
        const filter = changing(given.secrets, () => mark);
        const parts = await stream(given, filter);
        const whole = filter(given.text);
        expect(textOf(parts)).toBe(whole);
        expect(typesOf(parts).at(-1)).toBe('finish');
        expect(partsPair(parts)).toBe(false);
      }),
      runs,
    );
  },
  patience,
);

/** The remains join the text around them and may form a new secret. */
test.each<{ title: string; change: (secret: string) => string }>([
  { title: 'leaves secrets out', change: () => '' },
  { title: 'leaves their ends standing', change: (secret) => `${secret.slice(0, 2)}***${secret.slice(-2)}` },
])(
  'only text that a filter which $title has allowed is sent, and no other text ends successfully',
  async ({ change }) => {
    await fc.assert(
      fc.asyncProperty(streamed, async (given) => {
        const filter = changing(given.secrets, change);
        const passed = [filter(given.text)];
        const parts = await stream(given, (piece) => {
          passed.push(filter(piece));
          return passed.at(-1);
        });
        const text = textOf(parts);
        const shown = given.secrets.filter((secret) => text.includes(secret));
        expect(shown.filter((secret) => !passed.some((some) => some?.includes(secret)))).toEqual([]);
        expect(text === passed[0] || typesOf(parts).at(-2) === 'error').toBe(true);
      }),
      runs,
    );
  },
  patience,
);

test(
  'names replace their tokens again, wherever a chunk or a window splits them',
  async () => {
    await fc.assert(
      fc.asyncProperty(streamed, fc.array(fc.nat({ max: 9 }), { maxLength: 6 }), async (given, places) => {
        const token = (index: number) => `⟦${index}⟧`;
        const text = places.reduce(
          (so, at) => so.slice(0, at * 3) + token(at) + so.slice(at * 3),
          given.text,
        );
        const restore: TextFilter = (piece) => piece.replace(/⟦(\d)⟧/g, (_, index) => `name${index} b`);
        const parts = chunk(text, [given.window, 1, 0, 2]).map(
          (delta): Part => ({ type: 'text-delta', id: '1', delta }),
        );
        const window = Math.max(3, given.window);
        expect(textOf(await stream({ ...given, window, parts: [...parts, finish] }, restore))).toBe(
          restore(text),
        );
      }),
      runs,
    );
  },
  patience,
);

test(
  'text that no filter changes is sent to the byte, and before the end',
  async () => {
    await fc.assert(
      fc.asyncProperty(streamed, async (given) => {
        const parts = await stream(given, (piece) => piece);
        expect(textOf(parts)).toBe(given.text);
        expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: finish.finishReason });
      }),
      runs,
    );
  },
  patience,
);

test('a window holds back one character less than it is long', () => {
  const window = new TextWindow(4);
  window.push('abcdefgh');
  expect(window.nextPiece()).toBe('abcdefgh');
  expect(window.release('abcdefgh')).toBe('abcde');
  expect(window.nextPiece()).toBeUndefined();
  expect(window.released).toBe('abcde');
});

test('pieces begin and end between words', () => {
  const window = new TextWindow(4);
  window.push('some words here');
  expect(window.nextPiece()).toBe('some words ');
  expect(window.release('some words ')).toBe('some ');
  window.push(' and');
  expect(window.nextPiece()).toBe('words here ');
});

test('an endless word does not wait', () => {
  const window = new TextWindow(4);
  window.push(`a ${'b'.repeat(80)}`);
  expect(window.nextPiece()).toHaveLength(82);
  expect(window.release(`a ${'b'.repeat(80)}`)).toHaveLength(79);
});

test('a change within the held part holds everything from one window before it', () => {
  const window = new TextWindow(4);
  window.push('aaaaaaaaaaSECRET');
  window.nextPiece();
  expect(window.release('aaaaaaaaaa█')).toBe('aaaaaaa');
  expect(window.nextPiece()).toBeUndefined();
  window.push('bbbbbbbbb');
  expect(window.nextPiece()).toBe('aaaSECRETbbbbbbbbb');
  expect(window.release('aaa█bbbbbbbbb')).toBe('aaa█bbbbbb');
});

test('text that changes throughout is held, and judged at doubling lengths', () => {
  const window = new TextWindow(4);
  const asked: number[] = [];
  for (let count = 0; count < 1000; count++) {
    window.push('x');
    const piece = window.nextPiece();
    if (piece !== undefined) asked.push(piece.length);
    if (piece !== undefined) window.release('');
  }
  expect(asked).toEqual([5, 10, 20, 40, 80, 160, 320, 640]);
  expect(window.released).toBe('');
});

test('half a surrogate pair waits for the other', () => {
  const window = new TextWindow(1);
  window.push('a\ud83d');
  expect(window.nextPiece()).toBe('a');
  expect(window.release('a')).toBe('a');
  window.push('\ude00');
  expect(window.nextPiece()).toBe('😀');
});

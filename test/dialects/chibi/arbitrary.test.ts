import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { isObject, Json } from '../../../src/base/json/json.ts';
import { readSchema } from '../../../src/dialects/chibi/config/plugins.ts';
import { isPoint, points } from '../../../src/dialects/chibi/points.ts';
import { sortJson } from '../../../src/dialects/chibi/tool.ts';
import { anySample } from '../../json-texts.ts';
import { printed, readAt } from './asking.ts';

const value = fc.oneof(
  fc.constantFrom<unknown>(true, false, null, 0, -1, 1.5, 'call_agent', '', [], {}, ['a', 5]),
  fc.string(),
);
const asked = Object.entries(points).flatMap(([point, { isFilter }]) => (isFilter ? [point] : []));
const anyPoint = fc.oneof(
  { arbitrary: fc.constantFrom(...asked), weight: 4 },
  { arbitrary: fc.constantFrom(...Object.keys(points)), weight: 1 },
);

function replyAt(point: string): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const keys = isPoint(point) ? Object.keys(points[point].results) : [];
  return fc.dictionary(fc.constantFrom(...keys, 'other'), value, { maxKeys: 3 });
}

function bytesAt(point: string): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { arbitrary: replyAt(point).map((object) => Buffer.from(JSON.stringify(object))), weight: 5 },
    { arbitrary: anySample.map(({ text }) => Buffer.from(text)), weight: 1 },
    { arbitrary: fc.uint8Array({ maxLength: 60 }), weight: 1 },
  );
}

const anyReply = anyPoint.chain((point) => fc.tuple(fc.constant(point), bytesAt(point)));
const anyExit = fc.constantFrom({}, {}, {}, { exitCode: 1 }, { exitCode: null, signal: 'SIGKILL' });

function objectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(bytes).trim());
    return isObject(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

test('invalid output of a successful process passes only by a named rule, and never if closed', () => {
  const verdicts = new Set<string>();
  fc.assert(
    fc.property(anyReply, anyExit, ([point, stdout], exit) => {
      const answer = readAt(point, printed(stdout, exit));
      const closed = readAt(point, printed(stdout, exit), 'deny');
      const isWhole = Object.keys(exit).length === 0 && objectIn(stdout) !== undefined;
      const isAsked = isPoint(point) && points[point].isFilter;
      const isNamed = answer.metadata.text.includes('"failed_open"');
      verdicts.add(answer.verdict);
      expect(!isAsked || isWhole || (answer.verdict === 'allow' && isNamed)).toBe(true);
      expect(!isNamed || closed.verdict === 'deny').toBe(true);
    }),
    { numRuns: 1500 },
  );
  expect([...verdicts].sort()).toEqual(['allow', 'deny', 'modify', 'respond']);
});

test('an explicit refusal is never lost', () => {
  const gates = ['pre_tool', 'pre_tool_output', 'pre_shell_exec', 'pre_file_read'];
  const anyRefusal = fc.constantFrom(...gates).chain((point) => fc.tuple(fc.constant(point), replyAt(point)));
  fc.assert(
    fc.property(anyRefusal, ([point, object]) => {
      const said = { ...object, block: true, denied: true };
      expect(readAt(point, printed(JSON.stringify(said))).verdict).toBe('deny');
    }),
    { numRuns: 500 },
  );
});

test('no bytes become an invalid schema, and only RuntimeError is thrown', () => {
  fc.assert(
    fc.property(bytesAt('pre_tool'), (stdout) => {
      try {
        expect(readSchema(stdout).elements.length).toBeGreaterThan(0);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(RuntimeError);
      }
    }),
    { numRuns: 300 },
  );
});

test('sorting keeps the value', () => {
  fc.assert(
    fc.property(anySample, ({ text }) => {
      const sorted = sortJson(text);
      const { value } = new Json(text);
      fc.pre(!hasOddKeys(value));
      expect(new Json(sorted).value).toEqual(value);
      expect(sortJson(sorted)).toBe(sorted);
      expect(new Json(sorted).text.length).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 500 },
  );
});

/** V8 13.6 can misread such keys, after other texts with backslashes in their keys. */
function hasOddKeys(value: unknown): boolean {
  let isOdd = false;
  JSON.stringify(value, (key, member: unknown) => {
    isOdd ||= /["\\\p{Cc}\p{Cs}]/u.test(key);
    return member;
  });
  return isOdd;
}

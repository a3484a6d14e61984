import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject } from '../../src/base/json/json.ts';
import { readEvent } from '../../src/calls/hooks/event-input.ts';
import type { NativeEvent } from '../../src/contract/hook.ts';
import type { ProcessReply } from '../../src/process/transport.ts';
import { anySample, objectSample, type Sample } from '../json-texts.ts';
import { answered, decodeEval, decodeHook, decodeTool, printed } from './verdicts.ts';

const numRuns = 2_000;

const events: readonly NativeEvent[] = [
  readEvent({
    hook: 'provider',
    phase: 'before_call',
    request: { messages: [{ role: 'user', content: 'a' }] },
  }),
  readEvent({ hook: 'provider', phase: 'after_call', request: {}, response: { message: { content: 'a' } } }),
  readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } }),
  readEvent({ hook: 'tool', phase: 'after_execution', request: { name: 'w' }, response: {} }),
  readEvent({ hook: 'session', phase: 'session_end', event: {} }),
];
const anyEvent = fc.constantFrom(...events);

const goodReplies = [
  '{"allow": true, "result": {"a": [1, "x"]}, "score": 0.5, "reason": "fine", "metadata": {"n": 1}}',
  '{"allow": true, "replace": {"messages": [{"role": "user", "content": "[redacted]"}]}, "score": 1}',
  '{"allow": true, "replace": {"args": {"a": 1}}, "result": null, "pending": null, "error": ""}',
  '{"allow": false, "enforced": true, "reason": "no", "result": "\\u00e9", "score": 1e0}',
];

const edit = fc.record({
  at: fc.nat(120),
  drop: fc.nat(12),
  insert: fc.oneof(
    fc.constantFrom(...['"allow": true,', '"Allow"', 'true', 'null', '0'], ...'{}",:\\\ufeff\n'),
    fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
});

/** Valid replies, then cut, duplicated, spliced or edited. */
const mangled = fc
  .tuple(fc.constantFrom(...goodReplies), fc.array(edit, { maxLength: 4 }))
  .map(([reply, edits]) => edits.reduce(applyEdit, reply));

function applyEdit(text: string, { at, drop, insert }: { at: number; drop: number; insert: string }): string {
  return text.slice(0, at) + insert + text.slice(at + drop);
}

const anyBytes = fc.oneof(
  { arbitrary: mangled.map((text) => Buffer.from(text)), weight: 4 },
  { arbitrary: anySample.map(({ text }) => Buffer.from(text)), weight: 1 },
  { arbitrary: fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)), weight: 1 },
  { arbitrary: fc.uint8Array({ maxLength: 200 }), weight: 1 },
);

/** The object in these bytes, read as JSON. Undefined if they are not one object. */
function objectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

test('a filter allows or modifies only if its output says so, for any bytes', () => {
  const verdicts = new Set<string>();
  fc.assert(
    fc.property(anyBytes, anyEvent, (stdout, event) => {
      const { verdict } = decodeHook(printed(stdout), event);
      verdicts.add(verdict);
      const reply = objectIn(stdout);
      expect(verdict === 'deny' || (reply?.allow === true && reply.enforced !== true)).toBe(true);
      expect(verdict === 'allow' && reply !== undefined && Object.hasOwn(reply, 'replace')).toBe(false);
    }),
    { numRuns },
  );
  expect([...verdicts].sort()).toEqual(['allow', 'deny', 'modify']);
});

test('a tool succeeds or asks only if its output says so, for any bytes', () => {
  const statuses = new Set<string>();
  fc.assert(
    fc.property(anyBytes, (stdout) => {
      const { status } = decodeTool(printed(stdout));
      statuses.add(status);
      const reply = objectIn(stdout);
      const hasNoError = reply !== undefined && (reply.error ?? '') === '';
      expect(status !== 'ok' || (hasNoError && Object.hasOwn(reply, 'result'))).toBe(true);
      expect(status !== 'pending' || (hasNoError && isObject(reply.pending))).toBe(true);
    }),
    { numRuns },
  );
  expect([...statuses]).toEqual(expect.arrayContaining(['failed', 'ok']));
});

test('an eval scores only if its output says so, for any bytes', () => {
  const statuses = new Set<string>();
  fc.assert(
    fc.property(anyBytes, (stdout) => {
      const outcome = decodeEval(printed(stdout));
      statuses.add(outcome.status);
      const score = outcome.status === 'scored' ? outcome.score : undefined;
      expect(score === undefined || (score >= 0 && score <= 1 && objectIn(stdout)?.score === score)).toBe(
        true,
      );
    }),
    { numRuns },
  );
  expect([...statuses].sort()).toEqual(['scored', 'unscored']);
});

const anyEnding = fc.oneof(
  fc.record({ exitCode: fc.integer({ min: 1, max: 255 }), signal: fc.constant(null) }),
  fc.record({ exitCode: fc.constant(null), signal: fc.constantFrom('SIGKILL', 'SIGSEGV', 'SIGTERM') }),
);

test('no output of a failed process is an affirmative', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.constantFrom(...goodReplies).map((text) => Buffer.from(text)),
        anyBytes,
      ),
      anyEnding,
      fc.string(),
      (stdout, ended, stderr) => {
        const reply: ProcessReply = { via: 'process', ...ended, stdout, stderr };
        const code = ended.signal === null ? 'PROCESS_EXIT' : 'PROCESS_SIGNAL';
        expect(decodeTool(reply)).toMatchObject({ status: 'failed', error: { code } });
        expect(decodeEval(reply)).toMatchObject({ status: 'unscored', error: { code } });
        expect(decodeHook(reply)).toMatchObject({ verdict: 'deny', error: { code } });
      },
    ),
  );
});

/** Members that affect a verdict, in any order, number, spelling and type. */
const members = fc.array(
  fc.tuple(
    fc.constantFrom(
      'allow',
      'allow',
      'allow',
      'Allow',
      'ALLOW',
      '\\u0061llow',
      'reason',
      'enforced',
      'metadata',
      'replace',
      'ack',
      'Replace',
    ),
    fc.constantFrom('true', 'true', 'true', 'false', 'null', '1', '"true"', '{}', '[]', '""', '{"args":{}}'),
  ),
  { maxLength: 5 },
);

test('only the documented affirmatives allow', () => {
  const seen = new Set<boolean>();
  fc.assert(
    fc.property(members, (given) => {
      const text = `{${given.map(([key, value]) => `"${key}":${value}`).join(',')}}`;
      const last = new Map(given.map(([key, value]) => [key.replace('\\u0061', 'a'), value]));
      const spellings = given.filter(([key]) => /^(\\u0061|a)llow$/i.test(key));
      const affirms =
        spellings.length === 1 &&
        last.get('allow') === 'true' &&
        ['null', '""', '"true"', undefined].includes(last.get('reason')) &&
        ['null', 'false', undefined].includes(last.get('enforced')) &&
        ['null', '{}', '{"args":{}}', undefined].includes(last.get('metadata')) &&
        ['{"args":{}}', undefined].includes(last.get('replace'));
      seen.add(affirms);
      const event =
        events[2] ?? readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } });
      const expected = affirms ? (last.has('replace') ? 'modify' : 'allow') : 'deny';
      for (const reply of [printed(text), answered(text)])
        expect(decodeHook(reply, event).verdict).toBe(expected);
    }),
    { numRuns },
  );
  expect([...seen].sort()).toEqual([false, true]);
});

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

function around(key: string, { text }: Sample, [a, b, c]: readonly [string, string, string]): string {
  return `${a}{${b}"${key}"${c}:${a}${text}${b}}${c}`;
}

const spaces = fc.tuple(space, space, space);

test('any result of a tool keeps its bytes', () => {
  fc.assert(
    fc.property(anySample, spaces, (sample, between) => {
      const ok = { status: 'ok', result: { text: sample.text } };
      expect(decodeTool(printed(around('result', sample, between)))).toMatchObject(ok);
      const isAsking = isObject(JSON.parse(sample.text)) && sample.members.some(([key]) => key === 'pending');
      fc.pre(!isAsking);
      expect(decodeTool(answered(sample.text))).toMatchObject(ok);
    }),
  );
});

test('any data of an eval keeps its bytes', () => {
  fc.assert(
    fc.property(objectSample, spaces, (sample, between) => {
      const text = around('data', sample, between).replace('{', '{"score":1,');
      for (const reply of [printed(text), answered(text.trim())]) {
        expect(decodeEval(reply)).toMatchObject({ status: 'scored', data: { text: sample.text } });
      }
    }),
  );
});

test('any metadata and replacement of a hook keep their bytes', () => {
  fc.assert(
    fc.property(objectSample, spaces, (sample, between) => {
      const metadata = around('metadata', sample, between).replace('{', '{"allow":true,');
      const replace = `{"allow":true,"replace":${around('args', sample, between).trim()}}`;
      const event = readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } });
      for (const wire of [printed, answered]) {
        expect(decodeHook(wire(metadata.trim()), event)).toMatchObject({ metadata: { text: sample.text } });
        expect(decodeHook(wire(replace), event)).toMatchObject({
          verdict: 'modify',
          replace: { text: around('args', sample, between).trim() },
        });
      }
    }),
  );
});

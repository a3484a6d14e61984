import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../../src/base/json/json.ts';
import { answerRecord, scoreRecord } from '../../../src/pipelines/state/answer-record.ts';
import { callRecord } from '../../../src/pipelines/state/call-record.ts';
import { type RecordKind, readRecord } from '../../../src/pipelines/state/record.ts';
import { stepRecord } from '../../../src/pipelines/state/step-outcome.ts';
import {
  contextRecord,
  sessionStartRecord,
  turnDecisionRecord,
  turnRecord,
} from '../../../src/pipelines/state/turn-record.ts';
import { loadSqlite } from '../../../src/store/sqlite/node-sqlite.ts';

interface Stored {
  readonly step: string;
  readonly text: string;
}

const stored: readonly Stored[] = (() => {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(':memory:');
  database.exec(readFileSync(join(import.meta.dirname, '../../fixtures/records/journal.sql'), 'utf8'));
  const rows = database.prepare('SELECT step, outcome FROM steps WHERE outcome IS NOT NULL').all();
  database.close();
  return rows.map(({ step, outcome }) => ({ step: String(step), text: String(outcome) }));
})();

const rules: readonly (readonly [RegExp, RecordKind<unknown>])[] = [
  [/^@session\//, sessionStartRecord],
  [/\/(turn|reprompt)$/, turnRecord],
  [/\/(batch|stop)$/, turnDecisionRecord],
  [/\/beside$/, contextRecord],
  [/\/(score|guardrail-\w+)$/, scoreRecord],
  [/\/round-\d+$/, answerRecord],
  [/\/call(-\d+)?(\/ruling-\d+)?$/, callRecord],
  [/./, stepRecord],
];

function kindOf(step: string): RecordKind<unknown> {
  return rules.find(([pattern]) => pattern.test(step))?.[1] ?? stepRecord;
}

function read({ step, text }: Stored): unknown {
  return readRecord(kindOf(step), new Json(text), { run: 'run_1', step });
}

test('every stored record is read, and written again unchanged', () => {
  expect(new Set(stored.map(({ step }) => kindOf(step).name)).size).toBe(rules.length);
  for (const record of stored) {
    const written = kindOf(record.step).write(read(record));
    expect([record.step, parseLossless(written.text)]).toEqual([record.step, parseLossless(record.text)]);
  }
});

function pathsIn(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, member]) => [[...path, key], ...pathsIn(member, [...path, key])]);
}

function changed(value: unknown, [key, ...rest]: readonly (string | number)[], to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.map((each, at) => (at === key ? changed(each, rest, to) : each));
  return isObject(value) ? { ...value, [key]: changed(value[key], rest, to) } : value;
}

const harms = [undefined, null, 0, 'x', '', [], [[]], {}, true];

test('a record with any damage is read, or refused with a code that names run and step', () => {
  const tolerated = new Set<string>();
  let refused = 0;
  for (const record of stored) {
    const value = parseLossless(record.text);
    for (const path of pathsIn(value)) {
      for (const to of harms) {
        try {
          read({ ...record, text: stringifyJson(changed(value, path, to)) });
          if (to === undefined && path.length === 1) tolerated.add(`${kindOf(record.step).name}: ${path[0]}`);
        } catch (error) {
          refused += 1;
          if (!(error instanceof RuntimeError)) throw error;
          expect(error.code).toBe('STORE_FAILED');
          expect(error.message.startsWith(`run run_1, step "${record.step}": its `)).toBe(true);
        }
      }
    }
  }
  expect(refused).toBeGreaterThan(1_000);
  // Members that a record may lack.
  expect([...tolerated].toSorted()).toEqual([
    'decision of hooks: followUp',
    'decision of hooks: forcedBy',
    'model answer: cost_usd',
    'turn: baseSystem',
    'turn: isRewritten',
    'turn: taken',
  ]);
});

test.each(['', 'null', '5', '"x"', '[]', '{}', '[1]'])(
  'a record that is %j is refused with a code',
  (text) => {
    for (const [, kind] of rules) {
      const reading = () => readRecord(kind, new Json(text), { run: 'run_1', step: 's' });
      expect(reading).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
    }
  },
);

test('a record of version 1 names it or no version; one of a newer version is refused with its version', () => {
  const about = { run: 'run_1', step: 'a/score' };
  const score = { score: 1, passed: true, detail: '', data: null };
  const withVersion = (v: unknown) => readRecord(scoreRecord, Json.from({ v, ...score }), about);
  expect(withVersion(1)).toEqual(withVersion(undefined));
  expect(() => withVersion(2)).toThrow(
    expect.objectContaining({
      code: 'STORE_FAILED',
      message: 'run run_1, step "a/score": its score has version 2, but this Signalbox supports version 1',
      hint: 'A newer Signalbox wrote it: resume the run with that version. `signalbox runs cancel run_1` ends the run.',
    }),
  );
  expect(() => withVersion('x')).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
});

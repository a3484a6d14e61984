import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createHookContext } from '../../src/contract/turn.ts';
import { openHookFiles } from '../../src/runtime/hook-files.ts';

function write(sessions: readonly string[]): (string | null | undefined)[] {
  const problems: string[] = [];
  const scribe = openHookFiles({ report: (problem) => problems.push(problem) });
  onTestFinished(() => scribe.close());
  const files = sessions.map(
    (session) =>
      scribe.prepare({ ...createHookContext('c'), session_id: session }, { name: 'claude' }).transcript,
  );
  expect(problems).toEqual([]);
  return files;
}

test('any session name keeps its transcript in its folder', () => {
  const sessions = ['s-1', '..', '.', '../..', '/etc', '', 'a/../../b', 'nul\0', 'x'.repeat(5_000)];
  const files = write(sessions).map((file) => file ?? '');
  const homeOf = (file: string) => dirname(dirname(dirname(file)));
  const home = homeOf(files[0] ?? '');
  expect(files.map(homeOf)).toEqual(sessions.map(() => home));
  expect(files.every((file) => existsSync(file))).toBe(true);
  expect(readdirSync(home)).toHaveLength(sessions.length);
  expect(existsSync(join(dirname(home), 'transcript.jsonl'))).toBe(false);
});

test('no two sessions share a transcript', () => {
  const files = write(['a/b', 'a_b', 'a b', 'A_B', 'e\u0301', '\u00e9', '\ud800', '\udfff']);
  expect(new Set(files.map((file) => file?.normalize('NFC').toLowerCase())).size).toBe(files.length);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { open } from './open.ts';

function filters(marks: readonly [string, string, string]): string {
  const names = ['a', 'b', 'c'];
  const entries = names.map((name, index) => {
    const args = JSON.stringify([name, marks[index], '{"allow": true}']);
    return `  ${name}: {command: $bin/meets, args: ${args}, env: ["RECORD_FILE=$folder/marks"], hook: tool, phases: [before_execution], modifies: false}`;
  });
  return `tools: {echo: {exec: {command: $bin/echo-args}}}\nhooks:\n${entries.join('\n')}\n`;
}

const marksIn = (folder: string) => readFileSync(join(folder, 'marks'), 'utf8').trim().split('\n');

test('a chain of concurrent filters takes as long as the slowest', async () => {
  // The first ends last, and none ends before all have begun. In sequence they would wait forever.
  const { runtime, folder } = await open(`concurrency: 4\n${filters(['-b', '-c', '+a'])}`);
  expect(await runtime.tools.call('echo', { a: 1 })).toEqual({ status: 'ok', result: { a: 1 } });
  expect(marksIn(folder).filter((mark) => mark.startsWith('-'))).toEqual(['-c', '-b', '-a']);
});

test('limits on processes apply to concurrent filters', async () => {
  const { runtime, folder } = await open(`concurrency: 1\n${filters(['', '', ''])}`);
  expect(await runtime.tools.call('echo', { a: 1 })).toEqual({ status: 'ok', result: { a: 1 } });
  expect(marksIn(folder)).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
});

test('firing an event runs them concurrently, too, and the first in the file decides', async () => {
  const { runtime } = await open(
    `concurrency: 4\n${filters(['-b', '+a', '+a']).replace('-b","{\\"allow\\": true}', '-b","{\\"allow\\": false, \\"reason\\": \\"no\\"}')}`,
  );
  const request = { name: 'echo', args: {} };
  expect(await runtime.hooks.fire({ hook: 'tool', phase: 'before_execution', request })).toMatchObject({
    verdict: 'deny',
    hook: 'a',
    reason: 'no',
  });
});

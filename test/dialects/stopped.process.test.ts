import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { builtProgram } from '../built.ts';
import { settle } from '../leaks.ts';
import { newProject, runtimeYaml } from './project.ts';

/** A project whose one hook waits for the file `go` and then denies. */
function project(timeoutMs: number): string {
  return newProject({
    'runtime.yaml': runtimeYaml(
      `hooks:\n  h: {dialect: claude, command: ./wait.sh, timeout_ms: ${timeoutMs}, claude: {event: UserPromptSubmit}}`,
    ),
    'wait.sh':
      '#!/bin/sh\ncat > /dev/null\ntouch asked\nuntil [ -e go ]; do sleep 0.02; done\necho no >&2\nexit 2\n',
  });
}

async function fire(folder: string) {
  const about = ['--dialect', 'claude', '--point', 'UserPromptSubmit', '--event', '{"prompt": "hi"}'];
  const child = spawn(process.execPath, [builtProgram, 'hook', 'fire', '--json', ...about], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(said)));
  while (!existsSync(join(folder, 'asked'))) await sleep(10);
  return { child, ended };
}

test('an answer that arrived while Signalbox itself was stopped is in time', async () => {
  const folder = project(4_000);
  const { child, ended } = await fire(folder);
  child.kill('SIGSTOP');
  writeFileSync(join(folder, 'go'), '');
  // Longer than the rest of the limit.
  await sleep(4_500);
  child.kill('SIGCONT');
  expect(JSON.parse(await ended)).toMatchObject({ verdict: 'deny', reason: 'no', hook: 'h' });
});

test('files for hooks of a runtime that was killed are removed by the next one', async () => {
  const folder = project(60_000);
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('signalbox-hooks-'));
  const { child, ended } = await fire(folder);
  const left = folders();
  expect(left).toHaveLength(1);
  child.kill('SIGKILL');
  await ended;
  writeFileSync(join(folder, 'go'), '');
  await using _runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  expect(await settle(() => folders().filter((name) => left.includes(name)), 10_000)).toEqual([]);
});

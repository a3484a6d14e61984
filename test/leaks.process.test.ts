import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test, vi } from 'vitest';
import { expectOrphan, findSurvivors, openPipes, settle } from './leaks.ts';

// Leaks can only be checked with Linux's /proc.
const hasProc = existsSync('/proc/self/stat');

function commands(folder = tmpdir()): string[] {
  return findSurvivors(folder).map(({ command }) => command);
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'close');
  child.kill('SIGKILL');
  await gone;
}

async function startOrphan(script: string, env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const shell = spawn('sh', ['-c', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [[text]] = await Promise.all([once(shell.stdout, 'data'), once(shell, 'close')]);
  const pid = Number(text);
  // Until it has executed its last program, a process cannot be identified.
  await vi.waitUntil(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'), 10_000);
  return pid;
}

test.runIf(hasProc)('a child that runs is found until it is ended', async () => {
  const child = spawn('sleep', ['301'], { stdio: 'ignore' });
  await once(child, 'spawn');
  expect(commands()).toEqual(['sleep 301']);
  await stop(child);
  expect(commands()).toEqual([]);
});

test.runIf(hasProc)('an orphan is found by the folder it was given', async () => {
  const pid = await startOrphan('sleep 302 >&- & echo $!');
  expect(commands()).toEqual(['sleep 302']);
  process.kill(pid, 'SIGKILL');
  expect(await settle(() => findSurvivors(tmpdir()), 5_000)).toEqual([]);
});

test.runIf(hasProc)('an orphan of another test file is ignored', async () => {
  const pid = await startOrphan('sleep 303 >&- & echo $!', { ...process.env, TMPDIR: '/elsewhere' });
  expect(commands()).toEqual([]);
  expect(commands('/elsewhere')).toEqual(['sleep 303']);
  process.kill(pid, 'SIGKILL');
});

test.runIf(hasProc)('a process that a script put into its own session may be expected', async () => {
  const pid = await startOrphan('setsid sleep 304 >&- & echo $!');
  expect(findSurvivors(tmpdir()).map((survivor) => survivor.pid)).toEqual([pid]);
  expectOrphan(pid);
  expect(commands()).toEqual([]);
  process.kill(pid, 'SIGKILL');
});

test('expecting a missing process is a mistake', () => {
  expect(() => expectOrphan(2 ** 30)).toThrow('no process 1073741824 is there to be expected');
});

test.runIf(hasProc)('a pipe is seen while it is open', async () => {
  const before = new Set(openPipes());
  const news = (): string[] => openPipes().filter((pipe) => !before.has(pipe));
  const child = spawn('sleep', ['305'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child, 'spawn');
  expect(news()).toHaveLength(1);
  await stop(child);
  expect(news()).toEqual([]);
});

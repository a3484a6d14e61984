import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning, until } from '../harness.ts';

/** Neither an end of stdin nor SIGTERM ends it, nor the process that it starts. */
const script = `#!/usr/bin/python3
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]).pid, file=sys.stderr, flush=True)
time.sleep(600)
`;

test.runIf(process.platform === 'linux').each([
  { title: 'the program', kill: 'program' },
  { title: 'the helper and the program', kill: 'both' },
])('nothing forked outlives a SIGKILL of $title [DS-FORK-05@oneshot]', async ({ kill }) => {
  const file = join(mkdtempSync(join(tmpdir(), 'fork-')), 'script.py');
  writeFileSync(file, script, { mode: 0o755 });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holds.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pids: number[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => pids.push(Number(line)));
  await until(() => pids.length === 3, 'a helper, a child and its child');
  expect(pids.every(isRunning)).toBe(true);
  const closed = once(child, 'close');
  child.kill('SIGSTOP');
  if (kill === 'both') process.kill(pids[0] ?? 0, 'SIGKILL');
  child.kill('SIGKILL');
  await closed;
  await until(() => !pids.some(isRunning), 'end of all');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning, until } from '../harness.ts';

/** The script and its child ignore both the end of stdin and SIGTERM. */
const script = `#!/usr/bin/python3
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]).pid, file=sys.stderr, flush=True)
time.sleep(600)
`;

function writeScript(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'fork-')), 'script.py');
  writeFileSync(file, script, { mode: 0o755 });
  return file;
}

const isLinux = process.platform === 'linux';

test.runIf(isLinux).each([
  { title: 'the program', kill: 'program' },
  { title: 'the helper and the program', kill: 'both' },
])('no forked process outlives a SIGKILL of $title [DS-FORK-05@oneshot]', async ({ kill }) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holds.ts'), writeScript()], {
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

test.runIf(isLinux)(
  'the helper kills its children when its stdin ends, even if another process watches them',
  async () => {
    const helperFile = join(import.meta.dirname, '../../../src/process/fork/fork-helper.py');
    const helper = spawn('python3', [helperFile, writeScript()], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void helper.kill('SIGKILL'));
    const said = mkdtempSync(join(tmpdir(), 'said-'));
    const standard = [
      openSync('/dev/null', 'r'),
      openSync('/dev/null', 'w'),
      openSync(join(said, 'stderr'), 'w'),
    ];
    const reports: string[] = [];
    createInterface({ input: helper.stdout }).on('line', (line) => reports.push(line));
    helper.stdin.write(`0 ${process.pid} ${standard.join(' ')} - -\n`);
    const readPid = () => Number(readFileSync(join(said, 'stderr'), 'utf8'));
    await until(() => readPid() > 0, 'a child of the child');
    const pids = [Number(/^started 0 (\d+)$/m.exec(reports.join('\n'))?.[1]), readPid()];
    expect(pids.every(isRunning)).toBe(true);
    const closed = once(helper, 'close');
    helper.stdin.end();
    await closed;
    await until(() => !pids.some(isRunning), 'end of all');
    for (const fd of standard) closeSync(fd);
  },
);

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { until } from '../harness.ts';

/** A program with a call in progress. `pids` holds the ids that the called script printed, by name. */
export interface Host {
  readonly child: ChildProcess;
  readonly pids: ReadonlyMap<string, number>;
}

/** Prints its pid and those of daemons that left its group and session. One of them ignores SIGTERM. */
const daemons = `#!/bin/sh
echo "leader $$" >&2
setsid sh -c 'trap "" TERM; echo "session $$" >&2; while :; do sleep 1; done' </dev/null &
(setsid sh -c 'echo "double $$" >&2; exec sleep 600' </dev/null >/dev/null &)
`;

/** Scripts that start the daemons, and answer either never or at once. */
export const scripts = {
  hangs: script('hangs.sh', `${daemons}exec sleep 600\n`),
  answers: script('answers.sh', `${daemons}sleep 0.3\necho '{"result": 1}'\n`),
};

function script(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'script-')), name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

interface Plan {
  readonly command: string;
  readonly launcher?: string;
  readonly leftovers?: 'kill' | 'keep';
}

/** Starts a program that calls a script, and waits for all its pids. They are killed after the test. */
export async function startHost(plan: Plan, ...words: readonly string[]): Promise<Host> {
  const full = { launcher: 'auto', mode: 'oneshot', leftovers: 'kill', thread: 'main', ...plan };
  const program = join(import.meta.dirname, '../stays.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(full)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pids = new Map<string, number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word = '', pid] = line.split(' ');
    pids.set(word, Number(pid));
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const pid of pids.values()) if (pid > 0) end(pid);
  });
  await until(() => words.every((word) => pids.has(word)), words.join(', '));
  return { child, pids };
}

/** Kills the program and its watcher, so that neither notices the other's end. */
export async function killWithWatcher({ child }: Pick<Host, 'child'>): Promise<void> {
  const closed = once(child, 'close');
  // Stopped, so that it cannot replace the watcher.
  child.kill('SIGSTOP');
  for (const watcher of watchersOf(child.pid)) process.kill(watcher, 'SIGKILL');
  child.kill('SIGKILL');
  await closed;
}

function watchersOf(owner: number | undefined): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).endsWith('\0signalbox-watcher\0'))
    .filter((pid) => /^PPid:\t(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] === String(owner))
    .map(Number);
}

export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

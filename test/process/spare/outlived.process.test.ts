import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning, until } from '../harness.ts';

test.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
  'no waiting process outlives a program that %s ends [DS-WARM-05@oneshot]',
  async (signal) => {
    const file = join(mkdtempSync(join(tmpdir(), 'spare-')), 'script.sh');
    // The end of stdin does not end it.
    writeFileSync(file, '#!/bin/sh\ncat\nsleep 60\n', { mode: 0o755 });
    const child = spawn(process.execPath, [join(import.meta.dirname, 'holds.ts'), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const pids: number[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => pids.push(Number(line)));
    await until(() => pids.length === 3, 'processes that wait');
    expect(pids.every(isRunning)).toBe(true);
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    await until(() => !pids.some(isRunning), 'end of what waited');
  },
);

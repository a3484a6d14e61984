import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createStamper, stampOf } from '../../../src/process/spare/spares.ts';

const names = [
  'script',
  'words.py',
  'pack/inner.py',
  'pack/deep/leaf.py',
  'pack',
  'notes.log',
  'data',
  'bin/tool',
];
const changes = ['write', 'write', 'remove', 'remove', 'rename', 'append', 'chmod', 'folder'] as const;
const step = fc.record({
  change: fc.constantFrom(...changes),
  name: fc.constantFrom(...names),
  to: fc.constantFrom(...names),
  /** File times have the resolution of the clock tick. */
  pauseMs: fc.constantFrom(0, 30),
});

function apply(folder: string, { change, name, to }: { change: string; name: string; to: string }): void {
  const path = join(folder, name);
  if (change === 'write') writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  else if (change === 'append') appendFileSync(path, '\n');
  else if (change === 'remove') rmSync(path, { recursive: true });
  else if (change === 'rename') renameSync(path, join(folder, to));
  else if (change === 'chmod') chmodSync(path, 0o700);
  else mkdirSync(path, { recursive: true });
}

function tryToApply(...given: Parameters<typeof apply>): void {
  try {
    apply(...given);
  } catch {
    // For example the removal of a file that does not exist.
  }
}

test.each([
  { title: 'a script', command: './script', args: ['data', '--flag'] },
  { title: 'a program on PATH', command: 'tool', args: ['script', 'pack'] },
])(
  'a stamp that is kept is what a new one would be, after any changes: $title',
  async ({ command, args }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const folder = mkdtempSync(join(tmpdir(), 'stamps-'));
        for (const each of ['pack/deep', 'bin']) mkdirSync(join(folder, each), { recursive: true });
        for (const name of ['script', 'words.py', 'pack/inner.py', 'bin/tool']) {
          apply(folder, { change: 'write', name, to: '' });
        }
        const files = { command, args, cwd: folder, env: { PATH: join(folder, 'bin') } };
        const stamper = createStamper(files);
        for (const { pauseMs, ...each } of steps) {
          tryToApply(folder, each);
          await sleep(pauseMs);
          expect([stamper().text, stamper().text]).toEqual([stampOf(files).text, stampOf(files).text]);
        }
        rmSync(folder, { recursive: true });
      }),
      { numRuns: 40 },
    );
  },
);

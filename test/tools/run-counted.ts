import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweepTempFolders } from '../../src/base/files/temp-folder.ts';
import { sweepOrphans } from '../../src/process/orphans/sweep-orphans.ts';
import { countLeft, settledDifferences } from '../count-left.ts';

// run-counted.ts COMMAND [ARGUMENT…] runs tests and fails if they leave anything behind.

const [command = '', ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'signalbox-tests-'));
const before = countLeft(folder);
// Every process of the run inherits TMPDIR, even from a closed environment.
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, TMPDIR: folder } });
// A terminal signals the whole group; a signal to this process alone is meant for the run.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
const [code, signal]: [number | null, NodeJS.Signals | null] = await Promise.race([
  once(child, 'exit').then(([exitCode, by]): [number | null, NodeJS.Signals | null] => [exitCode, by]),
  once(child, 'error').then(([error]): never => {
    throw error;
  }),
]);
// A sweep does not keep a program alive.
const alive = setInterval(() => {}, 1_000);
// Removes what killed processes left, as the next start of Signalbox does.
await sweepOrphans({ watcherMs: 1_500, graceMs: 500 });
await sweepTempFolders();
removeEmptyFolders();
const left = await settledDifferences(before, folder);
clearInterval(alive);
rmSync(folder, { recursive: true, force: true });
const { processes, descriptors, files } = before;
const counted = `${processes.length} processes, ${descriptors.length} descriptors, ${files.length} temporary files`;
process.stdout.write(
  left.length === 0
    ? `before the tests: ${counted}; after: the same\n`
    : `before the tests: ${counted}; after, these are left:\n${left.join('\n')}\n`,
);
process.exitCode = signal === null ? (code ?? 1) : 128 + constants.signals[signal];
if (left.length > 0) process.exitCode ||= 1;

/** Vitest runs no hook of a file whose tests are all skipped, so the folder for its temporary files is left, empty. */
function removeEmptyFolders(): void {
  for (const entry of readdirSync(folder)) {
    try {
      rmdirSync(join(folder, entry));
    } catch {
      // It is a leftover.
    }
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { compileCache } from './built.ts';
import { canary, canaryName, filesWithCanary } from './canary.ts';
import { findSurvivors, openPipes, settle } from './leaks.ts';

// Gives every test file its own folder for temporary files. Signalbox forwards TMPDIR to its processes, so the folder
// also identifies those of this file.
const outer = process.env.TMPDIR;
const folder = mkdtempSync(join(tmpdir(), 'signalbox-'));
process.env.TMPDIR = folder;
process.env.XDG_RUNTIME_DIR = folder;
process.env[canaryName] = canary;
process.env.NODE_COMPILE_CACHE ??= compileCache;
// Programs that tests start also count their lines, for test/tools/coverage.ts.
if (process.env.COVERAGE !== undefined) process.env.NODE_V8_COVERAGE = process.env.COVERAGE;

const complaints: string[] = [];
const onWarning = (warning: Error) =>
  void complaints.push(`process warning: ${warning.stack ?? warning.message}`);
const onRejection = (reason: unknown) => void complaints.push(`unhandled rejection: ${String(reason)}`);
// libuv opens a pipe with the first signal listener or child. This opens it early, so that it does not count as a leak.
const onUrgent = () => {};
process.on('warning', onWarning).on('unhandledRejection', onRejection).on('SIGURG', onUrgent);
const before = new Set(openPipes());

afterAll(async () => {
  const survivors = await settle(() => findSurvivors(folder), 5_000);
  const pipes = await settle(() => openPipes().filter((pipe) => !before.has(pipe)), 1_000);
  for (const { pid } of survivors) end(pid);
  const spilled = filesWithCanary(folder);
  rmSync(folder, { recursive: true, force: true });
  if (outer === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = outer;
  await nextTurn(); // A warning is emitted one turn after its cause.
  // Some workers run several files.
  process.off('warning', onWarning).off('unhandledRejection', onRejection).off('SIGURG', onUrgent);
  const leaks = [
    ...survivors.map(({ pid, command }) => `leaked process ${pid}: ${command}`),
    ...pipes.map((pipe) => `leaked descriptor: ${pipe}`),
    ...spilled.map((file) => `a secret of the environment stands in ${file.slice(folder.length + 1)}`),
    ...complaints,
  ];
  if (leaks.length > 0) throw new Error(`this test file left something behind:\n${leaks.join('\n')}`);
});

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

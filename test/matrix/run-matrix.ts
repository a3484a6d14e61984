import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime } from '../../src/index.ts';
import { findSurvivors, openPipes, settle } from '../leaks.ts';
import { type Cell, type CellResult, runCell } from './run-cell.ts';

interface Leaks {
  readonly processes: readonly string[];
  readonly descriptors: readonly string[];
  readonly files: readonly string[];
}

export interface MatrixRun {
  readonly results: readonly CellResult[];
  readonly leaks: Leaks;
  readonly ms: number;
}

export interface MatrixOptions {
  readonly width?: number;
  readonly hungMs?: number | undefined;
  /** The time that leftovers get to end by themselves. Default: 10 s. */
  readonly settleMs?: number | undefined;
  readonly stopAfterMs?: number | undefined;
  readonly onResult?: ((done: number, of: number) => void) | undefined;
}

/** Runs cells concurrently, each in its own folder, and looks for leftovers. */
export async function runMatrix(
  cells: readonly Cell[],
  { width = 24, settleMs = 10_000, ...options }: MatrixOptions = {},
): Promise<MatrixRun> {
  const outer = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'matrix-'));
  // Includes this process's own temporary files in the check.
  process.env['TMPDIR'] = folder;
  const start = performance.now();
  try {
    await openOnce(folder);
    const before = new Set([...openPipes(), ...readdirSync(folder)]);
    const results = await runAll(cells, { ...options, folder, width });
    return {
      results,
      leaks: await findLeaks(folder, { before, settleMs }),
      ms: Math.round(performance.now() - start),
    };
  } finally {
    if (outer === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = outer;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openOnce(folder: string): Promise<void> {
  const file = join(folder, 'runtime.yaml');
  const tool = { description: 'it', exec: { command: '/bin/true' } };
  for (const launcher of ['native', 'portable'] as const) {
    writeFileSync(
      file,
      JSON.stringify({ apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', spec: { tools: { it: tool } } }),
    );
    const runtime = await openRuntime(file, { log: false, launcher });
    await runtime.tools.call('it');
    await runtime.close();
  }
  rmSync(file);
}

async function runAll(
  cells: readonly Cell[],
  {
    folder,
    width,
    hungMs,
    stopAfterMs = Number.POSITIVE_INFINITY,
    onResult,
  }: { readonly folder: string } & Required<Pick<MatrixOptions, 'width'>> & MatrixOptions,
): Promise<CellResult[]> {
  const results: CellResult[][] = [];
  const waiting = cells.entries();
  let done = 0;
  const stopAt = performance.now() + stopAfterMs;
  const work = async () => {
    for (const [index, cell] of waiting) {
      if (performance.now() > stopAt) break;
      const own = join(folder, `cell-${index}`);
      results[index] = await runCell(cell, own, hungMs);
      onResult?.(++done, cells.length);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return results.flat();
}

async function findLeaks(
  folder: string,
  { before, settleMs }: { readonly before: ReadonlySet<string>; readonly settleMs: number },
): Promise<Leaks> {
  const survivors = await settle(() => findSurvivors(folder), settleMs);
  const processes = survivors.map(({ pid, command }) => `${pid} of ${folderOf(pid)}: ${command}`);
  const descriptors = await settle(() => openPipes().filter((pipe) => !before.has(pipe)), settleMs);
  const files = readdirSync(folder).filter((name) => !name.startsWith('cell-') && !before.has(name));
  for (const { pid } of survivors) end(pid);
  return { processes, descriptors, files };
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return 'an unknown cell';
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

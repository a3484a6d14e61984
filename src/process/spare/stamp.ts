import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findExecutable } from '../../base/files/executable.ts';
import { isFile, tryReadHead } from '../../base/files/interpreter.ts';
import { sleep } from '../../base/time/deadline.ts';
import type { Binding } from '../binding.ts';

/** The state of the files that a process is started from. */
export interface Stamp {
  /** Differs after any change of them. */
  readonly text: string;
  /** Some of them changed so lately that the next change may leave the same time. */
  readonly isSettling: boolean;
}

/**
 * The state of the program, of the files that its arguments name, and of the files in the folders of those of them that are
 * scripts, two folders deep. Data that programs write beside themselves (databases, logs) does not count.
 */
export function stampOf({
  command,
  args,
  cwd,
  env,
}: Pick<Binding, 'command' | 'args' | 'cwd' | 'env'>): Stamp {
  const program = findExecutable(command, cwd, env['PATH'] ?? '');
  const path = program.found ? program.path : command;
  const leading = program.found ? (program.leading ?? []) : [];
  const named = [...leading, ...args].map((arg) => resolve(cwd, arg)).filter(isFile);
  const scripts = command.includes('/') && isScript(path) ? [path, ...named] : named;
  const folders = [...new Set(scripts.map((script) => dirname(script)))];
  const found = new Map<string, Stats>();
  for (const file of [path, ...named]) addStats(found, file);
  for (const folder of folders) addFolder(found, folder, MAX_DEPTH);
  let newestMs = 0;
  let text = '';
  for (const [file, { ino, size, mtimeMs, ctimeMs }] of found) {
    newestMs = Math.max(newestMs, mtimeMs, ctimeMs);
    text += `${file}\0${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
  }
  const ageMs = Date.now() - newestMs;
  return { text, isSettling: ageMs >= 0 && ageMs < TICK_MS };
}

/** The state of the files, once it is sure that a later change would show in it. */
export async function settledStamp(files: Parameters<typeof stampOf>[0]): Promise<string> {
  const stamp = stampOf(files);
  if (!stamp.isSettling) return stamp.text;
  await sleep(TICK_MS);
  return stampOf(files).text;
}

/** Times of files are those of the system's clock tick, which has at most 10 ms; twice that, for comfort. */
const TICK_MS = 20;

const MAX_DEPTH = 2;
/** A folder with more files than this is looked at no further: so many are data. */
const MAX_FILES = 500;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['__pycache__', 'node_modules']);
const DATA = /\.(?:log|tmp|pyc|(?:db|sqlite3?)(?:-wal|-shm|-journal)?)$/;

function isScript(path: string): boolean {
  return tryReadHead(path)?.subarray(0, 2).toString() === '#!';
}

function addFolder(found: Map<string, Stats>, folder: string, depth: number): void {
  for (const { entry, path } of listFolder(folder)) {
    if (found.size >= MAX_FILES) return;
    if (!entry.isDirectory()) addStats(found, path);
    else if (depth > 0) addFolder(found, path, depth - 1);
  }
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') && !SKIPPED_FOLDERS.has(name) && !DATA.test(name))
      .map((entry) => ({ entry, path: join(folder, entry.name) }));
  } catch {
    return []; // A folder that cannot be listed: its scripts are known by name.
  }
}

function addStats(found: Map<string, Stats>, path: string): void {
  const stats = tryStat(path);
  if (stats !== undefined) found.set(path, stats);
}

function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // A link to itself, say: nobody can run it or read it either.
  }
}

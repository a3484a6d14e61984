import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { type Owner, ownerFromText, ownerPattern, ownerToText, thisOwner } from '../../base/files/owner.ts';
import { ShortLivedMap } from '../../base/short-lived.ts';
import { waitForSettled } from '../../base/time/deadline.ts';
import type { LaunchListener } from './launch.ts';
import { loadedLibc, type MappedFile } from './system/libc.ts';
import { keepNodeAlive } from './system/outputs.ts';

export const launchListener: LaunchListener = {
  starting: (stdout) => {
    const watched = watch(describeStart(stdout));
    return (group) => {
      if (group === null) return unwatch(watched);
      running.set(group, watched);
      describe(watched, describeGroup(group));
    };
  },
};

/** Records that the leader was reaped, so that its pid may be reused. */
export function leaderEnded(group: number): void {
  const watched = running.get(group);
  if (watched !== undefined) describe(watched, describeRest(group));
}

/** Stops watching the group: it may outlive this process. */
export function releaseGroup(group: number): void {
  const watched = running.get(group);
  running.delete(group);
  if (watched !== undefined) unwatch(watched);
}

/** Returns false if the process is gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  return signalGroup(-pid, signal);
}

/** Returns false if the group has no process. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  const libc = loadedLibc();
  // Most groups are already empty, and throwing an exception would dominate the cost.
  if (libc !== undefined) return libc.kill(-group, signal === 0 ? 0 : constants.signals[signal]) === 0;
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

/** `onLost` is called once no watcher is left, so that processes would outlive a kill of this one. */
export function acquireWatcher(onLost: (reason: string) => void): () => Promise<void> {
  lossListeners.add(onLost);
  return async () => {
    if (!lossListeners.delete(onLost) || lossListeners.size > 0) return;
    const last = watcher;
    watcher = undefined;
    await last?.close();
  };
}

interface Watched {
  text: string;
  row: Row | undefined;
}

const allWatched = new ShortLivedMap<Watched, null>();
const running = new ShortLivedMap<number, Watched>();
process.on('exit', () => {
  // A later start finds processes in other sessions by the table.
  if (allWatched.size === 0) watcher?.discard();
  for (const group of running.keys()) signalGroup(group, 'SIGKILL');
});

const lossListeners = new Set<(reason: string) => void>();
let watcher: Watcher | undefined;
let losses = 0;

/** A killed watcher is replaced until the third loss. */
const MAX_LOSSES = 3;

function watch(text: string): Watched {
  const current = requireWatcher();
  const watched: Watched = { text, row: undefined };
  allWatched.set(watched, null);
  if (current !== undefined) addRow(current, watched);
  return watched;
}

/** A failure replaces the watcher, and the new one has already added the row. */
function addRow(current: Watcher, watched: Watched): void {
  const row = current.add(watched.text);
  if (row !== undefined) watched.row = row;
}

function unwatch(watched: Watched): void {
  allWatched.delete(watched);
  watched.row?.free();
}

function describe(watched: Watched, text: string): void {
  watched.text = text;
  watched.row?.write(text);
}

function requireWatcher(): Watcher | undefined {
  if (watcher !== undefined || losses >= MAX_LOSSES) return watcher;
  const started = startWatcher((reason) => {
    losses += 1;
    if (watcher === started) watcher = undefined;
    if (losses >= MAX_LOSSES) for (const onLost of lossListeners) onLost(reason);
    else if (allWatched.size > 0) requireWatcher();
  });
  watcher = started;
  for (const watched of allWatched.keys()) addRow(started, watched);
  return watcher;
}

/** A small shell process that ends the process groups in its table when this process ends, even by SIGKILL. */
interface Watcher {
  add(text: string): Row | undefined;
  /** Removes the table, so that nothing is ended later. For the exit of this process. Never throws. */
  discard(): void;
  /** Ends the watcher and everything in its table. Never rejects. */
  close(): Promise<void>;
}

export function describeStart(stdout: string): string {
  return stdout === '' ? '' : `? ${stdoutMark(stdout)}`;
}

export function stdoutMark(stdout: string): string {
  const end = stdout.length > MARK_CHARACTERS ? stdout.slice(-MARK_CHARACTERS) : stdout;
  return end.includes('\n') ? end.replaceAll('\n', '?') : end;
}

export function describeGroup(group: number): string {
  return `+ ${group}`;
}

export function describeRest(group: number): string {
  return `- ${group}`;
}

export function readRows(table: string): {
  readonly groups: readonly number[];
  readonly stdouts: readonly string[];
} {
  const rows = table.split('\n').map((line) => line.trimEnd());
  return {
    groups: rows.filter((row) => /^[+-] \d+$/.test(row)).map((row) => Number(row.slice(2))),
    stdouts: rows.filter((row) => row.startsWith('? ')).map((row) => row.slice(2)),
  };
}

/** The end of a long path is enough, and 80 characters of three bytes fit into a row. */
const MARK_CHARACTERS = 80;

/** Does not keep this process alive. `onLost` is called once if the watcher ends without `close`. */
export function startWatcher(onLost: (reason: string) => void): Watcher {
  let isEnded = false;
  let opened: { readonly table: Table; readonly child: ChildProcess } | undefined;
  const reportLoss = (reason: string) => {
    if (isEnded) return;
    isEnded = true;
    // SIGKILL, since a watcher whose stdin ends would end the running processes.
    opened?.child.kill('SIGKILL');
    opened?.table.close();
    onLost(reason);
  };
  try {
    const table = openTable();
    opened = { table, child: spawnShell(table.fd, reportLoss) };
  } catch (error) {
    queueMicrotask(() => reportLoss(messageOf(error)));
  }
  const guarded = (change: () => void) => {
    if (isEnded) return;
    try {
      change();
    } catch (error) {
      reportLoss(messageOf(error));
    }
  };
  return {
    add: (text) => {
      let row: Row | undefined;
      guarded(() => {
        row = opened?.table.add(text);
      });
      return (
        row && { write: (next) => guarded(() => row?.write(next)), free: () => guarded(() => row?.free()) }
      );
    },
    discard: () => opened?.table.discard(),
    close: async () => {
      if (isEnded || opened === undefined) return;
      isEnded = true;
      const { child, table } = opened;
      table.close();
      child.ref();
      child.stdin?.end();
      await waitForSettled(once(child, 'exit'), ENDS_WITHIN_MS);
      child.unref();
    },
  };
}

const ENDS_WITHIN_MS = 2_000;

function spawnShell(table: number, reportLoss: (reason: string) => void): ChildProcess {
  const child = spawn('/bin/sh', ['-c', watcherScript, 'signalbox-watcher'], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    // Its own session: a signal to this process's group or terminal must not end it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', table],
  });
  child.once('error', ({ message }) => reportLoss(message));
  child.once('exit', (code, signal) => reportLoss(`it ended with ${signal ?? code}`));
  child.stdin?.on('error', ({ message }) => reportLoss(message));
  child.unref();
  keepNodeAlive(child.stdin, false);
  return child;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of a row that was never used, and all rows after it. The shell reads each byte by itself. */
const UNUSED = '.';

/** stdin ends with the owner. Start times from /proc detect reused pids; announced processes are found by stdout. */
const watcherScript = `: signalbox ends what its owner leaves running
trap '' HUP INT QUIT TERM
set -f
groups=' ' marks=
began() {
  start= leader= stat=
  [ -e "/proc/$1/stat" ] || return 0
  while read -r part; do stat="$stat $part"; done <"/proc/$1/stat"
  set -- \${stat##*") "}
  leader=$3 start=\${20}
}
watch() {
  began "$1"
  groups="$groups$1:$start "
}
while read -r line; do :; done
while read -r verb what; do
  case $verb in
  '?') marks="$marks$what
" ;;
  +) watch "$what" ;;
  -) groups="$groups$what: " ;;
  ${UNUSED}) break ;;
  esac
done <&3
each() {
  left=1
  for group in $groups; do
    began "\${group%:*}"
    [ -z "$start" ] || [ "$start" = "\${group#*:}" ] || continue
    kill -s "$1" -- "-\${group%:*}" && left=0
  done
  return $left
}
owners() {
  set +f
  ls -l /proc/[0-9]*/fd/1 | while read -r line; do
    case $line in *"$1") line=\${line#*/proc/}; echo "\${line%%/*}" ;; esac
  done
  set -f
}
pause() { sleep 0.1 || sleep 1; }
for try in 1 2 3 4 5; do
  [ -n "$marks" ] || break
  wanted=$marks marks=
  while read -r mark; do
    [ -n "$mark" ] || continue
    found=$(owners "$mark")
    [ -n "$found" ] || marks="$marks$mark
"
    for pid in $found; do
      began "$pid"
      watch "\${leader:-$pid}"
    done
  done <<EOF
$wanted
EOF
  [ -z "$marks" ] || pause
done
each TERM || exit 0
for try in 1 2 3 4 5 6 7 8 9 10; do pause; each 0 || exit 0; done
each KILL`;

interface Row {
  /** Writes synchronously: at most 250 bytes of UTF-8 without a newline. Throws the system error. */
  write(text: string): void;
  /** Empties the line for reuse. Throws the system error. */
  free(): void;
}

/** A file that remains after its owner was killed shows a later start what ran. */
interface Table {
  readonly fd: number;
  add(text: string): Row;
  discard(): void;
  close(): void;
}

/** After a failure, the table of the next watcher is in another folder. */
let hasMemoryRoom = true;

function openTable(): Table {
  const { fd, path } = openFile();
  const mapped = path.startsWith(`${MEMORY_FOLDER}/`) ? mapRows(fd) : undefined;
  const free: number[] = [];
  const bytes = Buffer.alloc(ROW_BYTES);
  let rows = 0;
  const write = (index: number, text: string) => {
    if (mapped !== undefined && index < MAPPED_ROWS) return writeRow(mapped.memory, index * ROW_BYTES, text);
    writeRow(bytes, 0, text);
    try {
      // Positioned, since the reader shares the offset of the descriptor.
      writeSync(fd, bytes, 0, ROW_BYTES, index * ROW_BYTES);
    } catch (error) {
      hasMemoryRoom = false;
      throw error;
    }
  };
  const add = (text: string): number => {
    const index = free.pop() ?? rows++;
    write(index, text);
    return index;
  };
  const clear = (index: number) => {
    write(index, '');
    free.push(index);
  };
  return {
    fd,
    add: (text) => {
      let index = add(text);
      return {
        write: (next) => {
          // SIGKILL may come at any time, and the process must be in a row at that time.
          const last = index;
          index = add(next);
          clear(last);
        },
        free: () => clear(index),
      };
    },
    discard: () => removeTable(path),
    close: () => {
      mapped?.unmap();
      removeTable(path);
      closeSync(fd);
    },
  };
}

/** Writing to memory needs no system call. Undefined where rows are written to the file. */
function mapRows(fd: number): MappedFile | undefined {
  const libc = loadedLibc();
  // The end of a thread would leave the memory mapped.
  return threads.isMainThread ? libc?.map(fd, MAPPED_ROWS * ROW_BYTES) : undefined;
}

/** The first byte, without which a row says nothing, comes last: SIGKILL may interrupt the writing. */
function writeRow(to: Buffer, at: number, text: string): void {
  Atomics.store(to, at, SPACE);
  to.fill(SPACE, at + 1, at + ROW_BYTES - 1);
  to.write(text.slice(1), at + 1, ROW_BYTES - 2);
  to[at + ROW_BYTES - 1] = NEWLINE;
  if (text !== '') Atomics.store(to, at, text.charCodeAt(0));
}

const MAPPED_ROWS = 64;
const ROW_BYTES = 256;
const SPACE = 0x20;
const NEWLINE = 0x0a;

const MEMORY_FOLDER = '/dev/shm';

/** In-memory folders come first, since the rows change with every process. */
export function tableFolders(): readonly string[] {
  return [...new Set([MEMORY_FOLDER, tmpdir()])];
}

export function ownerOfTable(name: string): Owner | undefined {
  const [, owner] = tableName.exec(name) ?? [];
  return owner === undefined ? undefined : ownerFromText(owner);
}

export function removeTable(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A read-only folder is harmless.
  }
}

const tableName = new RegExp(`^signalbox-groups-(${ownerPattern})-[0-9a-f-]{36}$`);

function openFile(): { readonly fd: number; readonly path: string } {
  const name = `signalbox-groups-${ownerToText(thisOwner())}-${randomUUID()}`;
  const folders = tableFolders().slice(hasMemoryRoom ? 0 : -1);
  const [first = tmpdir(), second = first] = folders.map((folder) => join(folder, name));
  try {
    return openAt(first);
  } catch {
    return openAt(second);
  }
}

/** Throws if the folder has no room for the rows: access to mapped memory without storage would end this process. */
function openAt(path: string): { readonly fd: number; readonly path: string } {
  const rows = Buffer.alloc(MAPPED_ROWS * ROW_BYTES, `${UNUSED.padEnd(ROW_BYTES - 1)}\n`);
  const fd = openSync(path, 'wx+', 0o600);
  try {
    if (writeSync(fd, rows, 0, rows.length, 0) < rows.length) throw new Error(`there is no room for ${path}`);
    return { fd, path };
  } catch (error) {
    closeSync(fd);
    removeTable(path);
    throw error;
  }
}

/** The owner of a process or its ancestor, and whether its entry keeps background children. */
export interface OwnerMark {
  readonly owner: Owner;
  readonly leftovers: Leftovers;
}

export type Leftovers = 'kill' | 'keep';

type Env = Readonly<Record<string, string>>;

export const OWNER_VARIABLE = 'SIGNALBOX_OWNER';

export function withOwnerMark(env: Env, leftovers: Leftovers): Env {
  return { ...env, [OWNER_VARIABLE]: `${ownerToText(thisOwner())}.${leftovers}` };
}

export function readOwnerMark(environ: Buffer): OwnerMark | undefined {
  const place = environ.indexOf(`${OWNER_VARIABLE}=`);
  if (place === -1) return undefined;
  const [, owner, leftovers] = markPattern.exec(environ.toString('latin1')) ?? [];
  if (owner === undefined) return undefined;
  return { owner: ownerFromText(owner), leftovers: leftovers === 'keep' ? 'keep' : 'kill' };
}

const markPattern = new RegExp(String.raw`(?:^|\0)${OWNER_VARIABLE}=(${ownerPattern})\.(kill|keep)(?:\0|$)`);

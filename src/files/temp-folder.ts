import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a folder for temporary files, for this user's eyes only, whose name says who owns it. It is gone when this
 * process exits, or once `removeTempFolder` was told; what a killed process left is for `sweepTempFolders`. `purpose`
 * is a word of small letters. Throws what the system says.
 */
export function makeTempFolder(purpose: string): string {
  const { pid, thread, startedAt, place } = ownSelf();
  const owner = [pid, thread, startedAt, place].join('.');
  const folder = mkdtempSync(join(tmpdir(), `signalbox-${purpose}-${owner}-`));
  if (made.size === 0) process.once('exit', removeAll);
  made.add(folder);
  return folder;
}

/** Removes a folder that `makeTempFolder` made, and all in it. Throws what the system says. */
export function removeTempFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  made.delete(folder);
  if (made.size === 0) process.off('exit', removeAll);
}

/**
 * Removes this user's temporary folders whose owner, a process or a thread of one, is certainly gone. Those of another
 * machine, container or start of the system stay. Never rejects.
 */
export function sweepTempFolders(): Promise<void> {
  sweeping ??= sweep().finally(() => {
    sweeping = undefined;
  });
  return sweeping;
}

/** Who owns a folder. A thread is named as well, since a worker may be ended alone. */
interface Owner {
  readonly pid: number;
  readonly thread: number;
  /** When the thread began, in clock ticks since the start of the system; 0 where there is no telling. */
  readonly startedAt: number;
  /** Where its numbers mean something. */
  readonly place: string;
}

const made = new Set<string>();
let self: Owner | undefined;
let sweeping: Promise<void> | undefined;

function removeAll(): void {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
}

function ownSelf(): Owner {
  self ??= readSelf();
  return self;
}

function readSelf(): Owner {
  const stat = orNothing(() => readFileSync('/proc/thread-self/stat', 'utf8'));
  const boot = orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const space = orNothing(() => readlinkSync('/proc/self/ns/pid'));
  const place = createHash('sha256').update([hostname(), boot, space].join('\n')).digest('hex').slice(0, 8);
  const { startedAt } = readStat(stat);
  return { pid: process.pid, thread: Number.parseInt(stat, 10) || process.pid, startedAt, place };
}

async function sweep(): Promise<void> {
  const root = tmpdir();
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner === undefined || !(await isGone(owner))) continue;
    const folder = join(root, name);
    // Whoever sweeps at the same time may be quicker.
    const stat = await lstat(folder).catch(() => undefined);
    if (stat?.isDirectory() && stat.uid === process.getuid?.()) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

const ownedName = /^signalbox-[a-z]+-(\d{1,10})\.(\d{1,10})\.(\d{1,15})\.([0-9a-f]{8})-\w+$/;

function ownerOf(name: string): Owner | undefined {
  const [, pid, thread, startedAt, place] = ownedName.exec(name) ?? [];
  if (place === undefined) return undefined;
  return { pid: Number(pid), thread: Number(thread), startedAt: Number(startedAt), place };
}

async function isGone({ pid, thread, startedAt, place }: Owner): Promise<boolean> {
  if (place !== ownSelf().place) return false;
  if (startedAt === 0) return !isThere(pid);
  try {
    const stat = readStat(await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
    return stat.startedAt !== startedAt || stat.isOver;
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
  }
}

/** Source: proc_pid_stat(5). After the name, in which anything may stand, come the state and, 19 fields on, the start. */
function readStat(stat: string): { readonly startedAt: number; readonly isOver: boolean } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { startedAt: Number(fields[19]) || 0, isOver: fields[0] === 'Z' || fields[0] === 'X' };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

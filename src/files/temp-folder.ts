import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a temporary folder, readable by this user only, whose name identifies its owner. It is removed at
 * exit or by `removeTempFolder`; folders of killed processes are removed by `sweepTempFolders`. `purpose` is
 * a lower-case word. Throws the system error.
 */
export function makeTempFolder(purpose: string): string {
  const { pid, thread, startedAt, hostId } = thisOwner();
  const owner = [pid, thread, startedAt, hostId].join('.');
  const folder = mkdtempSync(join(tmpdir(), `signalbox-${purpose}-${owner}-`));
  if (createdFolders.size === 0) process.once('exit', removeAll);
  createdFolders.add(folder);
  return folder;
}

/** Removes a folder that `makeTempFolder` made, and all in it. Throws what the system says. */
export function removeTempFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  createdFolders.delete(folder);
  if (createdFolders.size === 0) process.off('exit', removeAll);
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
  /** A hash of host, boot and pid namespace, in which the pid is valid. */
  readonly hostId: string;
}

const createdFolders = new Set<string>();
let self: Owner | undefined;
let sweeping: Promise<void> | undefined;

function removeAll(): void {
  for (const folder of createdFolders) rmSync(folder, { recursive: true, force: true });
}

function thisOwner(): Owner {
  self ??= readThisOwner();
  return self;
}

function readThisOwner(): Owner {
  const stat = readOrEmpty(() => readFileSync('/proc/thread-self/stat', 'utf8'));
  const boot = readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const space = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'));
  const hostId = createHash('sha256').update([hostname(), boot, space].join('\n')).digest('hex').slice(0, 8);
  const { startedAt } = readStat(stat);
  return { pid: process.pid, thread: Number.parseInt(stat, 10) || process.pid, startedAt, hostId };
}

async function sweep(): Promise<void> {
  const root = tmpdir();
  const names = await readdir(root).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner === undefined || !(await isGone(owner))) continue;
    const folder = join(root, name);
    // Another process may remove it at the same time.
    const stat = await lstat(folder).catch(() => undefined);
    if (stat?.isDirectory() && stat.uid === process.getuid?.()) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    }
  }
}

const ownedName = /^signalbox-[a-z]+-(\d{1,10})\.(\d{1,10})\.(\d{1,15})\.([0-9a-f]{8})-\w+$/;

function ownerOf(name: string): Owner | undefined {
  const [, pid, thread, startedAt, hostId] = ownedName.exec(name) ?? [];
  if (hostId === undefined) return undefined;
  return { pid: Number(pid), thread: Number(thread), startedAt: Number(startedAt), hostId };
}

async function isGone({ pid, thread, startedAt, hostId }: Owner): Promise<boolean> {
  if (hostId !== thisOwner().hostId) return false;
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

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

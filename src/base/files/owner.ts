import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { readStat } from './process-stat.ts';

/** The owner of a file or a process. It includes the thread, since a worker may end alone. */
export interface Owner {
  readonly pid: number;
  readonly thread: number;
  /** When the thread started, in clock ticks since boot; 0 if unknown. */
  readonly startedAt: number;
  /** A hash of host, boot and pid namespace, in which the pid is valid. */
  readonly hostId: string;
}

export function thisOwner(): Owner {
  self ??= readThisOwner();
  return self;
}

export function ownerToText({ pid, thread, startedAt, hostId }: Owner): string {
  return [pid, thread, startedAt, hostId].join('.');
}

export const ownerPattern = String.raw`\d{1,10}\.\d{1,10}\.\d{1,15}\.[0-9a-f]{8}`;

/** `text` must match `ownerPattern`. */
export function ownerFromText(text: string): Owner {
  const [pid, thread, startedAt, hostId = ''] = text.split('.');
  return { pid: Number(pid), thread: Number(thread), startedAt: Number(startedAt), hostId };
}

/** Whether the owner has certainly ended; false for another machine, container or boot. Never rejects. */
export async function isGone({ pid, thread, startedAt, hostId }: Owner): Promise<boolean> {
  if (hostId !== thisOwner().hostId) return false;
  if (startedAt === 0) return !isThere(pid);
  try {
    const stat = readStat(await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
    return stat.startedAt !== startedAt || stat.isOver;
  } catch (error) {
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
  }
}

let self: Owner | undefined;

function readThisOwner(): Owner {
  const stat = readOrEmpty(() => readFileSync('/proc/thread-self/stat', 'utf8'));
  const boot = readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const space = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'));
  const hostId = digest([hostname(), boot, space].join('\n'));
  const { startedAt } = readStat(stat);
  return { pid: process.pid, thread: Number.parseInt(stat, 10) || process.pid, startedAt, hostId };
}

/** Eight hexadecimal digits (FNV-1a). It avoids loading `crypto`, which most commands do not need. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
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

import { readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { readStat } from './process-stat.ts';

/** Who owns a file or a process. A thread is named as well, since a worker may be ended alone. */
export interface Owner {
  readonly pid: number;
  readonly thread: number;
  /** When the thread began, in clock ticks since the start of the system; 0 where there is no telling. */
  readonly startedAt: number;
  /** A hash of host, boot and pid namespace, in which the pid is valid. */
  readonly hostId: string;
}

/** This thread. */
export function thisOwner(): Owner {
  self ??= readThisOwner();
  return self;
}

/** The owner in one word of digits, letters and dots. */
export function ownerToText({ pid, thread, startedAt, hostId }: Owner): string {
  return [pid, thread, startedAt, hostId].join('.');
}

/** What `ownerToText` gives, as a regular expression without anchors. */
export const ownerPattern = String.raw`\d{1,10}\.\d{1,10}\.\d{1,15}\.[0-9a-f]{8}`;

/** The owner of a text that matches `ownerPattern`. */
export function ownerFromText(text: string): Owner {
  const [pid, thread, startedAt, hostId = ''] = text.split('.');
  return { pid: Number(pid), thread: Number(thread), startedAt: Number(startedAt), hostId };
}

/** Whether the owner has certainly ended: false for one of another machine, container or start of the system. Never rejects. */
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

/** Eight hexadecimal digits (FNV-1a): what tells machines apart need not load `crypto`, which most commands do without. */
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

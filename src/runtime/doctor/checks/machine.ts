import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { toRuntimeError } from '../../../base/errors.ts';
import { makeTempFolder, removeTempFolder } from '../../../base/files/temp-folder.ts';
import { requirePlatform } from '../../../base/platform.ts';
import type { HostEnv } from '../../../process/env.ts';
import { listOrphans } from '../../../process/orphans/sweep-orphans.ts';
import { loadSqlite } from '../../../store/sqlite/node-sqlite.ts';
import { type Check, found } from './check.ts';

export async function checkMachine(version: string, env: HostEnv): Promise<Check[]> {
  return [
    found('ok', { check: 'signalbox', message: version }),
    checkNode(),
    checkSqlite(),
    await checkTempFolder(),
    ...checkLimits(),
    checkClock(),
    checkTimeZone(env),
    ...(await checkOrphans()),
  ];
}

function checkNode(): Check {
  const about = { check: 'node', message: `${process.versions.node} on ${process.platform}` };
  try {
    requirePlatform();
  } catch (thrown) {
    const { message, hint } = toRuntimeError(thrown);
    return found('error', { ...about, message, hint });
  }
  if (process.platform === 'linux' || process.platform === 'darwin') return found('ok', about);
  return found('error', { ...about, hint: 'Signalbox runs on Linux and macOS.' });
}

function checkSqlite(): Check {
  try {
    loadSqlite();
    return found('ok', { check: 'sqlite', message: process.versions['sqlite'] ?? 'available' });
  } catch (thrown) {
    const { message, hint } = toRuntimeError(thrown);
    return found('error', { check: 'sqlite', message, hint });
  }
}

const MIB = 1024 * 1024;

async function checkTempFolder(): Promise<Check> {
  const about = { check: 'temp folder', subject: tmpdir() };
  const hint = 'Set TMPDIR to a writable folder, or free some disk space.';
  try {
    removeTempFolder(makeTempFolder('doctor'));
    const free = await freeBytes(tmpdir());
    const message = `can be written, ${toMib(free)} free`;
    return free < 64 * MIB
      ? found('warning', { ...about, message, hint })
      : found('ok', { ...about, message });
  } catch (thrown) {
    return found('error', { ...about, message: `cannot be used: ${toRuntimeError(thrown).message}`, hint });
  }
}

/** The bytes that this user can still write to the file system of the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export function toMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}

const needed = [
  { check: 'open files', key: 'Max open files', least: 1024, flag: '-n' },
  { check: 'processes', key: 'Max processes', least: 256, flag: '-u' },
] as const;

/** Source: proc_pid_limits(5). */
function checkLimits(): Check[] {
  const limits = readLimits();
  return needed.map(({ check, key, least, flag }) => {
    const [, soft] = new RegExp(`^${key}\\s+(\\S+)`, 'm').exec(limits) ?? [];
    if (soft === undefined)
      return found('not applicable', { check, message: 'the system does not report a limit' });
    const isEnough = soft === 'unlimited' || Number(soft) >= least;
    if (isEnough) return found('ok', { check, message: soft });
    const hint = `Raise the limit: \`ulimit ${flag} ${least}\`.`;
    return found('warning', { check, message: `at most ${soft}; ${least} are recommended`, hint });
  });
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

const FIRST_RELEASE = Date.UTC(2026, 0, 1);

function checkClock(): Check {
  const now = Date.now();
  const message = new Date(now).toISOString();
  if (now >= FIRST_RELEASE) return found('ok', { check: 'clock', message });
  const hint = 'Set the clock: approvals and keys expire by it.';
  return found('error', {
    check: 'clock',
    message: `${message} is earlier than the release of this Signalbox`,
    hint,
  });
}

function checkTimeZone({ TZ }: HostEnv): Check {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (TZ === undefined || TZ === '' || isTimeZone(TZ))
    return found('ok', { check: 'time zone', message: zone });
  const hint = 'Set TZ to a name such as Europe/Berlin or UTC.';
  return found('warning', { check: 'time zone', message: `TZ is ${TZ}, which Node does not know`, hint });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name.replace(/^:/, '') });
    return true;
  } catch {
    return false;
  }
}

async function checkOrphans(): Promise<Check[]> {
  const orphans = await listOrphans();
  if (orphans.length === 0) return [found('ok', { check: 'orphans', message: 'none' })];
  return orphans.map(({ pid, command }) =>
    found('warning', {
      ...{ check: 'orphans', subject: `process ${pid}` },
      message: `was left by a Signalbox process that was killed: ${command.slice(0, MAX_COMMAND)}`,
      hint: 'The next runtime that opens ends it.',
    }),
  );
}

const MAX_COMMAND = 200;

import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { toRuntimeError } from '../../../base/errors.ts';
import { formatCount } from '../../../base/text/phrases.ts';
import type { StateStoreConfig } from '../../../config/config.ts';
import { type HostEnv, hostEnv } from '../../../process/env.ts';
import { type DatabaseState, inspectDatabase } from '../../../store/sqlite/inspect.ts';
import { type Check, found } from './check.ts';
import { freeBytes, toMib } from './machine.ts';

const STORE = 'state store';
const FOLDER = 'state folder';

/** Changes nothing. */
export async function checkState(store: StateStoreConfig, env: HostEnv = hostEnv()): Promise<Check[]> {
  switch (store.type) {
    case 'memory':
      return [found('not applicable', { check: STORE, message: 'is in memory, and ends with each command' })];
    case 'postgres': {
      const { checkPostgres } = await import('./postgres.ts');
      return [checkFolder(store.folder), ...(await checkPostgres(store.urlEnv, env))];
    }
    case 'refused':
      return [found('error', { check: STORE, message: store.reason })];
    case 'sqlite': {
      const folder = dirname(store.file);
      const checks = [
        checkFolder(folder),
        ...checkFiles(folder, basename(store.file)),
        await checkDisk(folder),
      ];
      return [...checks, ...checkDatabase(store.file)];
    }
  }
}

function checkFolder(folder: string): Check {
  const about = { check: FOLDER, subject: folder };
  const mode = modeOf(folder);
  const place = mode === undefined ? nearestFolder(folder) : folder;
  if (!isWritable(place)) {
    const hint = `Give this user write permission for ${place}, or choose another path in spec.state_store.`;
    return found('error', { ...about, message: `${place} cannot be written`, hint });
  }
  if (mode === undefined) return found('ok', { ...about, message: 'will be created by the first run' });
  if (basename(folder) === '.signalbox' && (mode & 0o077) !== 0) {
    const message = `other users can read it (mode ${octal(mode)})`;
    return found('warning', { ...about, message, hint: `Run \`chmod 700 ${folder}\`.` });
  }
  return found('ok', { ...about, message: `is writable (mode ${octal(mode)})` });
}

function checkFiles(folder: string, database: string): Check[] {
  const isOwn = (name: string) => basename(folder) === '.signalbox' || name.startsWith(database);
  const open = namesIn(folder)
    .filter((name) => isOwn(name) && name !== '.gitignore')
    .flatMap((name) => {
      const mode = modeOf(join(folder, name)) ?? 0;
      return (mode & 0o077) === 0 ? [] : [{ path: join(folder, name), mode }];
    });
  return open.map(({ path, mode }) =>
    found('warning', {
      ...{ check: 'state files', subject: path, message: `other users can access it (mode ${octal(mode)})` },
      hint: `Run \`chmod go= ${path}\`.`,
    }),
  );
}

async function checkDisk(folder: string): Promise<Check> {
  const about = { check: 'disk', subject: folder };
  try {
    const free = await freeBytes(nearestFolder(folder));
    const message = `${toMib(free)} free`;
    if (free >= ENOUGH) return found('ok', { ...about, message });
    const hint =
      'Free some disk space: operations that cannot be stored fail, and no call can wait for a person.';
    return found(free < LEAST ? 'error' : 'warning', { ...about, message, hint });
  } catch (thrown) {
    return found('warning', { ...about, message: toRuntimeError(thrown).message });
  }
}

const ENOUGH = 256 * 1024 * 1024;
const LEAST = 16 * 1024 * 1024;

function checkDatabase(file: string): Check[] {
  const about = { check: STORE, subject: file };
  if (modeOf(file) === undefined)
    return [found('not applicable', { ...about, message: 'does not exist yet' })];
  try {
    return describeDatabase(inspectDatabase(file), file);
  } catch (thrown) {
    const { message, hint } = toRuntimeError(thrown);
    return [found('error', { ...about, message, hint })];
  }
}

function describeDatabase(
  { faults, version, knownVersion, waiting, newestAt }: DatabaseState,
  file: string,
): Check[] {
  const about = { check: STORE, subject: file };
  const [fault] = faults;
  if (fault !== undefined) {
    const hint = `Move ${file} away, with its -wal and -shm files, and restore a backup.`;
    return [found('error', { ...about, message: `is damaged: ${fault}`, hint })];
  }
  const { calls, runs } = waiting;
  const message = `is intact, version ${version} of ${knownVersion}`;
  return [
    found('ok', { ...about, message }),
    found('ok', {
      check: 'waiting',
      subject: file,
      message: `${formatCount(calls, 'call')} for a person, ${formatCount(runs, 'run')} not ended`,
    }),
    ...checkNewest(newestAt, file),
  ];
}

function checkNewest(newestAt: number | undefined, file: string): Check[] {
  const now = Date.now();
  if (newestAt === undefined || newestAt <= now + SKEW_MS) return [];
  const message = `${new Date(now).toISOString()} is before the newest record, ${new Date(newestAt).toISOString()}`;
  const hint =
    'Set the clock: approvals and keys expire by it. If the record is wrong, run signalbox store reset-clock.';
  return [found('error', { check: 'clock', subject: file, message, hint })];
}

const SKEW_MS = 60_000;

function modeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function nearestFolder(folder: string): string {
  return modeOf(folder) !== undefined || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { systemCode } from '../../base/files/file-error.ts';
import { makeFolders } from '../../base/files/paths.ts';
import type { Scrubber } from '../../contract/scrub.ts';

/** Model answers in files, named by the digest of the call. Several processes may share the folder. */
export interface ResponseCache {
  /** Returns what `read` returns. Warns about a broken entry, removes it and returns undefined. Never rejects. */
  find<Answer>(key: string, read: (text: string) => Answer | undefined): Promise<Answer | undefined>;
  /** Stores a text unless it contains a secret. Warns once about write errors. Never rejects. */
  keep(key: string, write: () => string): Promise<void>;
}

interface ResponseCacheOptions {
  readonly warn: (message: string) => void;
  readonly scrubber: Pick<Scrubber, 'values'>;
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 256 * 2 ** 20;
const KEPT_SHARE = 0.8;
const MAX_ENTRY_BYTES = 16 * 2 ** 20;

/** Only the owner can access the folder. Throws FILE_UNREADABLE. */
export function openResponseCache(folder: string, options: ResponseCacheOptions): ResponseCache {
  const { warn, scrubber, maxBytes = MAX_BYTES } = options;
  openFolder(folder);
  let known: number | undefined;
  let evicting: Promise<void> | undefined;
  let hasWarned = false;
  const fileOf = (key: string) => join(folder, key.slice(0, 2), `${key}.json`);
  const makeRoom = async (added: number): Promise<void> => {
    known = known === undefined ? await sizeOf(folder) : known + added;
    if (known <= maxBytes) return;
    evicting ??= evictOldest(folder, maxBytes * KEPT_SHARE)
      .then((left) => {
        known = left;
      })
      .finally(() => {
        evicting = undefined;
      });
    await evicting;
  };
  return {
    async find(key, read) {
      const file = fileOf(key);
      const text = await readOrNothing(file);
      if (text === undefined) return undefined;
      const answer = readEntry(text, read);
      if (answer !== undefined) return answer;
      warn(`${file} is not a usable answer, and was removed`);
      await rm(file, { force: true }).catch(() => {});
      return undefined;
    },
    async keep(key, write) {
      try {
        const body = write();
        if (scrubber.values(body) !== body || body.length > MAX_ENTRY_BYTES) return;
        const bytes = Buffer.from(`${digestOf(body)}\n${body}`);
        await writeWhole(fileOf(key), bytes);
        await makeRoom(bytes.length);
      } catch (thrown) {
        if (!hasWarned) warn(`answers cannot be cached in ${folder}: ${toRuntimeError(thrown).message}`);
        hasWarned = true;
      }
    },
  };
}

/** Returns the number of removed entries. Other files in the folder stay. Throws FILE_UNREADABLE. */
export async function clearResponseCache(folder: string): Promise<number> {
  try {
    const entries = await entriesOf(folder);
    for (const { file } of entries) await rm(file, { force: true });
    return entries.length;
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

function openFolder(folder: string): void {
  try {
    makeFolders(dirname(folder));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

function unusable(folder: string, cause: unknown): RuntimeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RuntimeError('FILE_UNREADABLE', `the cache in ${folder} cannot be used: ${reason}`, { cause });
}

/** The first line is the digest of the text, so truncated and changed files are rejected. */
function readEntry<Answer>(text: string, read: (text: string) => Answer | undefined): Answer | undefined {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end === -1 || text.slice(0, end) !== digestOf(body)) return undefined;
  try {
    return read(body);
  } catch {
    return undefined;
  }
}

function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

async function readOrNothing(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return undefined;
    return '';
  }
}

/** Readers see either the old file or the new one. */
async function writeWhole(file: string, bytes: Buffer): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}.new`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, bytes, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

interface Entry {
  readonly file: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

async function sizeOf(folder: string): Promise<number> {
  return (await entriesOf(folder)).reduce((sum, { bytes }) => sum + bytes, 0);
}

async function entriesOf(folder: string): Promise<readonly Entry[]> {
  const names = await readdir(folder, { recursive: true }).catch((thrown: unknown) => {
    if (systemCode(thrown) === 'ENOENT') return [];
    throw thrown;
  });
  const files = names.filter((name) =>
    /^[0-9a-f]{2}[/\\][0-9a-f]{64}\.json(\.[0-9a-f]{12}\.new)?$/.test(name),
  );
  const entries: Entry[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined) entries.push({ file, bytes: found.size, writtenMs: found.mtimeMs });
  }
  return entries;
}

async function evictOldest(folder: string, wanted: number): Promise<number> {
  const entries = [...(await entriesOf(folder))].sort((one, other) => one.writtenMs - other.writtenMs);
  let left = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { file, bytes } of entries) {
    if (left <= wanted) break;
    await rm(file, { force: true });
    left -= bytes;
  }
  return left;
}

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type Hmac,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createExecutableFinder } from '../../base/files/executable.ts';
import { KEY_LENGTH, openKeyFile } from '../../base/files/key-file.ts';
import { stringifyJson } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { Binding } from '../../process/binding.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';

export class MemoKey {
  readonly #secret: KeyObject;

  constructor(secret: Uint8Array) {
    this.#secret = createSecretKey(secret);
  }

  /** Returns the HMAC-SHA-256 of the parts in base64url, which reveals nothing of them. */
  nameOf(purpose: string, ...parts: readonly (string | Uint8Array)[]): string {
    return hmacOf(this.#secret, [purpose, ...parts]).digest('base64url');
  }

  /** Encrypts with AES-256-GCM. Only the same parts can decrypt the text. */
  seal(text: string, ...parts: readonly string[]): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey(parts), nonce);
    const sealed = Buffer.concat([
      nonce,
      cipher.update(text, 'utf16le'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return sealed.toString('base64url');
  }

  /** Returns undefined for another key, other parts or damaged data. */
  open(sealed: string, ...parts: readonly string[]): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE + TAG) return undefined;
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#sealingKey(parts), bytes.subarray(0, NONCE), {
        authTagLength: TAG,
      });
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
      const text = decipher.update(bytes.subarray(NONCE, bytes.length - TAG));
      return Buffer.concat([text, decipher.final()]).toString('utf16le');
    } catch {
      return undefined;
    }
  }

  #sealingKey(parts: readonly string[]): Uint8Array {
    const salt = hmacOf(this.#secret, ['seal', ...parts]).digest();
    return new Uint8Array(hkdfSync('sha256', this.#secret, salt, 'signalbox memo', KEY_LENGTH));
  }
}

const NONCE = 12;
const TAG = 16;

/** Prefixes each part with its length, so that parts cannot be confused. One update, because each update is costly. */
function hmacOf(key: KeyObject, parts: readonly (string | Uint8Array)[]): Hmac {
  const pieces = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf16le') : part));
  const lengths = Buffer.alloc(4 * pieces.length);
  for (const [at, { length }] of pieces.entries()) lengths.writeUInt32LE(length, 4 * at);
  return createHmac('sha256', key).update(Buffer.concat([lengths, ...pieces]));
}

export function createMemoKey(): MemoKey {
  return new MemoKey(randomBytes(KEY_LENGTH));
}

/** Reads the key file, or creates it readable by the owner only. Throws FILE_UNREADABLE and system errors. */
export function openMemoKey(file: string): MemoKey {
  makeFolder(dirname(file));
  return new MemoKey(openKeyFile(file));
}

export interface ChainOwner {
  /** '' if the gateway requires no keys. */
  readonly keyId: string;
  readonly judge: string;
}

/** Starts with the system prompt and adds one message per name. A name covers the exact messages and the owner. */
export function namesOfPrefixes(
  key: MemoKey,
  { keyId, judge }: ChainOwner,
  { system_prompt, messages }: { readonly system_prompt: string; readonly messages: readonly ChatMessage[] },
): readonly string[] {
  const names = [key.nameOf('conversation', keyId, judge, system_prompt)];
  for (const message of messages)
    names.push(key.nameOf('message', names[names.length - 1] ?? '', digestOf(message)));
  return names;
}

const digests = new WeakMap<ChatMessage, Uint8Array>();

function digestOf(message: ChatMessage): Uint8Array {
  let digest = digests.get(message);
  if (digest === undefined) {
    // Hooks' own marks are not part of the message.
    const { meta: _, ...said } = message;
    digest = hash('sha256', Buffer.from(stringifyJson(said), 'utf16le'), 'buffer');
    digests.set(message, digest);
  }
  return digest;
}

export interface HookIdentities {
  /** Changes with the hook's entry and with any file on its command line. */
  of(binding: Binding): string;
}

/**
 * Rereads a file only if it changed. With `isShared`, equal files get equal identities on every machine, up to 256 MiB.
 */
export function createHookIdentities({
  isShared = false,
}: {
  readonly isShared?: boolean;
} = {}): HookIdentities {
  const find = createExecutableFinder();
  const digestOf = createFileDigests(isShared ? LARGEST_SHARED_READ : LARGEST_READ);
  return {
    of: (binding) => {
      const { name, dialect, mode, command, args, cwd, env } = binding;
      const found = find(command, cwd, env['PATH'] ?? '');
      const program = found.found ? [found.path, ...(found.leading ?? [])] : [];
      const files = [...program, ...args.map((arg) => resolve(cwd, arg))];
      return JSON.stringify({ name, dialect, mode, command, args, cwd, env, files: files.map(digestOf) });
    },
  };
}

/** Returns null for a path that is no regular file or is unreadable. */
function createFileDigests(largest: bigint): (file: string) => string | null {
  const known = new Map<string, { readonly signature: string; readonly digest: string }>();
  return (file) => {
    try {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile()) return null;
      const signature = [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(':');
      if (stat.size > largest) return signature;
      const last = known.get(file);
      if (last?.signature === signature) return last.digest;
      const digest = createHash('sha256').update(readFileSync(file)).digest('base64url');
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(file, { signature, digest });
      return digest;
    } catch {
      return null;
    }
  };
}

/** Bytes. Larger files, such as interpreters, are identified by size and times. */
const LARGEST_READ = 4n * 1024n * 1024n;
/** Bytes. Includes interpreters, which take a fraction of a second to read once. */
const LARGEST_SHARED_READ = 256n * 1024n * 1024n;
const MAX_KNOWN = 1_000;

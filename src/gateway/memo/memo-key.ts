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

/** The secret by which a memo knows texts again without keeping them. */
export class MemoKey {
  readonly #secret: KeyObject;

  constructor(secret: Uint8Array) {
    this.#secret = createSecretKey(secret);
  }

  /** A name of these parts, in order, that tells nothing of them: HMAC-SHA-256 in base64url. */
  nameOf(purpose: string, ...parts: readonly (string | Uint8Array)[]): string {
    return hmacOf(this.#secret, [purpose, ...parts]).digest('base64url');
  }

  /** Encrypts a text so that it can be read again only with the same parts: AES-256-GCM under a key derived from them. */
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

  /** The sealed text; undefined when it was sealed with another key or other parts, or is damaged. */
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

/** HMAC of parts that cannot run into each other: each behind its length. One piece, since each piece costs. */
function hmacOf(key: KeyObject, parts: readonly (string | Uint8Array)[]): Hmac {
  const pieces = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf16le') : part));
  const lengths = Buffer.alloc(4 * pieces.length);
  for (const [at, { length }] of pieces.entries()) lengths.writeUInt32LE(length, 4 * at);
  return createHmac('sha256', key).update(Buffer.concat([lengths, ...pieces]));
}

/** A key that ends with the process. */
export function createMemoKey(): MemoKey {
  return new MemoKey(randomBytes(KEY_LENGTH));
}

/** The key in a file for its owner alone, which is made when it is missing. Throws FILE_UNREADABLE, and what the system says. */
export function openMemoKey(file: string): MemoKey {
  makeFolder(dirname(file));
  return new MemoKey(openKeyFile(file));
}

/** Whose conversation it is, and who judges it. */
export interface ChainOwner {
  /** Of the caller's key; '' where the gateway asks for none. */
  readonly keyId: string;
  /** Of a hook, or of another judge. */
  readonly judge: string;
}

/**
 * The names of the prefixes of a conversation: the first is that of the system prompt, each further one that of one
 * message more. A name is that of exactly these messages in this order, with all their members, for that owner.
 */
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

/** Several hooks look at one message. */
function digestOf(message: ChatMessage): Uint8Array {
  let digest = digests.get(message);
  if (digest === undefined) {
    // Marks that hooks make on their way are nothing that anybody says.
    const { meta: _, ...said } = message;
    digest = hash('sha256', Buffer.from(stringifyJson(said), 'utf16le'), 'buffer');
    digests.set(message, digest);
  }
  return digest;
}

/** Tells hooks, and the versions of a hook, from one another. */
export interface HookIdentities {
  /** Another one after any change of the hook's entry, or of a file that its command line names. */
  of(binding: Binding): string;
}

/**
 * Reads a file again only when it has become another one. With `isShared` the same files are the same on every machine, however
 * large they are.
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

/** Tells a regular file from another one; null for what is none, or cannot be read. */
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

/** Bytes. A larger file, such as an interpreter, is told by its size and times. */
const LARGEST_READ = 4n * 1024n * 1024n;
/** Bytes. An interpreter is read once, which takes a fraction of a second. */
const LARGEST_SHARED_READ = 256n * 1024n * 1024n;
const MAX_KNOWN = 1_000;

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import { createAtomically, writeDurably } from '../../base/files/new-file.ts';
import { makeFolder } from '../../store/sqlite/folder.ts';

/** The names of the files beside the audit. */
export const keyFiles = { signing: 'audit.key', public: 'audit.pub', digest: 'audit-digest.key' } as const;

/** What the audit is signed with, and what its digests are keyed with, as they can be handed to a thread. */
export interface AuditKeys {
  /** Ed25519, PKCS #8 in PEM. */
  readonly signing: string;
  /** Its public half, SPKI in PEM. */
  readonly public: string;
  /** 32 bytes in hex. */
  readonly digest: string;
}

/**
 * The keys in a folder, made where they are missing for its owner alone; `given` takes the place of the signing key. Throws what
 * the system says, and STORE_FAILED for what is no such key.
 */
export function loadKeys(folder: string, given: string | undefined): AuditKeys {
  makeFolder(folder);
  const digest = readOrMake(join(folder, keyFiles.digest), 0o600, makeDigestKey).trim();
  if (!isDigestKey(digest)) throw unusable(join(folder, keyFiles.digest), 'is not 32 bytes in hex');
  const signingFile = join(folder, keyFiles.signing);
  const signing = given ?? readOrMake(signingFile, 0o600, makeSigningKey);
  const publicKey = publicPem(
    readSigningKey(signing, given === undefined ? signingFile : 'the key of the audit'),
  );
  if (given === undefined) readOrMake(join(folder, keyFiles.public), 0o644, () => publicKey);
  return { signing, public: publicKey, digest };
}

/** Keys that end with the process. */
export function makeKeys(given: string | undefined): AuditKeys {
  return keysFrom(given ?? makeSigningKey(), makeDigestKey().trim());
}

/** Keys of a private key in PEM and of a key for digests. Throws STORE_FAILED. */
export function keysFrom(signing: string, digest: string): AuditKeys {
  return { signing, public: publicPem(readSigningKey(signing, 'the key of the audit')), digest };
}

/** Whether a text is 32 bytes in hex. */
export function isDigestKey(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** The private key of a PEM text. Throws STORE_FAILED unless it is one for Ed25519. */
export function readSigningKey(pem: string, name: string): KeyObject {
  const key = attempt(() => createPrivateKey(pem));
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw unusable(name, 'is no private Ed25519 key in PEM');
}

/** The public keys of a PEM text, of which there may be several. Throws STORE_FAILED unless each is one for Ed25519. */
export function readPublicKeys(pem: string, name: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => attempt(() => createPublicKey(block)));
  const usable = keys.filter((key) => key !== undefined && key.asymmetricKeyType === 'ed25519');
  if (usable.length > 0 && usable.length === keys.length) return usable.filter((key) => key !== undefined);
  throw unusable(name, 'holds no public Ed25519 key in PEM');
}

function publicPem(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

export function makeSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export function makeDigestKey(): string {
  return `${randomBytes(32).toString('hex')}\n`;
}

/** What is in the file; where there is none yet, what `make` gives, or another process at the same time. */
function readOrMake(file: string, mode: number, make: () => string): string {
  const kept = attempt(() => readFileSync(file, 'utf8'), 'ENOENT');
  if (kept !== undefined) return kept;
  createAtomically(file, (draft) => writeDurably(draft, make(), mode));
  return readFileSync(file, 'utf8');
}

/** The result, or undefined for what it throws; with a code only for errors of the system with that code. */
function attempt<Result>(work: () => Result, code?: string): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (code === undefined) return undefined;
    if (error instanceof Error && 'code' in error && error.code === code) return undefined;
    throw error;
  }
}

function unusable(name: string, why: string): RuntimeError {
  return new RuntimeError('STORE_FAILED', `${name} ${why}`, {
    hint: '`openssl genpkey -algorithm ed25519` makes one; without one of your own Signalbox makes it.',
  });
}

/** The last row of a chain at some time. */
export interface Tip {
  readonly chain: string;
  readonly seq: number;
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A tip that somebody answers for. */
export interface Head extends Tip {
  /** The fingerprint of the key. */
  readonly key: string;
  /** Ed25519, in base64. */
  readonly signature: string;
}

/** Signs a tip with a private key. */
export function signTip(tip: Tip, privateKey: KeyObject, key: string): Head {
  return { ...tip, key, signature: sign(null, signedBytes(tip), privateKey).toString('base64') };
}

/** Whether one of the public keys has signed the head. */
export function isSigned(head: Head, publicKeys: readonly KeyObject[]): boolean {
  const signature = Buffer.from(head.signature, 'base64');
  return publicKeys.some((key) => verify(null, signedBytes(head), key, signature));
}

/** The lines that are signed; none of them can have a line break. */
function signedBytes({ chain, seq, hash, at }: Tip): Buffer {
  return Buffer.from(`signalbox-audit-head/1\n${chain}\n${seq}\n${hash}\n${at}\n`);
}

/** The first 16 hex digits of the SHA-256 of a key's public half. */
export function fingerprintOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/** The head as one line of JSON. */
export function formatHead({ chain, seq, hash, at, key, signature }: Head): string {
  return JSON.stringify({ chain, seq, hash, at, key, signature });
}

/** Reads a line of JSON as a head; undefined when it is none. */
export function readHead(line: string): Head | undefined {
  const value = parse(line);
  if (typeof value !== 'object' || value === null) return undefined;
  const text = (name: string) => {
    const member: unknown = Reflect.get(value, name);
    return typeof member === 'string' && !/[\r\n]/.test(member) ? member : undefined;
  };
  const count = (name: string) => {
    const member: unknown = Reflect.get(value, name);
    return typeof member === 'number' && Number.isSafeInteger(member) ? member : undefined;
  };
  const [chain, hash, key, signature] = [text('chain'), text('hash'), text('key'), text('signature')];
  const [seq, at] = [count('seq'), count('at')];
  if (chain === undefined || hash === undefined || key === undefined || signature === undefined)
    return undefined;
  return seq === undefined || at === undefined ? undefined : { chain, seq, hash, at, key, signature };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

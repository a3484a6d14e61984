import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

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

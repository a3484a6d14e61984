import { createHash } from 'node:crypto';
import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Addresses of wallets: Bitcoin and its relatives and Tron by their checksums, Ethereum and its relatives by their shape. */
export function* findWallets({ text }: ScannedText): Generator<Finding> {
  for (const { 0: written, index } of text.matchAll(wallet)) {
    const isAddress = written.startsWith('0x') || isBech32(written.toLowerCase()) || isBase58Check(written);
    if (isAddress) yield { entity: 'CRYPTO', start: index, end: index + written.length, isConfirmed: true };
  }
}

const wallet =
  /(?<![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])(?:0x[\da-fA-F]{40}|[13DLMTA9X][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|BC1|ltc1|tb1)[\dA-Za-z]{8,87})(?![A-Za-z\u00c0-\u024f\u1e00-\u1eff\p{N}_])/gu;

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** 21 bytes and the first four of their double digest. */
function isBase58Check(written: string): boolean {
  let value = 0n;
  for (const character of written) {
    const digit = base58.indexOf(character);
    if (digit === -1) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  const digest = sha256(sha256(bytes.subarray(0, 21)));
  return digest.subarray(0, 4).equals(bytes.subarray(21));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The checksum of BIP 173, or of BIP 350. */
function isBech32(written: string): boolean {
  const split = written.lastIndexOf('1');
  const prefix = [...written.slice(0, split)].map((character) => character.charCodeAt(0));
  const data = [...written.slice(split + 1)].map((character) => bech32.indexOf(character));
  if (prefix.length === 0 || data.length < 7 || data.includes(-1)) return false;
  const values = [...prefix.map((code) => code >> 5), 0, ...prefix.map((code) => code & 31), ...data];
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  const checksum = values.reduce((sum, value) => {
    const shifted = ((sum & 0x1ffffff) << 5) ^ value;
    return generators.reduce(
      (all, generator, bit) => ((sum >> (25 + bit)) & 1 ? all ^ generator : all),
      shifted,
    );
  }, 1);
  return checksum === 1 || checksum === 0x2bc830a3;
}

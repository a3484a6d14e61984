import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

/** Gives the connection `checksum(key, text)`: a number by which damage is found, null of no text. */
export function defineChecksum(database: DatabaseSync): void {
  database.function('checksum', { deterministic: true, varargs: false }, (key, text) =>
    typeof text === 'string' ? crc32(text, crc32(`${key}\n`)) : null,
  );
}

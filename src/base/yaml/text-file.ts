import { isUtf8 } from 'node:buffer';
import { RuntimeError } from '../errors.ts';
import { systemCode, whyUnreadable } from '../files/file-error.ts';
import { nearFileHint } from '../files/near-file.ts';
import { readBounded } from '../files/read-bounded.ts';
import type { Problem } from './problem.ts';

/** Reads a UTF-8 file, without its byte order mark, or says where it is not UTF-8. Throws FILE_UNREADABLE. */
export function readText(file: string): string | Problem {
  const bytes = readBytes(file);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : findBadByte(file, bytes);
}

function readBytes(file: string): Buffer {
  try {
    return readBounded(file);
  } catch (cause) {
    const more = systemCode(cause) === 'ENOTDIR' ? ': a part of its path is a file' : '';
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}${more}`, {
      cause,
      hint: systemCode(cause) === 'ENOENT' ? nearFileHint(file) : undefined,
    });
  }
}

function findBadByte(file: string, bytes: Buffer): Problem {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1 && isUtf8(bytes.subarray(start, end)); ) {
    line += 1;
    start = end + 1;
    end = bytes.indexOf(0x0a, start);
  }
  const column = bytes.toString('utf8', start).indexOf('\uFFFD') + 1;
  return {
    file,
    line,
    column,
    severity: 'error',
    message: 'the file is not UTF-8 here',
    hint: 'Save it as UTF-8.',
  };
}

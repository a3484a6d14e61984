import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { TextDecoder } from 'node:util';
import { RuntimeError } from '../../base/errors.ts';
import { whyUnreadable } from '../../base/files/file-error.ts';
import { nearFileHint } from '../../base/files/near-file.ts';
import { DecompressionError, decompress, decompressPacked } from './decompress.ts';
import { isRemote, remoteName } from './remote/address.ts';

/** The bytes of one file, decompressed and without a byte order mark. */
export interface OpenBytes {
  /**
   * Throws FILE_UNREADABLE, DATASET_INVALID for what is changed behind an address while it is read, DecompressionError for damaged
   * gzip, and when the signal is aborted.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /** How many bytes of the file, as it lies on the disk or is sent, have been read. */
  bytesRead(): number;
}

/** Opens a file, and decompresses it when its name ends in `.gz`; `-` is stdin, and what an address gives may be packed. */
export function openBytes(path: string, signal: AbortSignal): OpenBytes {
  if (isRemote(path)) return openRemoteBytes(path, signal);
  if (path === '-') {
    return { chunks: readAll(addAbortSignal(signal, process.stdin), stdinName), bytesRead: () => 0 };
  }
  const file = addAbortSignal(signal, createReadStream(path));
  return {
    chunks: readAll(isCompressed(path) ? decompress(file) : file, path),
    bytesRead: () => file.bytesRead,
  };
}

function openRemoteBytes(path: string, signal: AbortSignal): OpenBytes {
  let bytesRead = 0;
  const sent = async function* (): AsyncGenerator<Buffer> {
    const { readRemote } = await import('./remote/remote-bytes.ts');
    for await (const part of readRemote(path, { start: 0 }, signal)) {
      bytesRead += part.length;
      yield part;
    }
  };
  return { chunks: readAll(decompressPacked(sent()), remoteName(path)), bytesRead: () => bytesRead };
}

/** How messages call stdin. */
export const stdinName = '<stdin>';

function isCompressed(path: string): boolean {
  return /\.gz$/i.test(path);
}

async function* readAll(source: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  try {
    yield* withoutByteOrderMark(source);
  } catch (cause) {
    if (cause instanceof DecompressionError || cause instanceof RuntimeError) throw cause;
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    const near = nearFileHint(file);
    throw new RuntimeError('FILE_UNREADABLE', `${file} ${whyUnreadable(cause)}`, {
      cause,
      hint: `${near === undefined ? '' : `${near} `}A dataset path in a suite starts at the folder of the suite; that of --dataset at the working folder.`,
    });
  }
}

/** Drops the byte order mark that some editors put in front of UTF-8; what has the mark of UTF-16 becomes UTF-8. */
async function* withoutByteOrderMark(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  const toUtf8 = (bytes: Buffer): Buffer =>
    decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
  for await (const chunk of source) {
    if (start === undefined) {
      yield toUtf8(chunk);
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < longestMark) continue;
    decoder = decoderOf(start);
    yield toUtf8(withoutUtf8Mark(start));
    start = undefined;
  }
  if (start !== undefined && start.length > 0) {
    decoder = decoderOf(start);
    yield toUtf8(withoutUtf8Mark(start));
  }
  if (decoder !== undefined) yield Buffer.from(decoder.decode());
}

const utf8Mark = Buffer.from([0xef, 0xbb, 0xbf]);
/** Enough to see UTF-16 also where it has no mark. */
const longestMark = 4;

function withoutUtf8Mark(bytes: Buffer): Buffer {
  return bytes.subarray(0, utf8Mark.length).equals(utf8Mark) ? bytes.subarray(utf8Mark.length) : bytes;
}

/** Of UTF-16, by its mark, which the decoder drops, or by the zeros between letters: no dataset begins with a NUL. */
function decoderOf(bytes: Buffer): TextDecoder | undefined {
  const [first, second] = bytes;
  const zeros = [...bytes.subarray(0, 4)].map((byte) => Number(byte === 0)).join('');
  if ((first === 0xff && second === 0xfe) || zeros === '0101') return new TextDecoder('utf-16le');
  return (first === 0xfe && second === 0xff) || zeros === '1010' ? new TextDecoder('utf-16be') : undefined;
}

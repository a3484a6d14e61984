import type { Writable } from 'node:stream';
import { waitForSettled } from '../../base/time/deadline.ts';
import type { WatchedProcess } from '../process.ts';

/**
 * Writes the whole request to a process that waits for it, and ends its stdin. False when the process had ended before it could
 * have read a byte of it, so that another one may be asked in its place.
 */
export async function deliver(request: Uint8Array, { stdin, ended }: WatchedProcess): Promise<boolean> {
  if (stdin === null) return false;
  // So little goes into an empty pipe whole or not at all: a write that fails has handed nothing over.
  const written = await write(stdin, request.subarray(0, ATOMIC_BYTES));
  if (written) {
    stdin.end(request.subarray(ATOMIC_BYTES));
    return true;
  }
  // A process that lives has closed its stdin, which is its right: it answers without the request.
  return !(await waitForSettled(ended, REAP_MS));
}

/** Source: PIPE_BUF of <limits.h>, the same on Linux and macOS or less than what a pipe there holds. */
const ATOMIC_BYTES = 512;
/** The end of a process whose stdin is gone is known by then. */
const REAP_MS = 200;

function write(stdin: Writable, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stdin.write(bytes, (error) => resolve(error === null || error === undefined));
  });
}

import { readdirSync, statSync } from 'node:fs';
import { isAccessible } from './executable.ts';
import { tryReadHead } from './interpreter.ts';

/**
 * Whether Linux refuses to run an executable file with ENOEXEC: it has no `#!` line and is not a complete ELF program
 * for this machine. Returns false if unknown, as with registered formats (binfmt_misc). Source: execve(2), elf(5).
 */
export function isUnknownFormat(path: string): boolean {
  if (!isAccessible(path)) return false;
  const head = tryReadHead(path);
  if (head === undefined || head.subarray(0, 2).equals(SCRIPT)) return false;
  const isRunnable = head.subarray(0, 4).equals(ELF) && isWholeProgram(head, statSync(path).size);
  return !isRunnable && !hasRegisteredFormats();
}

const SCRIPT = Buffer.from('#!');
const ELF = Buffer.from('\x7fELF', 'latin1');

const machines: Readonly<Record<string, readonly number[]>> = {
  x64: [62, 3],
  ia32: [3],
  arm64: [183, 40],
  arm: [40],
};

function isWholeProgram(head: Buffer, size: number): boolean {
  const known = machines[process.arch];
  if (known === undefined) return true;
  const is64 = head[4] === 2;
  if (head.length < (is64 ? 64 : 52)) return false;
  const start = is64 ? Number(head.readBigUInt64LE(32)) : head.readUInt32LE(28);
  const [each, count] = is64 ? [54, 56] : [42, 44];
  const end = start + head.readUInt16LE(each) * head.readUInt16LE(count);
  return known.includes(head.readUInt16LE(18)) && end <= size;
}

function hasRegisteredFormats(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((name) => name !== 'register' && name !== 'status');
  } catch {
    return false; // The system does not support registered formats.
  }
}

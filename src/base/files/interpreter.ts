import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, delimiter, resolve } from 'node:path';
import { suggest } from '../text/suggest.ts';

/** Why the system cannot run a file that is there and executable, and what to do about it. */
export interface LoadFault {
  readonly reason: string;
  readonly hint: string;
  /** The file has a `#!` line or an encoding that is wrong, rather than none. */
  readonly isMisspelt: boolean;
}

/** The first bytes of a file, as many as Linux reads of a `#!` line (BINPRM_BUF_SIZE in linux/binfmts.h). */
function readHead(path: string): Buffer {
  const head = Buffer.alloc(256);
  // To open a pipe that nobody writes to would otherwise take for ever.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Why the system cannot run `path`, judged by its first bytes: no `#!` line, or a wrong one; undefined if it
 * can.
 */
export function findHeadFault(path: string, head: Buffer): LoadFault | undefined {
  const mark = encodingMarks.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes));
  if (mark !== undefined) {
    return {
      reason: `${path} begins with ${mark.what}, so the system sees no #! line`,
      hint: 'Save it as UTF-8 without a byte order mark.',
      isMisspelt: true,
    };
  }
  const line = shebangOf(head);
  // A binary has a NUL early on.
  if (line === undefined && head.includes(0)) return undefined;
  if (line === undefined) {
    return {
      reason: `${path} has no #! line`,
      hint: `Start the script with a line such as \`${path.endsWith('.sh') ? '#!/bin/sh' : '#!/usr/bin/env python3'}\`.`,
      isMisspelt: false,
    };
  }
  if (line.trim() === '') {
    return {
      reason: `the #! line of ${path} names no program`,
      hint: `Start the script with a line such as \`${path.endsWith('.sh') ? '#!/bin/sh' : '#!/usr/bin/env python3'}\`.`,
      isMisspelt: true,
    };
  }
  if (!line.endsWith('\r')) return undefined;
  return {
    reason: `${path} has Windows line ends (CRLF): its #! line names "${line.trim()}\\r", which is no program`,
    hint: lineEndHint(path),
    isMisspelt: true,
  };
}

/**
 * The fault of a script for `shell` with Windows line ends; undefined without them or if it cannot be read.
 */
export function findLineEndFault(path: string, shell: string): LoadFault | undefined {
  if (tryReadHead(path)?.includes('\r\n') !== true) return undefined;
  return {
    reason: `${path} has Windows line ends (CRLF), which ${shell} takes for parts of its commands`,
    hint: lineEndHint(path),
    isMisspelt: true,
  };
}

/** The first bytes of a file; undefined for a folder or an unreadable file. */
export function tryReadHead(path: string): Buffer | undefined {
  try {
    return readHead(path);
  } catch {
    return undefined;
  }
}

/** The hint how to convert a file to LF line ends. */
function lineEndHint(path: string): string {
  return `Save it with LF line ends: \`sed -i 's/\\r$//' ${path}\`.`;
}

/**
 * The fault of a missing interpreter in the `#!` line of `path`; undefined if it exists, or the file cannot be read. Relative
 * to `cwd`.
 */
export function findInterpreterFault(
  path: string,
  { cwd, searchPath }: { readonly cwd: string; readonly searchPath: string },
): LoadFault | undefined {
  const line = shebangOf(tryReadHead(path) ?? Buffer.alloc(0))?.trim();
  const [, program, argument = ''] = /^(\S+)\s*(.*)$/.exec(line ?? '') ?? [];
  if (program === undefined) return undefined;
  if (!isFile(resolve(cwd, program))) {
    const name = program.split('/').at(-1);
    return {
      reason: `the interpreter of ${path}, ${program}, does not exist`,
      hint: `Install it, or correct the #! line; \`#!/usr/bin/env ${name}\` finds it on PATH.`,
      isMisspelt: true,
    };
  }
  return /\/env$/.test(program) ? findEnvFault(path, argument, searchPath) : undefined;
}

/** `env` looks its program up on PATH; without -S everything behind it is one name. */
function findEnvFault(path: string, argument: string, searchPath: string): LoadFault | undefined {
  const isSplit = /^(-\w*S|--split-string)/.test(argument);
  const words = isSplit ? argument.replace(/^(-\w*S|--split-string=?)\s*/, '').split(/\s+/) : [argument];
  const program = words.find((word) => !word.startsWith('-') && !/^\w+=/.test(word));
  if (program === undefined || program === '' || isOnPath(program, searchPath)) return undefined;
  const [first = ''] = program.split(/\s+/);
  if (!isSplit && first !== program && isOnPath(first, searchPath)) {
    return {
      reason: `the #! line of ${path} asks env for one program named "${program}"`,
      hint: `Write \`#!/usr/bin/env -S ${program}\`.`,
      isMisspelt: true,
    };
  }
  return {
    reason: `the interpreter of ${path}, ${program}, is not on PATH`,
    hint: suggest(program, interpreters).hint ?? `Install ${program}, or correct the #! line.`,
    isMisspelt: true,
  };
}

function isOnPath(program: string, searchPath: string): boolean {
  if (program.includes('/')) return isFile(program);
  return searchPath.split(delimiter).some((folder) => folder !== '' && isFile(resolve(folder, program)));
}

/** The interpreter that the `#!` line of a file names and its options, as `env` would start it; undefined where there is none. */
export function interpreterWords(path: string): readonly string[] | undefined {
  const line = tryReadHead(path)?.toString().split('\n', 1)[0];
  const [, program, rest = ''] = /^#!\s*(\S+)\s*(.*?)\s*$/.exec(line ?? '') ?? [];
  if (program === undefined) return undefined;
  if (basename(program) !== 'env') return rest === '' ? [program] : [program, rest];
  return rest.replace(/^(?:-S|--split-string=?)\s*/, '').split(/\s+/);
}

/** Whether there is a file, or a link to one; false also where the path is too long or its folder is closed to us. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** The `#!` line without `#!`, as far as the system reads it; undefined if there is none. */
function shebangOf(head: Buffer): string | undefined {
  const text = head.toString('latin1');
  return text.startsWith('#!') ? (text.slice(2).split('\n', 1)[0] ?? '') : undefined;
}

const encodingMarks = [
  { bytes: Buffer.from([0xef, 0xbb, 0xbf]), what: 'a byte order mark' },
  { bytes: Buffer.from([0xff, 0xfe]), what: 'the mark of UTF-16' },
  { bytes: Buffer.from([0xfe, 0xff]), what: 'the mark of UTF-16' },
  { bytes: Buffer.from('#!', 'utf16le'), what: 'UTF-16 text' },
];

/** Interpreters of scripts, for a name that is misspelt. */
export const interpreters = [
  'bash',
  'bun',
  'deno',
  'node',
  'npx',
  'perl',
  'php',
  'python3',
  'ruby',
  'sh',
  'uv',
];

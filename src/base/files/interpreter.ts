import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { basename, delimiter, resolve } from 'node:path';
import { suggest } from '../text/suggest.ts';

export interface LoadFault {
  readonly reason: string;
  readonly hint: string;
  /** The file has a wrong `#!` line or encoding, rather than no `#!` line. */
  readonly isMisspelt: boolean;
}

/** Reads as many bytes as Linux reads of a `#!` line (BINPRM_BUF_SIZE in linux/binfmts.h). */
function readHead(path: string): Buffer {
  const head = Buffer.alloc(256);
  // Without O_NONBLOCK, opening a pipe without a writer never returns.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return head.subarray(0, readSync(file, head, 0, head.length, 0));
  } finally {
    closeSync(file);
  }
}

/** Judges by the first bytes whether the system can run `path`; undefined if it can. */
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
      reason: `the #! line of ${path} does not name a program`,
      hint: `Start the script with a line such as \`${path.endsWith('.sh') ? '#!/bin/sh' : '#!/usr/bin/env python3'}\`.`,
      isMisspelt: true,
    };
  }
  if (!line.endsWith('\r')) return undefined;
  return {
    reason: `${path} has Windows line ends (CRLF): its #! line names "${line.trim()}\\r", which is not a program`,
    hint: lineEndHint(path),
    isMisspelt: true,
  };
}

/** Returns undefined if the file has no Windows line ends or cannot be read. */
export function findLineEndFault(path: string, shell: string): LoadFault | undefined {
  if (tryReadHead(path)?.includes('\r\n') !== true) return undefined;
  return {
    reason: `${path} has Windows line ends (CRLF), which ${shell} reads as parts of its commands`,
    hint: lineEndHint(path),
    isMisspelt: true,
  };
}

export function tryReadHead(path: string): Buffer | undefined {
  try {
    return readHead(path);
  } catch {
    return undefined;
  }
}

function lineEndHint(path: string): string {
  return `Save it with LF line ends: \`sed -i 's/\\r$//' ${path}\`.`;
}

/** Reports a missing interpreter, relative to `cwd`. Returns undefined if it exists or the file is unreadable. */
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

function findEnvFault(path: string, argument: string, searchPath: string): LoadFault | undefined {
  const isSplit = /^(-\w*S|--split-string)/.test(argument);
  const words = isSplit ? argument.replace(/^(-\w*S|--split-string=?)\s*/, '').split(/\s+/) : [argument];
  const program = words.find((word) => !word.startsWith('-') && !/^\w+=/.test(word));
  if (program === undefined || program === '' || isOnPath(program, searchPath)) return undefined;
  const [first = ''] = program.split(/\s+/);
  if (!isSplit && first !== program && isOnPath(first, searchPath)) {
    return {
      reason: `the #! line of ${path} makes env look for a program named "${program}"`,
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

/** The interpreter and options of the `#!` line, as `env` would start it; undefined without one. */
export function interpreterWords(path: string): readonly string[] | undefined {
  const line = tryReadHead(path)?.toString().split('\n', 1)[0];
  const [, program, rest = ''] = /^#!\s*(\S+)\s*(.*?)\s*$/.exec(line ?? '') ?? [];
  if (program === undefined) return undefined;
  if (basename(program) !== 'env') return rest === '' ? [program] : [program, rest];
  return rest.replace(/^(?:-S|--split-string=?)\s*/, '').split(/\s+/);
}

/** Also false if the path is too long or its folder may not be entered. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

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

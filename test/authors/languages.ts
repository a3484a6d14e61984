import { spawn, spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { writeHelper } from '../../src/runtime/runtime.ts';
import { folderOf } from '../workspace.ts';

const fixtures = join(import.meta.dirname, '../fixtures/authors');
const isThere = (program: string) => spawnSync(program, ['version']).error === undefined;

/** The languages that this machine has. `digits`: which numbers keep their spelling. */
const languages = [
  { lang: 'python', extension: 'py', needs: 'python3', digits: 'all' },
  { lang: 'node', extension: 'mjs', needs: 'node', digits: 'integers' },
  { lang: 'go', extension: 'go', needs: 'go', digits: 'all' },
  { lang: 'sh', extension: 'sh', needs: 'jq', digits: 'none' },
] as const satisfies readonly object[];

export type Language = (typeof languages)[number];

export const present = languages.filter(({ needs }) => needs === 'node' || isThere(needs));

/** The path of the program `says` in a folder of its own, with the helper beside it. */
export function writeSays({ lang, extension }: Language): string {
  const folder = folderOf({});
  writeHelper(folder, lang);
  const source = join(folder, extension === 'go' ? 'main.go' : `says.${extension}`);
  cpSync(join(fixtures, `says.${extension}`), source);
  if (extension !== 'go') return source;
  writeFileSync(join(folder, 'go.mod'), 'module says\n\ngo 1.19\n');
  const { status, stderr } = spawnSync('go', ['build', '-o', 'says', '.'], { cwd: folder });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
  return join(folder, 'says');
}

export interface Answered {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the program with its kind, and writes and ends its stdin. */
export async function runSays(program: string, kind: string, stdin: string): Promise<Answered> {
  const child = spawn(program, [kind], { stdio: 'pipe' });
  // A program may end before it has read all.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Ran, run } from '../cli/command-line.ts';
import type { Edit, Mistake } from './mistake.ts';

const base = fileURLToPath(new URL('base/', import.meta.url));

export interface Tried {
  readonly printed: string;
  readonly code: number | null;
  /** The lines of which the message must name one; empty if no file is wrong. */
  readonly places: readonly string[];
  /** Required texts that the message lacks. */
  readonly unsaid: readonly string[];
  readonly after: { readonly code: number | null; readonly printed: string };
}

/** Makes the mistake in a copy of the project, follows the message, and runs the command again. */
export async function tryMistake(mistake: Mistake): Promise<Tried> {
  const { edits = {}, modes = {}, env = {}, until } = mistake;
  const folder = mkdtempSync(join(tmpdir(), 'mistake-'));
  cpSync(base, folder, { recursive: true });
  for (const [file, edit] of Object.entries(edits)) applyEdit(folder, file, edit);
  for (const [file, mode] of Object.entries(modes)) chmodSync(join(folder, file), mode);
  const places = placesOf(mistake, folder);
  const call = (line: string) =>
    run(wordsOf(line), { cwd: folder, env, ...(until !== undefined && { until }) });
  const first = await call(mistake.run);
  const printed = steady(first, folder);
  const { unsaid, line } = await follow(mistake, { folder, printed, raw: `${first.stdout}${first.stderr}` });
  const second = await call(line);
  rmSync(folder, { recursive: true });
  return {
    printed,
    code: first.code,
    places,
    unsaid,
    after: { code: second.code, printed: steady(second, folder) },
  };
}

function applyEdit(folder: string, file: string, edit: Edit): void {
  const path = join(folder, file);
  if (edit === null) {
    rmSync(path);
    return;
  }
  const isReplacing = Array.isArray(edit);
  mkdirSync(dirname(path), { recursive: true });
  let text = isReplacing ? readFileSync(path, 'utf8') : (edit as string | Uint8Array);
  if (isReplacing)
    for (const [from, to] of edit as readonly (readonly [string, string])[]) {
      if (!String(text).includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
      text = String(text).replace(from, () => to);
    }
  writeFileSync(path, text);
  if (String(text).startsWith('#!')) chmodSync(path, 0o755);
}

function placesOf({ at, edits = {} }: Mistake, folder: string): string[] {
  if (at === null) return [];
  if (at !== undefined) {
    const [file, text] = at;
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    return lines.flatMap((line, index) => (line.includes(text) ? [`${file}:${index + 1}`] : []));
  }
  return Object.entries(edits).flatMap(([file, edit]) => {
    if (!Array.isArray(edit)) return [];
    const before = new Set(readFileSync(join(base, file), 'utf8').split('\n'));
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    return lines.flatMap((line, index) => (before.has(line) ? [] : [`${file}:${index + 1}`]));
  });
}

async function follow(
  { fix, run: line, after, edits = {} }: Mistake,
  { folder, printed, raw }: { readonly folder: string; readonly printed: string; readonly raw: string },
): Promise<{ unsaid: string[]; line: string }> {
  const next = after ?? line;
  const missing = (shown: readonly string[]) => shown.filter((text) => !printed.includes(text));
  switch (fix.by) {
    case 'suggested': {
      const word = /did you mean (?:`([^`]+)`|"([^"]+)"|([^\s?]+))\?/i.exec(raw)?.slice(1).find(Boolean);
      if (word === undefined) return { unsaid: ['did you mean …?'], line: next };
      const file = fix.file ?? Object.keys(edits).find((name) => Array.isArray(edits[name]));
      if (file === undefined) return { unsaid: [], line: next.replace(fix.wrong, () => word) };
      applyEdit(folder, file, [[fix.wrong, fix.wrong.endsWith(':') ? `${word}:` : word]]);
      return { unsaid: [], line: next };
    }
    case 'write':
      for (const [file, edit] of Object.entries(fix.edits)) applyEdit(folder, file, edit);
      return { unsaid: missing(fix.shown), line: next };
    case 'command':
      return { unsaid: missing(fix.shown), line: fix.run };
    case 'shell': {
      const commands = [...raw.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
      const command = commands.find((text) => fix.command.test(text));
      if (command === undefined) return { unsaid: [String(fix.command)], line: next };
      const own = /^(?:npx )?signalbox (.*)$/.exec(command)?.[1];
      if (own === undefined) await promisify(execFile)('/bin/sh', ['-c', command], { cwd: folder });
      else await run(wordsOf(own), { cwd: folder });
      return { unsaid: [], line: next };
    }
  }
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}

function steady({ stdout, stderr }: Ran, folder: string): string {
  return (
    `${stdout}${stderr}`
      .replaceAll(folder, '/project')
      .replaceAll(/\b(run|pending|eval)_[0-9a-f]{12,}/g, '$1_…')
      .replaceAll(/\b\d+(\.\d+)? (ms|s)\b/g, '… ms')
      .replaceAll(/(?<=\D)[\d.,]+(?=\/s\b| per second)/g, '…')
      // Column widths depend on the durations.
      .replaceAll(/(?<=\S) {2,}/g, '  ')
      .replaceAll(/^\[\d\d:[\d:.]+\]/gm, '[…]')
      .replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:…')
      .trimEnd()
  );
}

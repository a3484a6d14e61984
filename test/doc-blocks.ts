import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtProgram } from './built.ts';

/** A command of a page with its expected and its actual output. */
export interface RunCommand {
  readonly line: number;
  readonly command: string;
  readonly shown: string;
  readonly printed: string;
}

/**
 * Runs a page's blocks in a new folder. Writes each block with `file=NAME`, and runs each command after `$ ` in
 * `console` blocks; a backslash continues a line. A server in a `console background` block runs until the page ends.
 * `ports` are those to use in place of the page's. `npx signalbox` is the built program. Run and pending call ids in commands become the last id that a command printed.
 */
export async function runPage(page: string, ports: Readonly<Record<string, number>>): Promise<RunCommand[]> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  const bin = mkdtempSync(join(tmpdir(), 'page-bin-'));
  const shim = `#!/bin/sh\n[ "$1" = signalbox ] || exit 127\nshift\nexec "${process.execPath}" "${builtProgram}" "$@"\n`;
  writeFileSync(join(bin, 'npx'), shim, { mode: 0o755 });
  symlinkSync(process.execPath, join(bin, 'node'));
  if (page.includes("from 'signalbox'")) linkPackages(folder);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, COLUMNS: '120', NO_COLOR: '1' };
  const servers: ChildProcess[] = [];
  const commands: RunCommand[] = [];
  let lastRun = '';
  let lastPending = '';
  try {
    for (const { info, text, line } of blocksOf(page)) {
      const [language, ...options] = info.split(' ');
      const file = options.find((option) => option.startsWith('file='))?.slice('file='.length);
      const body = text.replaceAll(/\b\d{4}\b/g, (port) => String(ports[port] ?? port));
      if (file !== undefined) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), body, { mode: body.startsWith('#!') ? 0o755 : 0o644 });
      }
      if (language !== 'console') continue;
      for (const { at, command, shown } of commandsOf(body)) {
        const given = command
          .replaceAll(/run_[0-9a-f]+/g, lastRun)
          .replaceAll(/pending_[0-9a-f]+/g, lastPending);
        if (options.includes('background')) {
          servers.push(await startServer(given, { cwd: folder, env }));
          continue;
        }
        const { stdout, stderr } = spawnSync('/bin/sh', ['-c', given], {
          cwd: folder,
          env,
          encoding: 'utf8',
        });
        lastRun = /run_[0-9a-f]+/.exec(`${stderr}${stdout}`)?.[0] ?? lastRun;
        lastPending = /pending_[0-9a-f]+/.exec(`${stderr}${stdout}`)?.[0] ?? lastPending;
        commands.push({ line: line + at, command, shown, printed: `${stdout}${stderr}` });
      }
    }
    return commands;
  } finally {
    for (const server of servers) {
      server.kill();
      await once(server, 'exit');
    }
  }
}

function linkPackages(folder: string): void {
  const root = join(import.meta.dirname, '..');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/signalbox'));
  symlinkSync(join(root, 'node_modules/ai'), join(folder, 'node_modules/ai'));
}

/** Compares the outputs: `…` matches any text, and times and ids may differ. */
export function isAsShown({ shown, printed }: RunCommand): boolean {
  const parts = comparable(shown)
    .split('…')
    .map((part) => part.trim());
  const text = comparable(printed).trim();
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = text.indexOf(part, at);
    if (found === -1 || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return at === text.length || parts.at(-1) === '';
}

function comparable(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/(run|pending)_[0-9a-f]+/g, '$1_ID')
    .replaceAll('\r', '')
    .replaceAll(/[\d.]+ m?s\b/g, 'N ms')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n');
}

interface Block {
  readonly info: string;
  readonly text: string;
  /** The line of its first text. */
  readonly line: number;
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: info = '', 2: text = '' }) => ({
    info,
    text,
    line: page.slice(0, index).split('\n').length + 1,
  }));
}

function commandsOf(block: string): { at: number; command: string; shown: string }[] {
  return [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)/gm)].map(
    ({ index, 1: command = '', 2: shown = '' }) => ({
      at: block.slice(0, index).split('\n').length - 1,
      command,
      shown,
    }),
  );
}

async function startServer(
  command: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<ChildProcess> {
  const server = spawn('/bin/sh', ['-c', `exec ${command}`], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  for await (const chunk of server.stdout) {
    printed += String(chunk);
    if (printed.includes('http://')) break;
  }
  return server;
}

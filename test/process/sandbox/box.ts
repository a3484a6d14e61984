import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Binding, BubblewrapSandbox } from '../../../src/process/binding.ts';
import { openLauncher } from '../../../src/process/launch/native.ts';
import { probeBubblewrap } from '../../../src/process/sandbox/bubblewrap/probe.ts';
import { bind } from '../harness.ts';

const program = '/usr/bin/bwrap';

const probe = await probeBubblewrap({ program, network: false }, await openLauncher('auto'));

/** The reason why this machine has no sandbox, or undefined. Tests are skipped accordingly. */
export const noSandbox = probe.isPossible ? undefined : probe.reason;
if (noSandbox !== undefined) console.warn(`tests of bubblewrap are skipped: ${noSandbox}`);

/** A new folder whose path contains no links. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'box-')));
}

export function script(folder: string, lines: string, interpreter = '/bin/sh'): string {
  const path = join(folder, `script-${counter++}`);
  writeFileSync(path, `#!${interpreter}\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

let counter = 0;

export interface BoxOptions extends Partial<Omit<BubblewrapSandbox, 'mode'>> {
  readonly folder: string;
  readonly binding?: Partial<Binding>;
}

export function bindBoxed(command: string, { folder, binding = {}, ...given }: BoxOptions): Binding {
  const { read = [], ...over } = given;
  const sandbox = { mode: 'bubblewrap', name: 'box', program, network: false, write: [], hide: [] } as const;
  return bind(command, {
    cwd: folder,
    sandbox: { ...sandbox, read: [folder, ...read], ...over },
    ...binding,
  });
}

export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => environmentOf(pid).includes(mark));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // It has ended, or another user owns it.
  }
}

export async function untilSoon(holds: () => boolean, what: string): Promise<void> {
  const look = () => {
    if (!holds()) throw new Error(`there is no ${what}`);
  };
  await vi.waitFor(look, { timeout: 40_000, interval: 20 });
}

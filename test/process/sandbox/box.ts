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

/** Why no sandbox can be made on this machine, so that tests of it are skipped; undefined when it can. */
export const noSandbox = probe.isPossible ? undefined : probe.reason;
if (noSandbox !== undefined) console.warn(`tests of bubblewrap are skipped: ${noSandbox}`);

/** A new folder, without links in its path. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'box-')));
}

/** Writes an executable script and gives its path. */
export function script(folder: string, lines: string, interpreter = '/bin/sh'): string {
  const path = join(folder, `script-${counter++}`);
  writeFileSync(path, `#!${interpreter}\n${lines}\n`);
  chmodSync(path, 0o755);
  return path;
}

let counter = 0;

export interface BoxOptions extends Partial<Omit<BubblewrapSandbox, 'mode'>> {
  /** The folder of the config file. */
  readonly folder: string;
  readonly binding?: Partial<Binding>;
}

/** A binding of a command that runs in a sandbox which shows the folder. */
export function bindBoxed(command: string, { folder, binding = {}, ...given }: BoxOptions): Binding {
  const { read = [], ...over } = given;
  const sandbox = { mode: 'bubblewrap', name: 'box', program, network: false, write: [], hide: [] } as const;
  return bind(command, {
    cwd: folder,
    sandbox: { ...sandbox, read: [folder, ...read], ...over },
    ...binding,
  });
}

/** Every process whose environment has that text. */
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
    return ''; // It has ended since, or is somebody else's.
  }
}

/** Waits until `holds` is true, for as long as a busy machine takes to start an interpreter. */
export async function untilSoon(holds: () => boolean, what: string): Promise<void> {
  const look = () => {
    if (!holds()) throw new Error(`there is no ${what}`);
  };
  await vi.waitFor(look, { timeout: 40_000, interval: 20 });
}

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const programs = ['trivial', 'spawn-loop', 'echo-server'] as const;

/** The path of each built C program. */
export type Native = Readonly<Record<(typeof programs)[number], string>>;

let built: Native | undefined;

/**
 * Builds the C programs in this folder with `cc` into a temporary folder, once per process, and removes them at exit.
 * Returns undefined if no working compiler is found.
 */
export function buildNative(): Native | undefined {
  if (built !== undefined) return built;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-native-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    const [trivial, loop, server] = programs.map((name) => compile(name, folder));
    if (trivial === undefined || loop === undefined || server === undefined) return undefined;
    built = { trivial, 'spawn-loop': loop, 'echo-server': server };
    return built;
  } catch {
    return undefined;
  }
}

/** The message for benches that are skipped when `buildNative` returns undefined. */
export const withoutCompiler = 'skipped: there is no `cc` here that compiles bench/native';

/** Links statically if the system supports it: a program without shared libraries starts in half the time. */
function compile(name: string, folder: string): string {
  const source = fileURLToPath(new URL(`./${name}.c`, import.meta.url));
  const target = join(folder, name);
  const args = ['-O2', '-o', target, source];
  try {
    execFileSync('cc', ['-static', ...args], { stdio: 'ignore' });
  } catch {
    execFileSync('cc', args, { stdio: 'ignore' });
  }
  return target;
}

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { builtProgram } from '../../built.ts';

/** A test file that imports another one runs its tests again, with the answers of a resident. */
export const throughResident = 'TEST_THROUGH_RESIDENT';
export const isThroughResident = () => process.env[throughResident] !== undefined;

interface Circumstances {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input: string;
}

/** A folder for sockets. Their paths must be short, and the folder of temporary files of a test may be deep. */
export function socketFolder(): string {
  const folder = mkdtempSync('/tmp/x-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const folders = new Set<string>();
/** Events that the resident left to the command. */
export const leftToCommand: string[] = [];

const spawned = { encoding: 'utf8', maxBuffer: 1e9 } as const;

export function askThroughResident(
  [program = '', ...words]: readonly string[],
  circumstances: Circumstances,
) {
  const { cwd, env, input } = circumstances;
  if (!folders.has(cwd)) {
    folders.add(cwd);
    const own = { ...env, SIGNALBOX_OWNER: undefined };
    spawnSync(process.execPath, [program, 'agents', 'up'], { ...spawned, cwd, env: own });
  }
  const asked = spawnSync(process.execPath, [clientOnly(), ...words], { ...spawned, cwd, env, input });
  if (!asked.stderr.includes('ERR_MODULE_NOT_FOUND')) return asked;
  leftToCommand.push(input);
  return spawnSync(process.execPath, [program, ...words], { ...spawned, cwd, env, input });
}

export function endResidents(): void {
  for (const cwd of folders)
    spawnSync(process.execPath, [builtProgram, 'agents', 'down'], { ...spawned, cwd });
  folders.clear();
}

/** Numbers below 2^32 that look random: a linear congruential generator with a fixed seed. */
export function openRandom(seed = 34) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

let client: string | undefined;
/** The program without all that it loads to judge by itself: what it answers is the resident's. */
export function clientOnly(): string {
  if (client !== undefined) return client;
  const root = resolve(dirname(builtProgram), '../..');
  const copy = mkdtempSync(join(tmpdir(), 'client-'));
  mkdirSync(join(copy, 'dist/cli'), { recursive: true });
  client = join(copy, 'dist/cli/main.js');
  cpSync(builtProgram, client);
  cpSync(join(root, 'package.json'), join(copy, 'package.json'));
  // The chunks that the entry names, and none that these load on demand.
  for (const [, chunk = ''] of readFileSync(builtProgram, 'utf8').matchAll(/"\.\.\/(chunks\/\w+\.js)"/g))
    cpSync(join(root, 'dist', chunk), join(copy, 'dist', chunk));
  return client;
}

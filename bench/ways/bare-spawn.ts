import { spawn } from 'node:child_process';
import { type Contender, defineWay, spread } from '../run/line.ts';

export interface BareSpawn {
  readonly command: readonly string[];
  readonly request: string;
  readonly atOnce: number;
}

/** The same program by hand, with node:child_process and without error handling. */
export const bareSpawn = defineWay<BareSpawn>(import.meta.url);

export async function open({ command, request, atOnce }: BareSpawn): Promise<Contender> {
  return { run: (count) => spread(count, atOnce, () => spawnOnce(command, request)) };
}

/** Starts a process, sends a request, reads the reply to the end and parses it. */
export function spawnOnce([program = '', ...args]: readonly string[], request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'pipe' });
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.resume();
    child.once('close', () => {
      JSON.parse(stdout);
      resolve();
    });
    child.once('error', reject);
    child.stdin.end(request);
  });
}

import { spawn } from 'node:child_process';
import { type Contender, defineWay, spread } from '../run/line.ts';

export interface Command {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** Written to stdin, which is then closed. Without it, the program has no stdin. */
  readonly stdin?: string;
}

/** Runs a program from start to exit, in sequence. Throws if its exit code is not 0. */
export const command = defineWay<Command>(import.meta.url);

export async function open({ command: [program, ...args], cwd, stdin }: Command): Promise<Contender> {
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
      child.stdin.on('error', () => {}).end(stdin);
      let said = '';
      for (const output of [child.stdout, child.stderr]) {
        output.on('data', (chunk) => {
          said += chunk;
        });
      }
      child.once('error', reject);
      child.once('close', (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${args.join(' ')} ended with ${code}: ${said}`));
      });
    });
  return { run: (count) => spread(count, 1, run) };
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { signalbox } from '../../cli/command-line.ts';

const run = promisify(execFile);
const [node, main] = signalbox;

export interface Served {
  readonly url: string;
  /** Ends the process with SIGKILL, like a power cut. */
  kill(): Promise<void>;
  stop(): Promise<number | null>;
  stderr(): string;
}

export async function serve(folder: string): Promise<Served> {
  const args = [main, 'serve', '--config', `${folder}/runtime.yaml`, '--listen', '127.0.0.1:0', '--json'];
  const child: ChildProcess = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  onTestFinished(async () => void (await end('SIGKILL')));
  if (child.stdout === null) throw new Error('no stdout');
  const lines = createInterface({ input: child.stdout });
  const [line]: unknown[] = await Promise.race([
    once(lines, 'line'),
    exited.then(() => {
      throw new Error(`serve ended: ${stderr}`);
    }),
  ]);
  const { url } = JSON.parse(String(line));
  return {
    url,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    stderr: () => stderr,
  };
}

export async function command(folder: string, ...args: readonly string[]): Promise<unknown> {
  const given = [main, ...args, '--config', `${folder}/runtime.yaml`, '--json'];
  const { stdout } = await run(node, given, { cwd: folder });
  return JSON.parse(stdout);
}

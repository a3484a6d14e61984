import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Ran, start } from './command-line.ts';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly document: { readonly url: string; readonly [member: string]: unknown };
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the line of stderr that contains this text. */
  told(text: string): Promise<string>;
  readonly ran: Promise<Ran>;
}

/** Starts `signalbox serve --listen 127.0.0.1:0 --json` in a folder, and waits until it listens. */
export async function serve(
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<Serving> {
  const { child, ran } = start(['serve', '--listen', '127.0.0.1:0', '--json', ...more], { cwd, env });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('no pipes');
  const lines = createInterface({ input: stdout });
  let log = '';
  stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const first = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    ran.then(({ stderr: said }) => {
      throw new Error(said);
    }),
  ]);
  const document = JSON.parse(first);
  return {
    url: document.url,
    document,
    ran,
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    told: async (text) => {
      while (!log.includes(text)) await once(stderr, 'data');
      return log.split('\n').find((line) => line.includes(text)) ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ran;
    },
  };
}

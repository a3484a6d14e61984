import { type ChildProcess, spawn } from 'node:child_process';
import { type Contender, defineWay, spread } from '../run/line.ts';

export interface BareServer {
  readonly command: readonly string[];
  readonly params: object;
  readonly atOnce: number;
}

/**
 * A minimal client without error handling: ids, a map of promises, one write per turn of the event loop, and lines that
 * are split and parsed.
 */
export const bareServer = defineWay<BareServer>(import.meta.url);

export async function open({ command, params, atOnce }: BareServer): Promise<Contender> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  const write = openWriter(child);
  onLine(child, (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const ask = () =>
    new Promise<void>((resolve) => {
      const id = ++lastId;
      waiting.set(id, () => resolve());
      write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params })}\n`);
    });
  return {
    run: (count) => spread(count, atOnce, ask),
    close: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

function openWriter({ stdin }: ChildProcess): (text: string) => void {
  let unsent = '';
  const flush = () => {
    stdin?.write(unsent);
    unsent = '';
  };
  return (text) => {
    if (unsent === '') setImmediate(flush);
    unsent += text;
    // Keeps the text below the maximum string length for any number and size of requests.
    if (unsent.length > 65_536) flush();
  };
}

function onLine({ stdout }: ChildProcess, tell: (line: string) => void): void {
  let rest = '';
  stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    let from = 0;
    for (let to = chunk.indexOf('\n'); to >= 0; to = chunk.indexOf('\n', from)) {
      tell(rest + chunk.slice(from, to));
      rest = '';
      from = to + 1;
    }
    rest += chunk.slice(from);
  });
}

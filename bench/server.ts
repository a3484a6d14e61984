import { spawn } from 'node:child_process';
import { type Contender, measure, render, spread } from './measure.ts';
import { buildNative, withoutCompiler } from './native/build.ts';
import { makeFolder, open } from './workspace.ts';

const payloads = [
  { name: '100 B', bytes: 100, count: 10_000, inFlight: [1, 8, 64, 512] },
  { name: '10 KiB', bytes: 10_240, count: 2_000, inFlight: [1, 8, 64, 512] },
  // 512 of these would be half a gigabyte under way.
  { name: '1 MiB', bytes: 1_048_576, count: 64, inFlight: [1, 8, 64] },
];

/** How many requests a second one server in C answers: a bare pipelined loop over its pipes, against a whole tool call. */
export async function benchServer(): Promise<string> {
  const native = buildNative();
  if (native === undefined) return `server: ${withoutCompiler}`;
  const server = native['echo-server'];
  const folder = makeFolder({ 'runtime.yaml': configOf(server) });
  const tables: string[] = [];
  for (const { name, bytes, count, inFlight } of payloads) {
    for (const concurrency of inFlight) {
      const args = { city: 'Oslo', text: textOf(bytes) };
      const measured = await measure([openBare(server, args), await openSignalbox(folder.path, args)], {
        count: concurrency === 1 ? Math.ceil(count / 5) : Math.max(count, concurrency),
        concurrency,
      });
      tables.push(render(`server: ${concurrency} in flight, ${name}`, measured));
    }
  }
  folder.remove();
  return tables.join('\n');
}

function configOf(server: string): string {
  return `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  concurrency: 512
  tools:
    echo: {description: gives its arguments back, exec: {command: ${JSON.stringify(server)}, runtime: server, concurrency: 512, max_output_bytes: 1000000000}}
`;
}

/** Prose with a line break here and there, as what tools are given is. */
function textOf(bytes: number): string {
  const line = 'It was the best of times, it was the worst of times, it was the age of wisdom.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, Math.max(0, bytes - 30));
}

async function openSignalbox(folder: string, args: Readonly<Record<string, string>>): Promise<Contender> {
  const runtime = await open(folder);
  return {
    name: 'signalbox tool call',
    run: (count, at) =>
      spread(count, at, async () => {
        const call = await runtime.tools.call('echo', args);
        if (call.status !== 'ok') throw new Error(`the tool was ${JSON.stringify(call)}`);
      }),
    close: () => runtime.close(),
  };
}

/**
 * The least that can be done: ids, promises in a map, one write for all that is asked in a turn of the event loop, lines
 * split and read; and nothing that can go wrong handled.
 */
function openBare(command: string, args: Readonly<Record<string, string>>): Contender {
  const child = spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (result: unknown) => void>();
  let [lastId, unsent, rest] = [0, '', ''];
  const settle = (line: string) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    let from = 0;
    for (let to = chunk.indexOf('\n'); to >= 0; to = chunk.indexOf('\n', from)) {
      settle(rest + chunk.slice(from, to));
      rest = '';
      from = to + 1;
    }
    rest += chunk.slice(from);
  });
  const flush = () => {
    child.stdin.write(unsent);
    unsent = '';
  };
  const ask = () =>
    new Promise<void>((resolve) => {
      const id = ++lastId;
      waiting.set(id, () => resolve());
      if (unsent === '') setImmediate(flush);
      unsent += `${JSON.stringify({ jsonrpc: '2.0', id, method: 'execute', params: { args } })}\n`;
      if (unsent.length > 65_536) flush();
    });
  return {
    name: 'bare pipelined loop',
    run: (count, at) => spread(count, at, ask),
    close: async () => {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

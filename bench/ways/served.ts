import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { writeSpec } from '../workspace.ts';

const upstream = fileURLToPath(new URL('chat-upstream.ts', import.meta.url));
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** A server in its own process. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A collector of spans. */
export const startCollector = async () =>
  await startServer([fileURLToPath(new URL('otlp-receiver.ts', import.meta.url))]);

/** A model API whose streams continue until the client disconnects. */
export const startUpstream = async () => await startServer([upstream]);

/** `signalbox serve` in front of an API, with config keys in addition to the provider. */
export async function startGateway(url: string, spec: object, processes = 1): Promise<Served> {
  const provider = { id: 'main', type: 'openai-compatible', model: 'm', base_url: `${url}/v1` };
  const config = writeSpec({ providers: [provider], state_store: { type: 'memory' }, ...spec });
  return await startServer([main, 'serve', '--config', config, '--processes', String(processes), ...quietly]);
}

const quietly = ['--listen', '127.0.0.1:0', '--json', '--log-level', 'error'];

/** Starts a Node program that prints `{"url": …}` as its first line. */
async function startServer(args: readonly string[]): Promise<Served> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url }: { readonly url: string } = JSON.parse(String(line));
  return {
    url,
    pid: child.pid ?? 0,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

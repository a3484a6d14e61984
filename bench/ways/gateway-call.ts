import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { type Contender, defineWay, spread } from '../run/line.ts';
import { writeSpec } from '../workspace.ts';

export interface GatewayCall {
  /** Calls at once. */
  readonly atOnce: number;
  /** What stands in the config beside the provider; without it the upstream is called direct. */
  readonly spec?: object;
}

/** Chat completions of a server on loopback, called direct or through `signalbox serve`. */
export const gatewayCall = defineWay<GatewayCall>(import.meta.url);

const upstream = fileURLToPath(new URL('chat-upstream.ts', import.meta.url));
const main = fileURLToPath(new URL('../../dist/surface/cli/main.js', import.meta.url));

export async function open({ atOnce, spec }: GatewayCall): Promise<Contender> {
  const direct = await startServer([upstream]);
  const served = spec && (await startServer([main, 'serve', ...serveArgs(direct.url, spec)]));
  const { url } = served ?? direct;
  const pool = new Pool(url, { connections: atOnce });
  const call = async () => {
    const { statusCode, body } = await pool.request({
      ...{ path: '/v1/chat/completions', method: 'POST', body: request },
      headers: { 'content-type': 'application/json' },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(text);
  };
  return {
    run: (count) => spread(count, atOnce, call),
    close: async () => {
      await pool.close();
      await served?.stop();
      await direct.stop();
    },
  };
}

const messages = [
  { role: 'system', content: 'You are helpful.' },
  { role: 'user', content: 'Hello there, how are you today? '.repeat(20) },
];
const request = JSON.stringify({ model: 'm', messages, temperature: 0.5 });

function serveArgs(url: string, spec: object): string[] {
  const provider = { id: 'main', type: 'openai-compatible', model: 'm', base_url: `${url}/v1` };
  const config = writeSpec({ providers: [provider], state_store: { type: 'memory' }, ...spec });
  return ['--config', config, '--listen', '127.0.0.1:0', '--json', '--log-level', 'error'];
}

/** Starts a program of Node that prints `{"url": …}` as its first line. */
async function startServer(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url }: { readonly url: string } = JSON.parse(String(line));
  return {
    url,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill();
      await closed;
    },
  };
}

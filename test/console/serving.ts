import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveConsole } from '../../src/console/serve.ts';
import { openRuntime } from '../../src/index.ts';
import { openKeys } from '../../src/runtime/gateway/keys.ts';
import { workspace } from '../workspace.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly body: unknown;
}

interface Asked {
  readonly body?: unknown;
  readonly text?: string;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends exactly these headers; `fetch` would add and refuse some. */
export async function send(
  url: string,
  method: string,
  { body, text: sent, headers = {} }: Asked = {},
): Promise<Reply> {
  const payload = sent ?? (body === undefined ? undefined : JSON.stringify(body));
  const outgoing = request(url, {
    method,
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
  });
  const answered = new Promise<Reply>((resolve, reject) => {
    outgoing.on('error', reject).on('response', async (incoming) => {
      const read = await text(incoming);
      const { statusCode: status = 0, headers: got } = incoming;
      const isJson = String(got['content-type']).startsWith('application/json') && read !== '';
      resolve({ status, headers: got, text: read, body: isJson ? JSON.parse(read) : undefined });
    });
  });
  outgoing.end(payload);
  return await answered;
}

/** Serves the console of a config until the test ends. Without keys, `token` is that of its start. */
export async function serve(
  spec: string,
  files: Readonly<Record<string, string>> = {},
  listen = '127.0.0.1:0',
) {
  const folder = workspace(spec, files);
  const runtime = await openRuntime(`${folder}/runtime.yaml`, { log: false });
  onTestFinished(async () => await runtime.close());
  const served = await serveConsole(runtime, { listen, userName: 'ada', version: '1.2.3' });
  onTestFinished(served.close);
  const { origin, hash, host } = new URL(served.url);
  const token = new URLSearchParams(hash.slice(1)).get('key');
  const ask = async (route: string, { key = token, ...asked }: Asked = {}): Promise<Reply> => {
    const [method = '', path = ''] = route.split(' ');
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    return await send(
      `${origin}${path.startsWith('/console') || path.startsWith('/.') ? '' : '/api/v1'}${path}`,
      method,
      {
        ...asked,
        headers: { ...authorization, ...asked.headers },
      },
    );
  };
  return { folder, runtime, served, origin, host, token, ask };
}

export async function keysOf(folder: string) {
  const keys = await openKeys(`${folder}/runtime.yaml`);
  onTestFinished(async () => await keys.close());
  return keys;
}

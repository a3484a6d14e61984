import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openRuntime } from '../../../src/index.ts';
import { type Case, spellCase, type Wire } from './case.ts';
import type { Got } from './check.ts';
import { type ScriptedUpstream, startUpstream } from './upstream.ts';

export interface World {
  run(one: Case): Promise<{ readonly wire: Wire; readonly gots: readonly Got[] }>;
  send(exchange: Exchange, mode: Case['mode'], isStream: boolean): Promise<Got>;
  close(): Promise<void>;
}

export interface Exchange extends Pick<Wire, 'status' | 'answerBody' | 'stream' | 'dice' | 'requestBody'> {
  readonly path: string;
}

/** Longer than every mark. */
const windowChars = 40;

export async function openWorld(timeoutMs: number): Promise<World> {
  const upstream = await startUpstream();
  const held = await openGateway(upstream, { stream: 'hold', timeoutMs });
  const windowed = await openGateway(upstream, { stream: 'windowed', timeoutMs });
  const send: World['send'] = (exchange, mode, isStream) =>
    call(exchange, { fetch: (mode === 'hold' ? held : windowed).fetch, upstream, isStream });
  return {
    run: async (one) => {
      const wire = spellCase(one);
      const gots: Got[] = [];
      for (const isStream of waysOf(one))
        gots.push(await send({ ...wire, path: wire.scene.path }, one.mode, isStream));
      return { wire, gots };
    },
    send,
    close: async () => {
      await Promise.all([held.close(), windowed.close()]);
      await upstream.close();
    },
  };
}

function waysOf({ endpoint, side }: Case): boolean[] {
  if (side === 'lie') return [true];
  return endpoint.hasStreams ? [false, true] : [false];
}

type Fetch = (request: Request) => Response | Promise<Response>;

interface Via {
  readonly fetch: Fetch;
  readonly upstream: ScriptedUpstream;
  readonly isStream: boolean;
}

async function call(exchange: Exchange, { fetch, upstream, isStream }: Via): Promise<Got> {
  const { status, answerBody: body, stream, dice, path } = exchange;
  const id = upstream.expect({ status, body, stream, dice });
  const request = new Request(`http://gateway.example${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-stainless-claim': id },
    body: exchange.requestBody(isStream),
  });
  const response = await fetch(request);
  const headers = Object.fromEntries(response.headers);
  const text = await response.text();
  return {
    status: response.status,
    headers,
    text,
    isStream: headers['content-type']?.startsWith('text/event-stream') === true,
    wantsStream: isStream,
    upstream: upstream.take(id),
  };
}

interface Options {
  readonly stream: 'hold' | 'windowed';
  readonly timeoutMs: number;
}

async function openGateway({ url }: ScriptedUpstream, { stream, timeoutMs }: Options) {
  const folder = await mkdtemp(join(tmpdir(), 'claim-'));
  const file = join(folder, 'runtime.yaml');
  const provider = (id: string, type: string) => ({
    ...{ id, type, model: `m-${id}`, base_url: `${url}/v1`, credential: { api_key: 'upstream-key' } },
  });
  const config = {
    apiVersion: 'signalbox/v1',
    kind: 'RuntimeConfig',
    metadata: { name: 'claim' },
    spec: {
      state_store: { type: 'memory' },
      providers: [
        provider('chat', 'openai-compatible'),
        { ...provider('responses', 'openai'), additional_config: { api_mode: 'responses' } },
        provider('messages', 'claude'),
      ],
      hooks: {
        marks: {
          ...{ command: resolve(import.meta.dirname, 'filter.mjs'), hook: 'provider' },
          ...{ runtime: 'server', concurrency: 64, timeout_ms: timeoutMs },
        },
      },
      gateway: { stream, window: windowChars, embeddings: { redact: true } },
    },
  };
  await writeFile(file, JSON.stringify(config));
  const runtime = await openRuntime(file, { log: false });
  const gateway = runtime.gateway();
  return { fetch: gateway.fetch, close: () => runtime.close() };
}

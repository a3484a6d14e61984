import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dice } from './scene.ts';

interface Script {
  readonly status: number;
  readonly body: string;
  readonly stream: string;
  readonly dice: Dice;
}

export interface ScriptedUpstream {
  readonly url: string;
  /** Stores a script. The client sends the id in the header `x-stainless-claim`. */
  expect(script: Script): string;
  /** Returns the request of an id, and forgets it. */
  take(id: string): string | undefined;
  close(): Promise<void>;
}

export async function startUpstream(): Promise<ScriptedUpstream> {
  const scripts = new Map<string, Script>();
  const seen = new Map<string, string>();
  let last = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const id = String(request.headers['x-stainless-claim']);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    seen.set(id, (seen.get(id) ?? '') + Buffer.concat(chunks).toString());
    const script = scripts.get(id);
    if (script === undefined) throw new Error(`nobody expects ${id}`);
    const isStream = script.status === 200 && /"stream":true/.test(seen.get(id) ?? '');
    response.writeHead(script.status, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
    });
    if (isStream) await writeStream(response, script);
    response.end(isStream ? undefined : script.body);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    expect: (script) => {
      last += 1;
      scripts.set(String(last), script);
      return String(last);
    },
    take: (id) => {
      const body = seen.get(id);
      seen.delete(id);
      scripts.delete(id);
      return body;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function writeStream(response: ServerResponse, { stream, dice }: Script): Promise<void> {
  let rest = Buffer.from(stream);
  for (let pieces = dice(5); pieces > 0 && rest.length > 1; pieces--) {
    const length = 1 + dice(rest.length - 1);
    response.write(rest.subarray(0, length));
    rest = rest.subarray(length);
    await nextTurn();
  }
  response.write(rest);
}

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SeenRequest, startUpstream, type UpstreamServer } from '../upstream-server.ts';

export interface OpenAiReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly stream?: readonly string[];
  /** After the stream, the connection is cut or stays open. */
  readonly after?: 'cut' | 'hang';
}

export interface OpenAiUpstream extends UpstreamServer {
  /** Sets the replies, one for each request; the last one repeats. Forgets the requests seen. */
  reply(replies: readonly OpenAiReply[]): void;
}

export async function startOpenAiUpstream(replies: readonly OpenAiReply[] = []): Promise<OpenAiUpstream> {
  let given = replies;
  let from = 0;
  const server = await startUpstream(async (_request: SeenRequest, response: ServerResponse) => {
    const reply = given[Math.min(server.seen.length - from, given.length) - 1] ?? {};
    await give(reply, response);
  });
  return {
    ...server,
    get seen() {
      return server.seen.slice(from);
    },
    reply: (next) => {
      given = next;
      from = server.seen.length;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function give({ status = 200, headers, body, stream, after }: OpenAiReply, response: ServerResponse) {
  const type = stream === undefined ? 'application/json' : 'text/event-stream; charset=utf-8';
  response.writeHead(status, {
    'content-type': type,
    'x-request-id': 'req_1',
    'openai-version': '2020-10-01',
    ...headers,
  });
  for (const piece of stream ?? []) {
    response.write(piece);
    await sleep(1);
  }
  if (after === 'hang') return;
  if (after === 'cut') response.destroy();
  else if (stream !== undefined) response.end();
  else response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function cutText(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

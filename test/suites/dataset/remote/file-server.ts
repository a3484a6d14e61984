import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cutAfter?: number;
  /** Sends that many bytes, and then nothing more. */
  readonly silentAfter?: number;
  /** Ignores ranges and sends the whole text. */
  readonly withoutRanges?: boolean;
}

export interface FileServer {
  readonly origin: string;
  readonly requests: IncomingMessage[];
  content: Buffer;
  /** Awaited before a request is answered. */
  before(request: IncomingMessage): Promise<void>;
}

/**
 * Serves one text at every path of a loopback port, with ranges and an entity tag. `answer` returns the fault of each
 * request.
 */
export async function openFileServer(
  text: string | Buffer,
  answer: (request: IncomingMessage, count: number) => Answer | undefined = () => undefined,
): Promise<FileServer> {
  const served: { -readonly [Key in keyof FileServer]: FileServer[Key] } = {
    ...{ origin: '', requests: [], content: Buffer.from(text), before: async () => {} },
  };
  const server = createServer(async (request, response) => {
    await served.before(request);
    served.requests.push(request);
    const wrong = answer(request, served.requests.length);
    respond(request, response, { ...wrong, content: served.content });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  served.origin = `http://127.0.0.1:${port}`;
  return served;
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  {
    content,
    status,
    headers = {},
    cutAfter,
    silentAfter,
    withoutRanges = false,
  }: Answer & { content: Buffer },
): void {
  if (status !== undefined) {
    response.writeHead(status, headers).end(status < 400 ? '' : 'no');
    return;
  }
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const isRanged = from !== '' && !withoutRanges;
  const start = isRanged ? Number(from) : 0;
  const end = isRanged && to !== '' ? Math.min(Number(to) + 1, content.length) : content.length;
  const common = { etag: `"${content.length}-${content.subarray(0, 20).toString('hex')}"`, ...headers };
  if (isRanged && start >= content.length) {
    response.writeHead(416, { ...common, 'content-range': `bytes */${content.length}` }).end();
    return;
  }
  const body = content.subarray(start, end);
  const range = { 'content-range': `bytes ${start}-${end - 1}/${content.length}` };
  response.writeHead(isRanged ? 206 : 200, {
    ...common,
    ...(isRanged && range),
    'content-length': body.length,
  });
  const sent = cutAfter ?? silentAfter ?? body.length;
  response.write(body.subarray(0, sent), () => {
    if (cutAfter !== undefined && cutAfter < body.length) response.socket?.destroy();
    else if (silentAfter === undefined || silentAfter >= body.length) response.end();
  });
}

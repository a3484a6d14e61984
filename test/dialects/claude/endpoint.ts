import { createServer, type IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';

interface Got {
  readonly path: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isLate?: boolean;
}

export async function listen(replies: Readonly<Record<string, Reply>>) {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { url: path = '', method, headers } = request;
    got.push({ path, method, headers, body: Buffer.concat(chunks).toString() });
    const { status = 200, headers: own = {}, body = '', isLate = false } = replies[path] ?? {};
    if (!isLate) response.writeHead(status, own).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { got, url: `http://127.0.0.1:${port}` };
}

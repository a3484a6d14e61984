import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Fault } from './faults.ts';

type HttpFault = NonNullable<Fault['http']>;

/** An endpoint on loopback that fails in the place of a hook's own. */
export interface FailingEndpoint {
  urlOf(fault: HttpFault | 'consent' | 'allow'): string;
  close(): Promise<void>;
}

/** Starts to listen. Rejects with the system error. */
export async function openFailingEndpoint(): Promise<FailingEndpoint> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(decodeURIComponent(request.url ?? '/').slice(1), response));
  });
  const port = await listen(server);
  const closed = createServer();
  const closedPort = await listen(closed);
  await close(closed);
  return {
    urlOf: (fault) =>
      fault === 'refuse' ? addressOf(closedPort) : `${addressOf(port)}/${encodeURIComponent(fault)}`,
    close: async () => {
      server.closeAllConnections();
      await close(server);
    },
  };
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function close(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

function addressOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function answer(fault: string, response: ServerResponse): void {
  switch (fault) {
    case 'hang':
      return;
    case 'hang up':
      response.destroy();
      return;
    case 'allow':
      response.writeHead(200, json).end(consent);
      return;
    case 'status 500':
      response.writeHead(500, json).end(consent);
      return;
    case 'status 202':
      response.writeHead(202, json).end(consent);
      return;
    case 'redirect':
      response.writeHead(307, { location: '/allow' }).end();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(consent);
      return;
    case 'cut':
      response.writeHead(200, { ...json, 'content-length': 1000 }).write(consent, () => response.destroy());
      return;
    case 'junk':
      response.writeHead(200, json).end('not an answer');
      return;
    case 'half':
      response.writeHead(200, json).end('{"allow": tr');
      return;
    case 'flood':
      flood(response);
      return;
    default:
      response.end();
  }
}

const json = { 'content-type': 'application/json' };
/** What would let pass, if it were to count. */
const consent = '{"allow": true}';

function flood(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more);
  more();
}

const block = ' '.repeat(64 * 1024);

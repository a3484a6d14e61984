import { createServer } from 'node:http';
import { RuntimeError } from '../../base/errors.ts';
import { formatListen, type ListenAddress } from '../../config/listen.ts';

/** What is known of a worker. */
export interface Health {
  /** Whether it reaches its database. */
  readonly isAlive: boolean;
  /** Whether it takes jobs. */
  readonly isReady: boolean;
  readonly busy: number;
}

export interface HealthServer {
  readonly url: string;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Answers GET /healthz and /readyz with 200 or 503. `look` never rejects. Throws LISTEN_FAILED. */
export async function serveHealth(
  { host, port }: ListenAddress,
  look: () => Promise<Health>,
): Promise<HealthServer> {
  const server = createServer(async (request, response) => {
    const health = await look();
    const answers: Readonly<Record<string, boolean>> = {
      '/healthz': health.isAlive,
      '/readyz': health.isAlive && health.isReady,
    };
    const isGood = answers[new URL(request.url ?? '/', 'http://worker').pathname];
    const status = isGood === undefined ? 404 : isGood ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(
      isGood === undefined
        ? '{"error":"there is /healthz and /readyz"}\n'
        : `${JSON.stringify({ status: isGood ? 'ok' : health.isAlive ? 'draining' : 'no database', busy: health.busy })}\n`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new RuntimeError(
          'LISTEN_FAILED',
          `${formatListen({ host, port })} cannot be listened on: ${cause.message}`,
          {
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound =
    address === null || typeof address === 'string' ? { host, port } : { host, port: address.port };
  return {
    url: `http://${formatListen(bound)}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

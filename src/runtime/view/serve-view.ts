import { RuntimeError } from '../../base/errors.ts';
import { isLoopbackName } from '../../base/text/loopback-name.ts';
import { type GatewayServer, listen, toListener } from '../../gateway/http/server.ts';
import { newToken } from './access.ts';
import { createRoutes } from './routes.ts';
import { openShelf, type ShelfOptions } from './shelf.ts';

export interface ViewOptions extends ShelfOptions {
  /** A name or address of this machine alone. */
  readonly host: string;
  /** Default: `defaultPort`, or any that is free where that is taken. 0: any that is free. */
  readonly port: number | undefined;
  readonly userName: string;
}

/** Pages over runs that are served. */
export interface ServedView {
  /** With the token; `path`, from `/` on, is what is shown first. */
  urlOf(path: string): string;
  /** Cuts what is under way. Never rejects. */
  close(): Promise<void>;
}

/** Behind that of the gateway. */
export const defaultPort = 8788;

/** Serves pages over runs to browsers of this machine. Throws LISTEN_FAILED. */
export async function serveView({ host, port, userName, ...shelved }: ViewOptions): Promise<ServedView> {
  requireLoopback(host);
  const token = newToken();
  const app = createRoutes({ shelf: openShelf(shelved), userName, token });
  const listener = toListener((request) => app.fetch(request));
  const server = await listenAt(host, port, () => ({ listener, begin: () => () => {} }));
  return {
    urlOf: (path) => `${server.url}${path}#token=${token}`,
    close: async () => void (await server.close(0)),
  };
}

type Generation = Parameters<typeof listen>[0]['generation'];

async function listenAt(
  host: string,
  port: number | undefined,
  generation: Generation,
): Promise<GatewayServer> {
  const at = async (each: number) => await listen({ host, port: each, limits, generation });
  if (port === undefined) return await at(defaultPort).catch(async () => await at(0));
  try {
    return await at(port);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    const hint = 'Give another --port, or none: then one is taken that is free.';
    throw new RuntimeError(thrown.code, thrown.message, { hint, cause: thrown });
  }
}

/** Milliseconds, and connections of a few browsers. */
const limits = { headersMs: 10_000, requestMs: 30_000, idleMs: 30_000, connections: 64 };

function requireLoopback(host: string): void {
  if (isLoopbackName(host.includes(':') ? `[${host}]` : host)) return;
  throw new RuntimeError(
    'LISTEN_FAILED',
    `${host} is reached by other machines, and pages over runs are not for them`,
    {
      hint: 'Leave --host out, and reach it from elsewhere through a tunnel: ssh -L 8788:127.0.0.1:8788 MACHINE.',
    },
  );
}

import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { once, shareReads } from '../../base/time/async.ts';
import { requireListen } from '../../config/listen.ts';
import { type GatewayServer, listen, toListener } from '../../gateway/http/server.ts';
import type { Runtime } from '../api.ts';

interface Place {
  readonly host: string;
  readonly url: () => string;
}

type Collect = NonNullable<Runtime['telemetry']['metrics']>;
type Handler = Awaited<ReturnType<typeof openMetrics>>;

const path = '/metrics';

export type MetricsServers = ReturnType<typeof metricsServers>;

/** `/metrics` as a part of another server. */
export function metricsMount() {
  let state: Handler | RuntimeError | undefined;
  return {
    takes: (url: string) => /^(\/\.well-known\/oauth-protected-resource)?\/metrics(\?|$)/.test(url),
    /** Undefined if metrics are off, or others could read them without a key. Throws STORE_FAILED. */
    open: async (runtime: Runtime, at: Place) => {
      const { metrics } = runtime.telemetry;
      state = metrics && (await openMetrics(runtime, metrics, at).catch(takeRefusal));
      return typeof state === 'function' ? { fetch: state, leave: () => {} } : undefined;
    },
    /** The address of the metrics at a server, or why they are not there. Undefined if metrics are off. */
    addressAt: (server: string): { readonly url: string } | { readonly reason: string } | undefined =>
      state instanceof RuntimeError
        ? { reason: `${state.message}. ${state.hint}` }
        : state && { url: `${server}${path}` },
  };
}

function takeRefusal(thrown: unknown): RuntimeError {
  if (thrown instanceof RuntimeError && thrown.code === 'LISTEN_FAILED') return thrown;
  throw thrown;
}

/** Servers of their own for `/metrics`: one for each address, shared by the runtimes of a reload. */
export function metricsServers(report: (line: string) => void) {
  /** Of the handlers of an address, the newest one answers. */
  const servers = new Map<string, { readonly handlers: Handler[]; server: GatewayServer | undefined }>();
  const join = async (runtime: Runtime, metrics: Collect, address: string) => {
    const at = requireListen(address, 9464);
    const own = servers.get(address) ?? { handlers: [], server: undefined };
    const handler = await openMetrics(runtime, metrics, { ...at, url: () => own.server?.url ?? '' });
    own.handlers.push(handler);
    servers.set(address, own);
    const answer: Handler = async (request) => await (own.handlers.at(-1) ?? handler)(request);
    const generation = { listener: toListener(answer), begin: () => () => {} };
    if (own.server === undefined)
      try {
        own.server = await listen({ ...at, limits: runtime.mcp.limits, generation: () => generation });
        report(`Metrics: ${own.server.url}${path}`);
      } catch (thrown) {
        report(`warning: no metrics at ${toRuntimeError(thrown).message}. ${elsewhere}`);
      }
    return async () => {
      own.handlers.splice(own.handlers.indexOf(handler), 1);
      if (own.handlers.length > 0) return;
      servers.delete(address);
      await own.server?.close(LAST_ANSWERS_MS);
    };
  };
  return {
    /**
     * Serves the metrics of a runtime at the address in its config, until it is closed. Reports an address that is in
     * use. Closes the runtime and throws LISTEN_FAILED if others could read them without a credential.
     */
    follow: async (runtime: Runtime): Promise<Runtime> => {
      const { listen: address, metrics } = runtime.telemetry;
      if (address === undefined || metrics === undefined) return runtime;
      const leave = await join(runtime, metrics, address).catch(async (thrown: unknown) => {
        await runtime.close();
        throw thrown;
      });
      const close = once(async () => {
        await leave();
        await runtime.close();
      }).open;
      return { ...runtime, close, [Symbol.asyncDispose]: close };
    },
  };
}

const elsewhere =
  'To serve them elsewhere, set OTEL_EXPORTER_PROMETHEUS_PORT or spec.telemetry.metrics.listen.';
const LAST_ANSWERS_MS = 200;

/** Throws LISTEN_FAILED if others could read the metrics without a credential, and STORE_FAILED. */
async function openMetrics(runtime: Runtime, metrics: Collect, { host, url }: Place) {
  const callers = await runtime.callers({ host, url: () => `${url()}${path}`, metrics: true });
  // Scrapes at the same time get the same figures, which read the store once.
  const collect = shareReads(metrics);
  return async (request: Request): Promise<Response> => {
    const caller = await callers.admit(request, ['runs:read']);
    if (caller instanceof Response) return caller;
    if (new URL(request.url).pathname !== path) return refuse(404, 'There is only /metrics here.');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(405, 'This address takes GET only.', { allow: 'GET, HEAD' });
    try {
      const { type, text } = await collect();
      const headers = { 'content-type': type, 'cache-control': 'no-store' };
      return new Response(request.method === 'HEAD' ? null : text, { headers });
    } catch (thrown) {
      return refuse(503, toRuntimeError(thrown).message);
    }
  };
}

function refuse(status: number, message: string, more: Record<string, string> = {}): Response {
  const headers = { ...more, 'content-type': 'text/plain; charset=utf-8' };
  return new Response(`${message}\n`, { status, headers });
}

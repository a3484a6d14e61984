import { type Fault, RuntimeError } from '../base/errors.ts';
import { suggest } from '../base/text/suggest.ts';
import {
  type Callers,
  configOptions,
  identityOf,
  loadHttpServer,
  type Runtime,
  requireListen,
  type UpstreamInfo,
} from '../runtime/runtime.ts';
import { endpoint, httpHandler } from './http.ts';
import { refuse, rpcCodes } from './messages.ts';
import type { ProxyParts } from './proxy/connection.ts';
import { loadSdk, loadStdioSdk } from './sdk.ts';
import { serverFactory } from './server.ts';
import { openStdio, type StdioOptions } from './stdio.ts';
import { offeredTools } from './tools.ts';

interface ServeOptions {
  /** Patterns of names. Default: `spec.mcp.tools`. */
  readonly tools: readonly string[] | undefined;
  /** Receives lines for the log, without a line break. */
  readonly report?: (line: string) => void;
  /** The version of this program, which clients show. */
  readonly version: string;
}

interface StdioServeOptions extends ServeOptions, Omit<StdioOptions, 'maxBytes'> {
  /** The session of the agent that started this process, if it says one. */
  readonly session?: string | undefined;
}

export interface ServedMcp {
  /** The names of the offered tools. */
  readonly tools: readonly string[];
  /** Resolves when the client has closed the connection, or after `close`. */
  readonly closed: Promise<void>;
  /** Cancels calls that run. Calls that wait for a person stay pending. Never rejects. */
  close(): Promise<void>;
}

/** Serves one client. Throws USAGE. */
export async function serveOverStdio(
  runtime: Runtime,
  { tools, version, session, report, ...streams }: StdioServeOptions,
): Promise<ServedMcp> {
  await runtime.upstreams.connect();
  const offered = offeredTools(runtime, tools ?? runtime.mcp.tools);
  const [sdk, { serveStdio }] = await Promise.all([loadSdk(), loadStdioSdk()]);
  const transport = openStdio({ ...streams, maxBytes: runtime.mcp.maxMessageBytes });
  const options = configOptions(identityOf(runtime));
  const parts = { sdk, runtime, offered, version, session, options, report: reporter(report) };
  const served = serveStdio(serverFactory(parts), { transport });
  return { tools: [...offered.keys()], closed: transport.closed, close: served.close };
}

/** Serves any number of clients. Throws USAGE, LISTEN_FAILED. */
export async function serveOverHttp(
  runtime: Runtime,
  { tools, version, report, listen }: ServeOptions & { readonly listen: string },
): Promise<ServedMcp & { readonly url: string }> {
  await runtime.upstreams.connect();
  const offered = offeredTools(runtime, tools ?? runtime.mcp.tools);
  const sdk = await loadSdk();
  const handler = sdk.createMcpHandler(
    serverFactory({ sdk, runtime, offered, version, report: reporter(report) }),
  );
  const maxBytes = runtime.mcp.maxMessageBytes;
  const { url, close } = await listenFor(runtime, listen, (callers) =>
    httpHandler({ sdk, handler, callers, maxBytes }),
  );
  const closed = Promise.withResolvers<void>();
  return {
    tools: [...offered.keys()],
    url: `${url}${endpoint}`,
    closed: closed.promise,
    close: async () => {
      await handler.close();
      await close();
      closed.resolve();
    },
  };
}

async function listenFor(
  runtime: Runtime,
  text: string,
  handlerFor: (callers: Callers) => (request: Request) => Promise<Response>,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const { listen, toListener } = await loadHttpServer();
  const address = requireListen(text, 8788);
  const callers = await runtime.callers({
    host: address.host,
    url: () => `${server.url}${endpoint}`,
    bodyOf: ({ message }) => refuse(null, rpcCodes.request, message).reply,
  });
  const listener = toListener(handlerFor(callers));
  const generation = { listener, begin: () => () => {} };
  const { limits } = runtime.mcp;
  const server = await listen({ ...address, limits, generation: () => generation });
  return { url: server.url, close: async () => void (await server.close(LAST_ANSWERS_MS)) };
}

interface ProxyOptions {
  /** The names of the upstreams. */
  readonly servers: readonly string[];
  readonly report?: (line: string) => void;
}

/** Connects one client with its upstream. Throws USAGE, and as the upstream's connection. */
export async function proxyOverStdio(
  runtime: Runtime,
  { servers, report, ...streams }: ProxyOptions & Omit<StdioServeOptions, keyof ServeOptions>,
): Promise<Pick<ServedMcp, 'closed' | 'close'>> {
  const [upstream, ...others] = await upstreamsOf(runtime, servers);
  if (upstream === undefined || others.length > 0)
    throw new RuntimeError('USAGE', 'over stdio, --proxy takes one server', {
      hint: 'Start one process for each server, or add --http HOST:PORT to offer each at a path of its own.',
    });
  const { proxyStdio } = await import('./proxy/stdio.ts');
  const options = configOptions(identityOf(runtime));
  const maxBytes = runtime.mcp.maxMessageBytes;
  return await proxyStdio({ ...partsOf(runtime, upstream, report), options }, { ...streams, maxBytes });
}

/** Serves each upstream at `/mcp/NAME`, and a single one also at `/mcp`. Throws USAGE, LISTEN_FAILED. */
export async function proxyOverHttp(
  runtime: Runtime,
  { servers, report, listen }: ProxyOptions & { readonly listen: string },
): Promise<{ readonly urls: readonly string[]; readonly close: () => Promise<void> }> {
  const upstreams = await upstreamsOf(runtime, servers);
  const local = upstreams.find(({ transport }) => transport === 'stdio');
  if (local !== undefined)
    throw new RuntimeError('USAGE', `${local.name} speaks over stdio, and --proxy with --http needs a URL`, {
      hint: `Offer its tools with \`signalbox mcp --http ${listen} --tools '${local.name}__*'\`, or leave out --http.`,
    });
  const { proxyHandler } = await import('./proxy/http.ts');
  const parts = upstreams.map(
    (upstream) => [`${endpoint}/${upstream.name}`, partsOf(runtime, upstream, report)] as const,
  );
  const [only] = parts;
  const proxied = new Map(parts.length === 1 && only !== undefined ? [...parts, [endpoint, only[1]]] : parts);
  const maxBytes = runtime.mcp.maxMessageBytes;
  const closing = new AbortController();
  const { url, close } = await listenFor(runtime, listen, (callers) =>
    proxyHandler({ proxied, callers, maxBytes, closing: closing.signal }),
  );
  return {
    urls: parts.map(([path]) => `${url}${path}`),
    close: async () => {
      closing.abort();
      await close();
    },
  };
}

/** Pins the definitions of servers that were never seen, before a client sees them. Throws USAGE. */
async function upstreamsOf(runtime: Runtime, names: readonly string[]): Promise<UpstreamInfo[]> {
  const known = runtime.upstreams.list();
  const found = names.map((name) => {
    const upstream = known.find((each) => each.name === name);
    if (upstream !== undefined) return upstream;
    throw new RuntimeError(
      'USAGE',
      `${runtime.file} has no MCP server "${name}"`,
      suggest(
        name,
        known.map((each) => each.name),
        'servers',
      ),
    );
  });
  return [...new Set(found)];
}

function partsOf(
  runtime: Runtime,
  { name, pass }: UpstreamInfo,
  report: ProxyOptions['report'] = () => {},
): ProxyParts {
  const definitions = { byName: new Map(), readAt: 0, maxAgeMs: DEFINITIONS_MS };
  return { runtime, server: name, pass: new Set(pass), definitions, report };
}

/** Agents learn what fails in their calls; a store that fails concerns the people who run the server. */
function reporter(report: (line: string) => void = () => {}): (fault: Fault) => void {
  return ({ code, message }) => {
    if (code === 'STORE_FAILED') report(`[${code}] ${message}`);
  };
}

const LAST_ANSWERS_MS = 200;
const DEFINITIONS_MS = 60_000;

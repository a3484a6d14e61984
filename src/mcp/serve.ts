import { type Fault, RuntimeError } from '../base/errors.ts';
import { configOptions, identityOf, loadHttpServer, parseListen, type Runtime } from '../runtime/runtime.ts';
import { endpoint, httpHandler } from './http.ts';
import { refuse, rpcCodes } from './messages.ts';
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
  { tools, version, report, listen: text }: ServeOptions & { readonly listen: string },
): Promise<ServedMcp & { readonly url: string }> {
  const { listen, toListener } = await loadHttpServer();
  const address = parseListen(text);
  if (address === undefined)
    throw new RuntimeError(
      'USAGE',
      `the address to listen on must be HOST:PORT, not ${JSON.stringify(text)}`,
      {
        hint: 'Write it like 127.0.0.1:8788; port 0 takes any free port.',
      },
    );
  await runtime.upstreams.connect();
  const offered = offeredTools(runtime, tools ?? runtime.mcp.tools);
  const sdk = await loadSdk();
  const handler = sdk.createMcpHandler(
    serverFactory({ sdk, runtime, offered, version, report: reporter(report) }),
  );
  const closed = Promise.withResolvers<void>();
  const callers = await runtime.callers({
    host: address.host,
    url: () => `${server.url}${endpoint}`,
    bodyOf: ({ message }) => refuse(null, rpcCodes.request, message).reply,
  });
  const maxBytes = runtime.mcp.maxMessageBytes;
  const listener = toListener(httpHandler({ sdk, handler, callers, maxBytes }));
  const generation = { listener, begin: () => () => {} };
  const { limits } = runtime.mcp;
  const server = await listen({ ...address, limits, generation: () => generation });
  return {
    tools: [...offered.keys()],
    url: `${server.url}${endpoint}`,
    closed: closed.promise,
    close: async () => {
      await handler.close();
      await server.close(LAST_ANSWERS_MS);
      closed.resolve();
    },
  };
}

/** Agents learn what fails in their calls; a store that fails concerns the people who run the server. */
function reporter(report: (line: string) => void = () => {}): (fault: Fault) => void {
  return ({ code, message }) => {
    if (code === 'STORE_FAILED') report(`[${code}] ${message}`);
  };
}

const LAST_ANSWERS_MS = 200;

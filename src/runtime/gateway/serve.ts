import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isLoopbackName } from '../../base/text/url.ts';
import { type ListenAddress, parseListen } from '../../config/listen.ts';
import { type GatewayServer, type Listener, listen, toListener } from '../../gateway/http/server.ts';
import type { Runtime } from '../api.ts';
import type { Gateway, GatewayDocument } from './document.ts';

export interface ServeOptions {
  readonly open: () => Promise<Runtime>;
  readonly listen: string | undefined;
  readonly print: (line: string) => void;
  readonly mounts?: readonly Mount[];
  /** How many processes serve this gateway together. Default: 1. */
  readonly processes?: number;
  /** Called when a response is sent or the client has disconnected. */
  readonly onEnd?: () => void;
}

/** Another surface at some paths of the server. The first one that takes a path answers. */
export interface Mount {
  takes(path: string): boolean;
  /** Called for each config that is read. Undefined: the paths are not served. */
  open(
    runtime: Runtime,
    at: { readonly host: string; readonly url: () => string },
  ): Promise<{ fetch(request: Request): Promise<Response>; leave(): void } | undefined>;
}

export interface ServedGateway {
  readonly url: string;
  readonly document: GatewayDocument;
  /**
   * Uses the current config for new calls; active calls end with the old one. The address and the limits on connections
   * stay. Throws CONFIG_INVALID and other errors of the config, and then nothing changes.
   */
  reload(): Promise<GatewayDocument>;
  /** Waits up to `drain_ms` for active calls. Resolves to the number of connections that were cut. Never rejects. */
  close(): Promise<number>;
}

/** Throws LISTEN_FAILED and the errors of `open`. */
export async function serveRuntimes(options: ServeOptions): Promise<ServedGateway> {
  const { prepare, close } = openServing(options);
  const turnTo = async () => {
    const { document, commit } = await prepare();
    return { document, url: await commit() };
  };
  const first = await turnTo();
  let reloading: Promise<unknown> = Promise.resolve();
  return {
    ...first,
    reload: () => {
      const next = reloading.then(turnTo);
      reloading = next.catch(() => {});
      return next.then(({ document }) => document);
    },
    close: async () => {
      await reloading;
      return await close();
    },
  };
}

export interface PreparedGateway {
  readonly document: GatewayDocument;
  /** Uses it for new calls; the first one begins to listen. Resolves to the URL. Throws LISTEN_FAILED. */
  commit(address?: ListenAddress): Promise<string>;
  /** Closes it instead. */
  abort(): Promise<void>;
}

/** A gateway that opens a config before it uses it. */
export function openServing(options: ServeOptions) {
  const old = new Set<Promise<void>>();
  let current: OpenGeneration | undefined;
  let server: GatewayServer | undefined;
  const retire = (generation: OpenGeneration) => {
    const ended = generation.end().finally(() => old.delete(ended));
    old.add(ended);
  };
  return {
    prepare: async (): Promise<PreparedGateway> => {
      const next = await openGeneration(options, () => server?.url ?? '');
      const commit = async (address = addressOf(next.document)) => {
        server ??= await listenOrClose(next, address, () => current ?? next);
        if (current !== undefined) retire(current);
        current = next;
        return server.url;
      };
      return { document: next.document, commit, abort: next.end };
    },
    /** As `close` of a served gateway. */
    close: async (): Promise<number> => {
      current?.leave();
      const cut = (await server?.close(current?.document.drain_ms ?? 0)) ?? 0;
      await Promise.all([current?.end(), ...old]);
      return cut;
    },
  };
}

type OpenGeneration = Awaited<ReturnType<typeof openGeneration>>;

async function listenOrClose(
  first: OpenGeneration,
  { host, port }: ListenAddress,
  generation: () => OpenGeneration,
): Promise<GatewayServer> {
  const { headers_ms, request_ms, idle_ms, connections } = first.document.limits;
  const limits = { headersMs: headers_ms, requestMs: request_ms, idleMs: idle_ms, connections };
  try {
    return await listen({ host, port, limits, generation });
  } catch (thrown) {
    await first.end();
    throw thrown;
  }
}

function addressOf({ listen: text }: GatewayDocument) {
  const address = parseListen(text);
  if (address === undefined) throw new RuntimeError('INTERNAL', `${text} is not an address`);
  return address;
}

/** Refuses to open if other machines could reach the gateway without keys. */
async function openGeneration(
  { open, listen: address, print, mounts = [], processes, onEnd = () => {} }: ServeOptions,
  url: () => string,
) {
  const runtime = await open();
  try {
    const gateway = runtime.gateway({ listen: address, print, processes });
    const document = await gateway.describe();
    requireKeys(document);
    const { host } = addressOf(document);
    const mounted: Mounted[] = [];
    for (const { open, takes } of mounts) {
      const opened = await open(runtime, { host, url });
      if (opened !== undefined) mounted.push({ ...opened, takes });
    }
    return startGeneration({ runtime, gateway, document, mounted, onEnd });
  } catch (thrown) {
    await runtime.close();
    throw toRuntimeError(thrown);
  }
}

function requireKeys(document: GatewayDocument): void {
  const { host } = addressOf(document);
  if (isLoopbackName(host)) return;
  const message = `other machines can reach ${host}, and`;
  if (!document.keys_required) {
    const hint = 'Remove `keys.required: false`, or listen on 127.0.0.1.';
    throw new RuntimeError('LISTEN_FAILED', `${message} spec.gateway.keys requires no keys`, { hint });
  }
  if (document.has_keys) return;
  const hint = 'Create one with `signalbox keys create NAME`, or listen on 127.0.0.1.';
  throw new RuntimeError('LISTEN_FAILED', `${message} there is no key yet`, { hint });
}

type Mounted = NonNullable<Awaited<ReturnType<Mount['open']>>> & Pick<Mount, 'takes'>;

function startGeneration({
  runtime,
  gateway,
  document,
  mounted,
  onEnd,
}: {
  readonly onEnd: () => void;
  readonly runtime: Runtime;
  readonly gateway: Gateway;
  readonly document: GatewayDocument;
  readonly mounted: readonly Mounted[];
}) {
  let running = 0;
  let isEnding = false;
  const { promise: idle, resolve } = Promise.withResolvers<void>();
  const endIfIdle = () => {
    if (isEnding && running === 0) resolve();
  };
  const own = toListener(gateway.fetch);
  const others = mounted.map(({ fetch, takes }) => ({ takes, listener: toListener(fetch) }));
  const listener: Listener = (incoming, outgoing) => {
    const other = others.find(({ takes }) => takes(incoming.url ?? ''));
    return (other?.listener ?? own)(incoming, outgoing);
  };
  const leaveMounts = () => {
    for (const each of mounted) each.leave();
  };
  return {
    document,
    listener,
    leave: () => {
      gateway.leave();
      leaveMounts();
    },
    begin: () => {
      running += 1;
      return () => {
        running -= 1;
        onEnd();
        endIfIdle();
      };
    },
    end: async () => {
      isEnding = true;
      leaveMounts();
      endIfIdle();
      await idle;
      await runtime.close();
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { isObject, Json, parseLossless } from '../base/json/json.ts';
import { compileSchema, fitsAnything } from '../base/yaml/schema-check.ts';
import { unknownName } from '../base/yaml/wording.ts';
import type { Port } from '../calls/capability/invoke.ts';
import type { Link } from '../calls/hooks/gate.ts';
import { indexNames } from '../calls/tool-call/agent-tool.ts';
import type { ApprovalsOf } from '../calls/tool-call/approvals.ts';
import type { CallableTool } from '../calls/tool-call/callable-tool.ts';
import { toAnnotationsInfo, toApprovalInfo } from '../calls/tool-call/document.ts';
import type { McpServerConfig, RuntimeConfig } from '../config/config.ts';
import { findServer, toolOfServer } from '../config/mcp-servers.ts';
import { stateFolderOf } from '../config/store.ts';
import type { ToolInfo } from '../contract/document.ts';
import { ok, type ToolCall, type ToolOutcome } from '../contract/tool.ts';
import type { OfferedTool } from '../pipelines/state/run-context.ts';
import type { Cassette } from '../process/cassette/cassette.ts';
import type { HostEnv } from '../process/env.ts';
import { type Pool, withPool } from '../process/pool.ts';
import type { ProcessContext } from '../process/process.ts';
import type { Transport } from '../process/transport.ts';
import type { Store } from '../store/store.ts';
import { openServerAuth, type ServerAuth } from '../upstreams/auth.ts';
import type { ChannelHandlers, UpstreamChannel, UpstreamServer } from '../upstreams/channel.ts';
import { openHttpChannel } from '../upstreams/http.ts';
import { openPins, type ServerPins } from '../upstreams/pins.ts';
import { openStdioChannel } from '../upstreams/stdio.ts';
import { openUpstream, type Upstream } from '../upstreams/upstream.ts';
import type { Exchange, Upstreams } from './api.ts';
import { resolveServer } from './binding/resolve.ts';

export interface UpstreamTools {
  /** The tools of the config, and those of the servers: a name that belongs to a server always has a tool. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly byName: ReadonlyMap<string, readonly CallableTool[]>;
  /** Connects the server of the tool, if it has one. Returns why the tool cannot be called. Never rejects. */
  prepare(name: string): Promise<RuntimeError | undefined>;
  infos(): ToolInfo[];
  readonly api: Omit<Upstreams, 'call'>;
  /** Runs work in which a call of the tool goes through the exchange. */
  exchanging<Result>(exchange: ExchangedCall, work: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

interface ExchangedCall extends Exchange {
  readonly name: string;
}

interface UpstreamToolsContext extends ProcessContext {
  readonly config: RuntimeConfig;
  readonly host: HostEnv;
  readonly declared: ReadonlyMap<string, OfferedTool>;
  readonly links: readonly Link[];
  readonly approvalsOf: ApprovalsOf;
  readonly pool: Pool;
  readonly cassette: Cassette | undefined;
  readonly openStore: () => Promise<Store>;
}

interface OpenServer {
  readonly server: UpstreamServer;
  readonly auth: ServerAuth;
  readonly pins: ServerPins;
  readonly upstream: Upstream;
  definitions: ReadonlyMap<string, Json>;
  /** Reported once, until the server can be reached again. */
  isReported: boolean;
}

export function openUpstreamTools(
  servers: readonly McpServerConfig[],
  context: UpstreamToolsContext,
): UpstreamTools {
  const { config, host, declared, links, approvalsOf, pool, cassette, openStore, emit } = context;
  const { scrubber, inFlight } = context;
  const redact = (text: string) => scrubber?.text(text) ?? text;
  const exchanges = new AsyncLocalStorage<ExchangedCall>();
  const channels = new Set<UpstreamChannel>();
  const transports = new Map<string, Transport>();

  const openChannel = async (
    { server, auth }: Pick<OpenServer, 'server' | 'auth'>,
    handlers: ChannelHandlers,
  ): Promise<UpstreamChannel> => {
    const channel =
      server.config.exec === undefined
        ? await openHttpChannel(server, auth.fetch, handlers)
        : await openStdioChannel(server.binding, context, handlers);
    channels.add(channel);
    void channel.closed.then(() => channels.delete(channel));
    return channel;
  };
  const openServer = (entry: McpServerConfig): OpenServer => {
    const { name } = entry;
    const server = { config: entry, binding: resolveServer(entry, config, host).binding };
    const auth = openServerAuth(server, {
      privateHosts: config.privateHosts,
      folder: stateFolderOf(config.stateStore),
      addSecrets: (secrets) => scrubber?.add(secrets),
    });
    const pins = openPins({ server: name, policy: entry.pins, store: openStore, emit });
    const opened: OpenServer = {
      ...{ server, auth, pins },
      definitions: new Map(),
      isReported: false,
      upstream: openUpstream({
        ...{ server, pins, emit, redact },
        openChannel: (handlers) => openChannel({ server, auth }, handlers),
        onTools: (definitions) => {
          opened.definitions = definitions;
          tools.replace(
            name,
            [...definitions].map(([tool, definition]) => toTool(opened, tool, { definition })),
          );
        },
      }),
    };
    return opened;
  };
  const opened = new Map(servers.map((entry) => [entry.name, openServer(entry)]));
  const find = (name: string) => findServer(name, opened);

  const transportTo = ({ server, upstream }: OpenServer, tool: string, name: string): Transport => {
    const known = transports.get(name);
    if (known !== undefined) return known;
    const binding = { ...server.binding, name };
    const exchange: Transport['exchange'] = async (message, signal) => {
      const { body: args, timeoutMs = binding.timeoutMs, trace, onProgress } = message;
      message.requireStart?.();
      return {
        via: 'rpc',
        result: await upstream.call({ tool, args, timeoutMs, signal, trace, onProgress }),
      };
    };
    const open = () =>
      withPool(passive(exchange), binding, pool, { inFlight, emit, entry: server.config.name });
    const transport = cassette?.wrap(binding, open) ?? open();
    transports.set(name, transport);
    return transport;
  };
  /** Without a definition, the tool is absent: the call itself connects, and says why it cannot be made. */
  const toTool = (open: OpenServer, tool: string, given: Partial<Exchange>): OfferedTool => {
    const { definition, exchange } = given;
    const name = toolOfServer(open.server.config.name, tool);
    const aliases = [toolOfServer('mcp', name)];
    const { description, inputSchema, outputSchema, annotations } = readDefinition(definition);
    const transport =
      exchange === undefined
        ? transportTo(open, tool, name)
        : passive(async ({ body }) => ({ via: 'rpc', result: new Json(await exchange(body)) }));
    const port: Port<ToolCall, ToolOutcome> = {
      ...{ binding: { ...open.server.binding, name }, transport, codec, emit, scrubber },
    };
    // What a tool does at a second call is unknown, unless a person accepted that it says so.
    const isRepeatable = annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true;
    return {
      ...{ name, port, links, aliases, description, inputSchema, category: 'mcp', isContent: true },
      checkArgs: definition === undefined ? fitsAnything : compileSchema(inputSchema),
      checkResult: compileSchema(outputSchema),
      approval: approvalsOf([name, ...aliases]),
      ...(!isRepeatable && { idempotent: false }),
      ...(definition === undefined && { isAbsent: true }),
    };
  };
  const findTool = (name: string): OfferedTool | undefined => {
    const found = find(name);
    if (found === undefined) return undefined;
    const exchanged = exchanges.getStore();
    return toTool(found.server, found.tool, exchanged?.name === name ? exchanged : {});
  };
  const isExchanged = (name: string) => exchanges.getStore()?.name === name;
  const tools = new ToolMap(declared, findTool, isExchanged);

  const connect = async (open: OpenServer): Promise<RuntimeError | undefined> => {
    try {
      await open.upstream.connect();
      open.isReported = false;
      return undefined;
    } catch (thrown) {
      const error = toRuntimeError(thrown);
      const { name } = open.server.config;
      const message = `MCP server "${name}" cannot be used, and its tools are absent: [${error.code}] ${redact(error.message)}`;
      if (!open.isReported) emit({ type: 'note', name, level: 'warn', message });
      open.isReported = true;
      return error;
    }
  };
  const requireServer = (name: string): OpenServer =>
    opened.get(name) ?? unknownName('MCP server', name, opened.keys());
  return {
    tools,
    byName: new NameIndex(indexNames(declared), (name) => tools.get(name.replace(/^mcp__/, ''))),
    prepare: async (name) => {
      const found = isExchanged(name) ? undefined : find(name);
      return found && ((await connect(found.server)) ?? found.server.upstream.faultOf(found.tool));
    },
    infos: () =>
      [...opened.values()].flatMap((open) =>
        [...open.definitions].map(([tool, definition]) => {
          const name = toolOfServer(open.server.config.name, tool);
          return toInfo(name, definition, tools.get(name)?.approval);
        }),
      ),
    exchanging: (call, work) => exchanges.run(call, work),
    api: {
      list: () =>
        servers.map(({ name, exec, pins, pass }) => ({
          ...{ name, transport: exec === undefined ? 'streamable_http' : 'stdio', pins, pass },
        })),
      connect: async (name) => {
        if (name === undefined) await Promise.all([...opened.values()].map(connect));
        else await requireServer(name).upstream.connect();
      },
      channel: (name, handlers) => openChannel(requireServer(name), handlers),
      http: async (name) => {
        const { server, auth } = requireServer(name);
        const { url } = server.config;
        if (url === undefined)
          throw new RuntimeError('USAGE', `MCP server "${name}" is a program, and has no url`);
        return { url, fetch: auth.fetch };
      },
      login: async (name, options) => {
        const { server, auth } = requireServer(name);
        const { logIn } = await import('../upstreams/login.ts');
        return await logIn(server, auth, options);
      },
      logout: async (name) => requireServer(name).auth.file.remove(),
      judge: (name, listing, options) => requireServer(name).upstream.judge(listing, options),
      pins: async (name) => {
        const { pins, upstream } = requireServer(name);
        return await pins.report(await upstream.list());
      },
      accept: async (name, acceptance) => {
        const { pins, upstream } = requireServer(name);
        const report = await pins.accept(await upstream.list(), acceptance);
        await upstream.refresh();
        return report;
      },
    },
    close: async () => {
      await Promise.all([...opened.values()].map(({ upstream }) => upstream.close()));
      await Promise.all([...channels].map((channel) => channel.close()));
    },
  };
}

/** Finds tools of servers, too, which nothing has to connect to before. */
class ToolMap extends Map<string, OfferedTool> {
  readonly #find: (name: string) => OfferedTool | undefined;
  readonly #isExchanged: (name: string) => boolean;

  constructor(
    declared: ReadonlyMap<string, OfferedTool>,
    find: (name: string) => OfferedTool | undefined,
    isExchanged: (name: string) => boolean,
  ) {
    super(declared);
    this.#find = find;
    this.#isExchanged = isExchanged;
  }

  override get(name: string): OfferedTool | undefined {
    return (this.#isExchanged(name) ? undefined : super.get(name)) ?? this.#find(name);
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The tools that a server has now. */
  replace(server: string, offered: readonly OfferedTool[]): void {
    for (const name of [...this.keys()]) if (name.startsWith(toolOfServer(server, ''))) this.delete(name);
    for (const tool of offered) this.set(tool.name, tool);
  }
}

class NameIndex extends Map<string, readonly CallableTool[]> {
  readonly #find: (name: string) => CallableTool | undefined;

  constructor(
    declared: ReadonlyMap<string, readonly CallableTool[]>,
    find: (name: string) => CallableTool | undefined,
  ) {
    super(declared);
    this.#find = find;
  }

  override get(name: string): readonly CallableTool[] | undefined {
    const known = super.get(name);
    if (known !== undefined) return known;
    const found = this.#find(name);
    return found && [found];
  }
}

const codec: Port<ToolCall, ToolOutcome>['codec'] = {
  encode: ({ args }) => ({ method: 'tools/call', body: args.text, takesMeta: true }),
  decode: (reply) => {
    if (reply.via === 'rpc' && reply.result !== undefined) return { output: ok(reply.result), notes: [] };
    throw new RuntimeError('REPLY_MALFORMED', 'the reply has no result');
  },
};

function passive(exchange: Transport['exchange']): Transport {
  return { exchange, warm: () => {}, close: async () => {} };
}

type Members = Readonly<Record<string, unknown>>;

function readDefinition(definition: Json | undefined) {
  const read = definition === undefined ? {} : parseLossless(definition.text);
  const members: Members = isObject(read) ? read : {};
  const objectAt = (key: string): Members | undefined => {
    const value = members[key];
    return isObject(value) ? value : undefined;
  };
  const textAt = (key: string) => (typeof members[key] === 'string' ? members[key] : undefined);
  return {
    description: textAt('description') ?? '',
    title: textAt('title'),
    inputSchema: objectAt('inputSchema') ?? { type: 'object' },
    outputSchema: objectAt('outputSchema'),
    annotations: objectAt('annotations') ?? {},
  };
}

function toInfo(name: string, definition: Json, approval: CallableTool['approval']): ToolInfo {
  const { description, title, inputSchema, outputSchema, annotations } = readDefinition(definition);
  const hintOf = (key: string) => (typeof annotations[key] === 'boolean' ? annotations[key] : undefined);
  return {
    ...{ name, description, runtime: 'mcp', dialect: null, title: title ?? null },
    input_schema: inputSchema,
    output_schema: outputSchema ?? null,
    annotations: toAnnotationsInfo({
      readOnly: hintOf('readOnlyHint'),
      destructive: hintOf('destructiveHint'),
      idempotent: hintOf('idempotentHint'),
      openWorld: hintOf('openWorldHint'),
    }),
    approval: approval === undefined ? null : toApprovalInfo(approval),
    mcp: { result: 'content', task: null },
  };
}

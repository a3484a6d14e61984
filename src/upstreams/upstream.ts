import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { composeJson } from '../base/json/compose.ts';
import type { Json } from '../base/json/json.ts';
import { exactMembers } from '../base/json/scan.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import { shorten } from '../base/text/phrases.ts';
import { suggest } from '../base/text/suggest.ts';
import { sleep } from '../base/time/deadline.ts';
import type { Emit } from '../contract/event.ts';
import type { Redact } from '../contract/scrub.ts';
import { closedError } from '../process/oneshot.ts';
import { circuitError, createRestartTracker } from '../process/server/restarts.ts';
import type { ChannelHandlers, UpstreamChannel, UpstreamServer } from './channel.ts';
import { openClient, type UpstreamCall, type UpstreamClient } from './client.ts';
import type { JudgedTool, Listing, ServerPins } from './pins.ts';

export interface UpstreamOptions {
  readonly server: UpstreamServer;
  readonly pins: ServerPins;
  readonly emit: Emit;
  readonly redact: Redact;
  openChannel(handlers: ChannelHandlers): Promise<UpstreamChannel>;
  /** Receives the definitions of the tools that may be called, by their own names, whenever they were listed. */
  readonly onTools: (tools: ReadonlyMap<string, Json>) => void;
}

/** The own connection of the runtime to an MCP server. It opens on first use, and again after its end. */
export interface Upstream {
  /** Throws a coded error. */
  connect(): Promise<void>;
  /** Why a tool cannot be called; undefined if it can, or before the first connection. */
  faultOf(tool: string): RuntimeError | undefined;
  /** The exact members `content`, `structuredContent` and `isError` of the result. Throws coded errors. */
  call(call: UpstreamCall): Promise<Json>;
  /** Everything that the server says about itself now. Throws a coded error. */
  list(): Promise<Listing>;
  /** Judges the listing again, such as after its acceptance. */
  refresh(): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function openUpstream(options: UpstreamOptions): Upstream {
  const { server, pins, emit, redact, openChannel, onTools } = options;
  const { name, timeoutMs, restart } = server.binding;
  const { toolFilter, exec } = server.config;
  const restarts = createRestartTracker(restart);
  const closing = new AbortController();
  let current: Promise<UpstreamClient> | undefined;
  let faults: ReadonlyMap<string, RuntimeError> | undefined;
  let known: ReadonlySet<string> = new Set();
  let listing: Promise<unknown> = Promise.resolve();

  const judge = async (client: UpstreamClient) => {
    const { tools } = await pins.judge(await client.list());
    const denied = new Map<string, RuntimeError>();
    const allowed = new Map<string, Json>();
    for (const tool of tools) {
      const fault = 'denied' in tool ? tool.denied : whyLeftOut(tool, toolFilter);
      if (fault === undefined && 'definition' in tool) allowed.set(tool.name, tool.definition);
      else if (fault !== undefined && tool.name !== undefined) denied.set(tool.name, fault);
    }
    faults = denied;
    known = new Set(allowed.keys());
    onTools(allowed);
  };
  /** One listing after the other, so that a late answer does not replace a newer one. */
  const judgeInOrder = (client: UpstreamClient): Promise<void> => {
    const next = listing.then(() => judge(client));
    listing = next.catch(() => {});
    return next;
  };
  const start = async (): Promise<UpstreamClient> => {
    const delayMs = restarts.startDelayMs();
    if (delayMs > 0) await sleep(delayMs, closing.signal);
    if (closing.signal.aborted) throw closedError(name);
    let client: UpstreamClient | undefined;
    const onChanged = () => {
      if (client === undefined) return;
      judgeInOrder(client).catch((thrown: unknown) => {
        if (closing.signal.aborted) return;
        const message = `its tools have changed, and cannot be listed: ${toRuntimeError(thrown).message}`;
        emit({ type: 'note', name, level: 'warn', message });
      });
    };
    const isHttp = exec === undefined;
    client = await openClient({ name, timeoutMs, emit, redact, isHttp, openChannel, onChanged });
    try {
      await judgeInOrder(client);
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  };
  const onEnd = (ended: Promise<UpstreamClient>) => {
    if (current === ended) current = undefined;
    if (closing.signal.aborted || !restarts.recordDeath()) return;
    emit({ type: 'circuit.opened', name, deaths: restarts.deaths, pauseMs: restart.circuitPauseMs });
  };
  const acquire = (): Promise<UpstreamClient> => {
    if (current !== undefined) return current;
    // Stored before the first await: simultaneous first calls must share one connection.
    const starting = start();
    current = starting;
    starting.then(
      (client) => client.closed.then(() => onEnd(starting)),
      () => onEnd(starting),
    );
    return starting;
  };
  const use = async <Result>(work: (client: UpstreamClient) => Promise<Result>): Promise<Result> => {
    if (closing.signal.aborted) throw closedError(name);
    const admission = restarts.admit();
    if (admission === 'refused') throw circuitError(name, restarts.deaths);
    try {
      return await work(await acquire());
    } catch (thrown) {
      if (toRuntimeError(thrown).code === 'ABORTED') restarts.trialUndecided();
      throw thrown;
    } finally {
      if (admission === 'trial') restarts.trialFailed();
    }
  };

  const faultOf = (tool: string) => {
    if (faults === undefined || known.has(tool)) return undefined;
    const shown = JSON.stringify(shorten(escapeInvisible(tool)));
    const unknown = `MCP server "${name}" has no tool ${shown}`;
    return faults.get(tool) ?? new RuntimeError('NAME_UNKNOWN', unknown, suggest(tool, [...known], 'tools'));
  };
  return {
    faultOf,
    connect: () => use(async () => restarts.trialUndecided()),
    call: (call) =>
      use(async (client) => {
        const fault = faultOf(call.tool);
        if (fault !== undefined) throw fault;
        const result = await client.call(call).catch(async (thrown: unknown) => {
          // The server has forgotten the session, so it has not made the call.
          if (toRuntimeError(thrown).details['status'] !== 404) throw thrown;
          await client.close();
          return await (await acquire()).call(call);
        });
        restarts.recordSuccess();
        return judgedMembers(result);
      }),
    list: () => use((client) => client.list()),
    refresh: () => use(judgeInOrder),
    close: async () => {
      closing.abort();
      const client = await current?.catch(() => undefined);
      await client?.close();
    },
  };
}

function whyLeftOut(
  { name }: JudgedTool,
  { allowlist, blocklist = [] }: UpstreamServer['config']['toolFilter'],
): RuntimeError | undefined {
  if (name === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,128}$/.test(name))
    return new RuntimeError('NAME_UNKNOWN', 'the tool has a name that no client accepts');
  const isListed = allowlist === undefined ? !blocklist.includes(name) : allowlist.includes(name);
  if (isListed) return undefined;
  return new RuntimeError('NAME_UNKNOWN', `\`tool_filter\` leaves out the tool "${name}"`, {
    hint: 'Change `tool_filter` of the server in the config.',
  });
}

/** Hooks see these members of a result; nothing else goes further. */
function judgedMembers(result: Json): Json {
  const members = exactMembers(result);
  const kept = ['content', 'structuredContent', 'isError'].flatMap((key) => {
    const value = members.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  return composeJson(Object.fromEntries(kept));
}

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
  /** Why a tool cannot be called, as people have accepted it by now; undefined if it can. Never rejects. */
  faultOf(tool: string): Promise<RuntimeError | undefined>;
  /** The exact members `content`, `structuredContent` and `isError` of the result. Throws coded errors. */
  call(call: UpstreamCall): Promise<Json>;
  /** Everything that the server says about itself now. Throws a coded error. */
  list(): Promise<Listing>;
  /** Judges the listing again, such as after its acceptance. Throws coded errors. */
  refresh(): Promise<void>;
  /** What of a listing passes, by its pin and `tool_filter`. Throws STORE_FAILED. */
  judge: ServerPins['judge'];
  /** Never rejects. */
  close(): Promise<void>;
}

export function openUpstream(options: UpstreamOptions): Upstream {
  const { server, pins, emit, redact, openChannel, onTools } = options;
  const { name, timeoutMs, restart } = server.binding;
  const { toolFilter, exec, pass } = server.config;
  const restarts = createRestartTracker(restart);
  const closing = new AbortController();
  let current: Promise<UpstreamClient> | undefined;
  let ready: UpstreamClient | undefined;
  let faults: ReadonlyMap<string, RuntimeError> | undefined;
  let known: ReadonlySet<string> = new Set();
  let listing: Promise<unknown> = Promise.resolve();

  const judge: ServerPins['judge'] = async (listing, options) => {
    const judged = await pins.judge(listing, options);
    const tools = judged.tools.map((tool): JudgedTool => {
      const denied = 'definition' in tool ? whyLeftOut(tool, toolFilter) : undefined;
      return denied === undefined ? tool : { name: tool.name, denied };
    });
    return { ...judged, tools };
  };
  /** One listing after the other, so that their pages do not mix and a late one does not replace a newer one. */
  const inOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = listing.then(work);
    listing = next.catch(() => {});
    return next;
  };
  const relist = (client: UpstreamClient, onStart = () => {}): Promise<void> =>
    inOrder(async () => {
      onStart();
      const { tools } = await judge(await client.list());
      const allowed = tools.flatMap((tool) =>
        'definition' in tool ? [[tool.name, tool.definition] as const] : [],
      );
      const denied = tools.flatMap((tool) =>
        'denied' in tool && tool.name !== undefined ? [[tool.name, tool.denied] as const] : [],
      );
      faults = new Map(denied);
      known = new Set(allowed.map(([tool]) => tool));
      onTools(new Map(allowed));
    });
  const start = async (): Promise<UpstreamClient> => {
    const delayMs = restarts.startDelayMs();
    if (delayMs > 0) await sleep(delayMs, closing.signal);
    if (closing.signal.aborted) throw closedError(name);
    let client: UpstreamClient | undefined;
    let isQueued = false;
    const onChanged = () => {
      const changed = client;
      if (changed === undefined || isQueued) return;
      isQueued = true;
      const onStart = () => {
        isQueued = false;
      };
      relist(changed, onStart).catch((thrown: unknown) => {
        // The next call connects, and judges what the server sends then.
        void changed.close();
        if (closing.signal.aborted) return;
        const message = `its tools have changed, and cannot be listed: ${toRuntimeError(thrown).message}`;
        emit({ type: 'note', name, level: 'warn', message });
      });
    };
    const isHttp = exec === undefined;
    client = await openClient({ name, timeoutMs, emit, redact, isHttp, pass, openChannel, onChanged });
    try {
      await relist(client);
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
    if (current !== undefined && ready?.fault() === undefined) return current;
    ready = undefined;
    // Stored before the first await: simultaneous first calls must share one connection.
    const starting = start();
    current = starting;
    starting.then(
      (client) => {
        if (current === starting) ready = client;
        return client.closed.then(() => onEnd(starting));
      },
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

  const findFault = (tool: string) => {
    if (faults === undefined || known.has(tool)) return undefined;
    const shown = JSON.stringify(shorten(escapeInvisible(tool)));
    const unknown = `MCP server "${name}" has no tool ${shown}`;
    return faults.get(tool) ?? new RuntimeError('NAME_UNKNOWN', unknown, suggest(tool, [...known], 'tools'));
  };
  return {
    judge,
    faultOf: async (tool) => {
      try {
        // A person may have accepted it by now, in another process.
        if (findFault(tool)?.code === 'DEFINITION_UNACCEPTED') await use(relist);
      } catch (thrown) {
        return toRuntimeError(thrown);
      }
      return findFault(tool);
    },
    connect: () => use(async () => restarts.trialUndecided()),
    call: (call) =>
      use(async (client) => {
        // The server may have said that its tools have changed.
        await listing;
        const fault = findFault(call.tool);
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
    list: () => use((client) => inOrder(() => client.list())),
    refresh: () => use(relist),
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

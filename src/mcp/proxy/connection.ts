import { randomUUID } from 'node:crypto';
import { type Fault, RuntimeError, toFault, toRuntimeError } from '../../base/errors.ts';
import { isSameToTheDigit } from '../../base/json/equal.ts';
import { isObject, Json, parseLossless, stringifyJson } from '../../base/json/json.ts';
import { elementsOf, exactMembers } from '../../base/json/scan.ts';
import { shorten } from '../../base/text/phrases.ts';
import type { ToolDocument } from '../../contract/document.ts';
import { readTrace } from '../../contract/trace.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { callIdOf, principalOf } from '../client.ts';
import { rpcCodes } from '../messages.ts';
import { forClient, toResult } from '../result.ts';
import { toResultOptions } from '../sdk.ts';
import { type Channel, capabilities, channelOf, protocolMeta } from './channels.ts';
import { textOf, withMember } from './edit.ts';
import { type Judged, judgeIncoming, judgeOutgoing } from './judge.ts';
import { errorText, type Id, type Notification, type Request, type Response } from './message.ts';

export interface ProxyParts {
  readonly runtime: Runtime;
  /** The name of the upstream. */
  readonly server: string;
  readonly pass: ReadonlySet<string>;
  readonly definitions: Definitions;
  /** What a command of a person on this machine needs to find the config. */
  readonly options?: string | undefined;
  /** Receives lines for the log. */
  readonly report: (line: string) => void;
}

export interface ProxyCaller {
  readonly id: string;
  /** The session of the agent that started this process, if it says one. */
  readonly session?: string | undefined;
  readonly mayCall: (tool: string) => boolean;
}

/** What the client gets for its request. */
export interface Answer {
  readonly text: string;
  /** Why the upstream never got the request. `cancelled`: the client does not wait for the answer. */
  readonly reason?: 'unknown' | 'invalid' | 'cancelled' | undefined;
}

/** How a request reaches the upstream. Both reject with a RuntimeError or a Refusal. */
export interface Wire {
  /** Sends the text of the request. */
  send(text: string, call?: SentCall, signal?: AbortSignal): Promise<void>;
  /** Sends a request of the proxy itself, and resolves to its answer. */
  ask(text: string, id: Id, signal: AbortSignal): Promise<Response>;
}

/** A call of a tool. Both arguments are JSON texts. */
export interface SentCall {
  readonly args: string;
  /** As the client gave them, before the hooks. */
  readonly given: string;
  readonly definition: Json;
}

/** The definitions of tools as the upstream has sent them, by name. */
interface Definitions {
  readonly byName: Map<string, string>;
  /** Milliseconds after which they are read again. */
  readonly maxAgeMs: number;
  readAt: number;
}

/** The rules between one client and its upstream, for both transports. Methods never reject. */
export interface Connection {
  /** Judges a request of the client, sends it, and resolves to its answer. */
  begin(request: Request, wire: Wire): Promise<Answer>;
  /** Takes an answer of the upstream. Resolves to what the client gets; undefined if nothing waits for it. */
  settle(response: Response): Promise<Answer | undefined>;
  /** Ends open requests with an error: all, or one. */
  fail(fault: RuntimeError, id?: Id): void;
  /** Ends a request whose client has left. */
  abandon(id: Id): void;
  /** Resolves to what the upstream gets of a notification, or of an answer to its request. */
  fromClient(message: Notification | Response): Promise<string | undefined>;
  /** Resolves to what the client gets, or to what the upstream gets instead. */
  fromServer(
    message: Notification | Request,
  ): Promise<{ readonly toClient?: string; readonly toServer?: string }>;
}

const MOST_OPEN = 1_000;
const MOST_PAGES = 1_000;
const refusedCode = -32_010;

/** The message does not pass. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: Answer['reason'];

  constructor(message: string, code: number = refusedCode, reason?: Answer['reason']) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

interface Open {
  readonly stop: AbortController;
  readonly response: PromiseWithResolvers<Response>;
  answer: Promise<Answer>;
  isSent: boolean;
  isSettled: boolean;
}

export function openConnection(parts: ProxyParts, caller: ProxyCaller): Connection {
  const { runtime, server, pass, report, definitions } = parts;
  /** Requests of the client, and methods of the upstream's requests, by ID. */
  const open = new Map<Id, Open>();
  const asked = new Map<Id, string>();
  const nameOf = (method: string) => `${server}__${method}`;
  let pinning: Promise<void> | undefined;

  const outgoing = async (method: string, text: string, signal?: AbortSignal): Promise<string> =>
    passed(await judgeOutgoing(runtime, { name: nameOf(method) }, text, signal));
  const outgoingRequest = async (method: string, text: string, signal: AbortSignal): Promise<string> => {
    const principal = principalOf(caller.id, parseLossless(textOf(text, '_meta') ?? '{}'), caller.session);
    return passed(await judgeOutgoing(runtime, { name: nameOf(method), principal }, text, signal));
  };
  const incoming = async (
    method: string,
    text: string,
    more: { readonly args?: string | undefined; readonly isError?: boolean } = {},
  ) => {
    const { args = '{}', isError = false } = more;
    const call = { name: nameOf(method), args: parseLossless(args) };
    return passed(await judgeIncoming(runtime, call, text, { isError }));
  };

  const answerRequest = async (request: Request, entry: Open, wire: Wire): Promise<string> => {
    const { method, text } = request;
    const channel = requireChannel({ method, from: 'client', kind: 'request' }, pass);
    const params = limitCapabilities(request.params, pass);
    const exchange = async (changed: string, call?: SentCall): Promise<Response> => {
      entry.stop.signal.throwIfAborted();
      entry.isSent = true;
      await wire.send(
        changed === request.params ? text : withMember(text, 'params', changed),
        call,
        entry.stop.signal,
      );
      return await entry.response.promise;
    };
    if (channel.rule === 'protocol') requireMembers(params, channel);
    const given = channel.rule === 'call' || channel.rule === 'judged' ? await passInputs(params) : params;
    if (channel.rule === 'call')
      return await callTool({ ...request, params: given }, entry, { wire, exchange });
    if (channel.rule !== 'judged') return await passResponse(method, await exchange(given));
    requireCaller(method);
    const sent = await outgoingRequest(method, given, entry.stop.signal);
    return await passResponse(method, await exchange(sent), sent);
  };

  const requireCaller = (tool: string) => {
    if (!caller.mayCall(nameOf(tool))) throw new Refusal(`the credential may not call ${nameOf(tool)}`);
  };

  /** Answers to what an upstream of 2026 asked for, which the client gives by calling again. */
  const passInputs = async (params: string): Promise<string> => {
    const responses = textOf(params, 'inputResponses');
    if (responses === undefined) return params;
    if (!responses.startsWith('{'))
      throw new Refusal('`params.inputResponses` must be an object', rpcCodes.params, 'invalid');
    let changed = responses;
    for (const [key, { text, value }] of exactMembers(new Json(responses))) {
      const kind = !isObject(value)
        ? undefined
        : 'roots' in value
          ? 'roots/list'
          : 'role' in value
            ? 'sampling/createMessage'
            : undefined;
      const wrapped = `{"response":${text}}`;
      const judged = await outgoing(kind ?? 'elicitation/create', wrapped);
      if (judged !== wrapped) changed = withMember(changed, key, textOf(judged, 'response') ?? 'null');
    }
    return changed === responses ? params : withMember(params, 'inputResponses', changed);
  };

  const passResponse = async (method: string, response: Response, args?: string): Promise<string> => {
    const { text, result, error } = response;
    if (error !== undefined)
      return replaced(text, 'error', error, await incoming(method, error, { args, isError: true }));
    const limited = await limitResult(method, result ?? '{}');
    return replaced(text, 'result', result ?? '{}', await incoming(method, limited, { args }));
  };

  /** What the rules take from a result before hooks see it. */
  const limitResult = async (method: string, result: string): Promise<string> => {
    // A client of 2025 does not know the member, and would read definitions and instructions beside it.
    const type = textOf(result, 'resultType') ?? '"complete"';
    if (
      type === '"input_required"' &&
      requireChannel({ method, from: 'client', kind: 'request' }, pass).rule !== 'answer'
    )
      return await passAsked(result);
    if (type !== '"complete"')
      throw new Refusal(`the upstream gave a result of type ${shorten(type)}, which cannot be judged`);
    if (method === 'initialize' || method === 'server/discover') {
      const declared = limitObject(textOf(result, 'capabilities') ?? '{}', capabilities.server, pass);
      const limited = withMember(result, 'capabilities', declared);
      const instructions = parseLossless(textOf(result, 'instructions') ?? 'null');
      if (typeof instructions !== 'string') return withMember(limited, 'instructions', undefined);
      const judged = await judge({ instructions, tools: [] });
      return judged.instructions === undefined ? withMember(limited, 'instructions', undefined) : limited;
    }
    if (method !== 'tools/list') return result;
    const tools = textOf(result, 'tools');
    if (!tools?.startsWith('[')) throw new Refusal('the upstream gave no list of tools');
    return replaced(result, 'tools', tools, await pinnedTools(tools));
  };

  const judge = async (listing: Parameters<Runtime['upstreams']['judge']>[1]) => {
    // The first sight of a server pins what its own connection to the runtime shows.
    pinning ??= runtime.upstreams.connect(server).catch((error: unknown) => {
      pinning = undefined;
      report(`MCP server ${server}: ${toRuntimeError(error).message}`);
    });
    await pinning;
    return await runtime.upstreams.judge(server, listing, { isPart: true });
  };

  /** Only definitions that may be shown, which stay as they are but for annotations that nobody accepted. */
  const pinnedTools = async (tools: string): Promise<string> => {
    const given = keepDefinitions(tools);
    const { tools: judged } = await judge({ instructions: undefined, tools: given });
    const shown = judged.flatMap((tool) =>
      'definition' in tool && caller.mayCall(nameOf(tool.name)) ? [tool.definition.text] : [],
    );
    const isSame = shown.length === given.length && shown.every((text, index) => text === given[index]);
    return isSame ? tools : `[${shown.join(',')}]`;
  };

  const keepDefinitions = (tools: string, kept = definitions.byName): string[] => {
    const given = elementsOf(new Json(tools)).map(({ text }) => text);
    for (const text of given) {
      const name = text.startsWith('{') ? parseLossless(textOf(text, 'name') ?? 'null') : undefined;
      if (typeof name === 'string') kept.set(name, text);
    }
    return given;
  };

  /** The definition by which this connection may call the tool. Asks the upstream if no client has. */
  const definitionOf = async (
    tool: string,
    params: string,
    wire: Wire,
    signal: AbortSignal,
  ): Promise<Json> => {
    const isOld = performance.now() - definitions.readAt > definitions.maxAgeMs;
    if (isOld || !definitions.byName.has(tool)) await readDefinitions(params, wire, signal);
    const text = definitions.byName.get(tool);
    if (text === undefined) throw new Refusal(`Unknown tool: ${shorten(tool)}`, rpcCodes.params);
    const [judged] = (await judge({ instructions: undefined, tools: [text] })).tools;
    if (judged !== undefined && 'definition' in judged) return judged.definition;
    throw judged?.denied ?? new Refusal(`Unknown tool: ${shorten(tool)}`, rpcCodes.params);
  };

  const readDefinitions = async (params: string, wire: Wire, signal: AbortSignal): Promise<void> => {
    const meta = metaOfProxy(params);
    const found = new Map<string, string>();
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const id = `signalbox-${randomUUID()}`;
      const members = [meta && `"_meta":${meta}`, cursor && `"cursor":${cursor}`].filter(Boolean);
      const { result, error } = await wire.ask(
        `{"jsonrpc":"2.0","id":"${id}","method":"tools/list","params":{${members.join(',')}}}`,
        id,
        signal,
      );
      const tools = textOf(result ?? '{}', 'tools');
      if (error !== undefined || !tools?.startsWith('['))
        throw new RuntimeError('REPLY_MALFORMED', `MCP server "${server}" gave no list of its tools`);
      keepDefinitions(tools, found);
      cursor = textOf(result ?? '{}', 'nextCursor');
      if (cursor === undefined || cursor === 'null') break;
    }
    definitions.readAt = performance.now();
    definitions.byName.clear();
    for (const [name, text] of found) definitions.byName.set(name, text);
  };

  /** What an upstream of 2026 asks for, as if it had asked by requests. */
  const passAsked = async (result: string): Promise<string> => {
    const requests = textOf(result, 'inputRequests');
    if (requests === undefined) return result;
    if (!requests.startsWith('{')) throw new Refusal('the upstream asks for input in a wrong form');
    let changed = requests;
    for (const [key, { text }] of exactMembers(new Json(requests))) {
      const method = parseLossless(textOf(text, 'method') ?? 'null');
      if (typeof method !== 'string') throw new Refusal('the upstream asks for input in a wrong form');
      requireChannel({ method, from: 'server', kind: 'request' }, pass);
      const params = textOf(text, 'params') ?? '{}';
      const judged = await incoming(method, params);
      if (judged !== params) changed = withMember(changed, key, withMember(text, 'params', judged));
    }
    return changed === requests ? result : withMember(result, 'inputRequests', changed);
  };

  interface CallWire {
    readonly wire: Wire;
    readonly exchange: (params: string, call?: SentCall) => Promise<Response>;
  }

  const callTool = async (
    { id, params }: Request,
    { stop }: Open,
    { wire, exchange }: CallWire,
  ): Promise<string> => {
    const unknown = [...exactMembers(new Json(params)).keys()].find((key) => !callMembers.has(key));
    if (unknown !== undefined)
      throw new Refusal(`\`params.${unknown}\` is not passed`, rpcCodes.params, 'invalid');
    const tool = String(parseLossless(textOf(params, 'name') ?? '""'));
    requireCaller(tool);
    const sentMeta = textOf(params, '_meta');
    const meta = parseLossless(sentMeta ?? '{}');
    const hasOther = isObject(meta) && Object.keys(meta).some((key) => !protocolMeta.has(key));
    const judged = hasOther ? await outgoing('tools/call', `{"_meta":${sentMeta}}`, stop.signal) : '{}';
    const passedMeta = hasOther ? textOf(judged, '_meta') : sentMeta;
    const allowed = passedMeta === sentMeta ? params : withMember(params, '_meta', passedMeta);
    const args = textOf(params, 'arguments') ?? '{}';
    let response: Response | undefined;
    let refusal: Refusal | undefined;
    let shown = '{}';
    const principal = principalOf(caller.id, meta, caller.session);
    // The rounds of a call that asks for input have the same ID, and are different calls.
    const callId =
      (textOf(params, 'inputResponses') ?? textOf(params, 'requestState')) ? undefined : callIdOf(meta);
    const { traceparent, tracestate } = isObject(meta) ? meta : {};
    const isModern = isObject(meta) && 'io.modelcontextprotocol/protocolVersion' in meta;
    const answer = (document: ToolDocument) => answerCall({ id, tool, response, shown, isModern }, document);
    let definition: Json;
    try {
      definition = await definitionOf(tool, params, wire, stop.signal);
    } catch (thrown) {
      if (thrown instanceof Refusal) throw thrown;
      return answer({ status: 'failed', error: toFault(thrown) });
    }
    const document = await runtime.upstreams.call(server, tool, args, {
      definition,
      identity: callId === undefined ? { principal } : { principal, id: callId, joinsWaiting: true },
      signal: stop.signal,
      trace: readTrace(traceparent, tracestate),
      exchange: async (sent) => {
        try {
          const changed = sent === args ? allowed : withMember(allowed, 'arguments', sent);
          const got = await exchange(changed, { args: sent, given: args, definition });
          response = got;
          shown = got.error === undefined ? (got.result ?? '{}') : errorResultOf(got.error);
          if (got.error === undefined) shown = await limitResult('tools/call', shown);
          return shown;
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown;
          refusal = thrown;
          throw new RuntimeError('RESULT_INVALID', thrown.message);
        }
      },
    });
    stop.signal.throwIfAborted();
    if (refusal !== undefined) throw refusal;
    return answer(document);
  };

  interface Called {
    readonly id: Id;
    readonly tool: string;
    readonly response: Response | undefined;
    /** The result as the hooks saw it. */
    readonly shown: string;
    readonly isModern: boolean;
  }

  /** The upstream's own bytes if no hook replaced the result. */
  const answerCall = ({ id, tool, response, shown, isModern }: Called, document: ToolDocument): string => {
    const given = document.status === 'ok' || document.status === 'failed' ? document : undefined;
    const after = given?.result === undefined ? undefined : stringifyJson(given.result);
    const context = given?.context ?? [];
    const isSame =
      after !== undefined &&
      (after === shown || isSameToTheDigit(parseLossless(after), parseLossless(shown)));
    if (response !== undefined && isSame && context.length === 0) {
      return response.error === undefined
        ? replaced(response.text, 'result', response.result ?? '', shown)
        : response.text;
    }
    const info = { name: nameOf(tool), mcp: { result: 'content', task: null }, output_schema: null } as const;
    const shownFault = given?.status === 'failed' ? { ...given, error: forClient(given.error) } : document;
    const result =
      after !== undefined && context.length === 0
        ? after
        : stringifyJson(toResult(shownFault, info, toResultOptions(parts)));
    const typed =
      isModern && textOf(result, 'resultType') === undefined
        ? withMember(result, 'resultType', '"complete"')
        : result;
    if (response?.error === undefined && response !== undefined)
      return withMember(response.text, 'result', typed);
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${typed}}`;
  };

  const fromServer: Connection['fromServer'] = async (message) => {
    const { kind, method, params, text } = message;
    try {
      const channel = requireChannel({ method, from: 'server', kind }, pass);
      if (method === 'notifications/tools/list_changed') definitions.byName.clear();
      if (method === 'notifications/cancelled' && !asked.delete(idIn(params, 'requestId'))) return {};
      if (channel.rule === 'protocol') requireMembers(params, channel);
      const judged = channel.rule === 'protocol' ? params : await incoming(method, params);
      if (message.kind === 'request') {
        if (asked.has(message.id) || asked.size >= MOST_OPEN)
          throw new Refusal('its `id` is that of an open request, or too many are open', rpcCodes.request);
        asked.set(message.id, method);
      }
      return { toClient: judged === params ? text : withMember(text, 'params', judged) };
    } catch (thrown) {
      const { code, message: words } = toRefusal(thrown);
      report(`MCP server ${server}: ${method} was not passed: ${words}`);
      return message.kind === 'request' ? { toServer: errorText(message.id, code, words) } : {};
    }
  };

  const fromClient: Connection['fromClient'] = async (message) => {
    if (message.kind === 'response') return await answerServer(message);
    const { method, params, text } = message;
    try {
      const channel = requireChannel({ method, from: 'client', kind: 'notification' }, pass);
      if (method === 'notifications/cancelled') {
        const id = idIn(params, 'requestId');
        const isSent = open.get(id)?.isSent;
        cancel(id);
        if (isSent !== true) return undefined;
      }
      if (channel.rule === 'protocol') requireMembers(params, channel);
      const judged = channel.rule === 'protocol' ? params : await outgoing(method, params);
      return judged === params ? text : withMember(text, 'params', judged);
    } catch (thrown) {
      report(`MCP server ${server}: ${method} of the client was not passed: ${toRefusal(thrown).message}`);
      // The request is cancelled here, so the upstream must hear it.
      if (method !== 'notifications/cancelled') return undefined;
      return withMember(text, 'params', withMember(params, 'reason', undefined));
    }
  };

  const answerServer = async ({ id, text, result, error }: Response): Promise<string | undefined> => {
    const method = asked.get(id);
    if (!asked.delete(id) || method === undefined) return undefined;
    try {
      if (method === 'ping' && result !== undefined) {
        requireMembers(result, {}, 'result');
        return text;
      }
      if (error !== undefined) return replaced(text, 'error', error, await outgoing(method, error));
      return replaced(text, 'result', result ?? '{}', await outgoing(method, result ?? '{}'));
    } catch (thrown) {
      const { code, message } = toRefusal(thrown);
      return errorText(id, code, message);
    }
  };

  const cancel = (id: Id) => {
    const entry = open.get(id);
    open.delete(id);
    const cause = new RuntimeError('ABORTED', 'the client cancelled the request');
    entry?.stop.abort(cause);
    entry?.response.reject(cause);
  };

  return {
    begin: async (request, wire) => {
      const { id } = request;
      if (open.has(id)) return invalid(id, 'another request with this `id` is open');
      if (open.size >= MOST_OPEN) return invalid(id, `${MOST_OPEN} requests are open; wait for an answer`);
      const response = Promise.withResolvers<Response>();
      response.promise.catch(() => {});
      const stop = new AbortController();
      const entry: Open = {
        stop,
        response,
        isSent: false,
        isSettled: false,
        answer: Promise.resolve({ text: '' }),
      };
      open.set(id, entry);
      const work = async (): Promise<Answer> => {
        try {
          return { text: await answerRequest(request, entry, wire) };
        } catch (thrown) {
          const { code, message, reason } = toRefusal(thrown);
          return { text: errorText(id, code, message), reason: stop.signal.aborted ? 'cancelled' : reason };
        } finally {
          if (open.get(id) === entry) open.delete(id);
        }
      };
      entry.answer = work();
      return await entry.answer;
    },
    settle: async (response) => {
      const entry = open.get(response.id);
      if (entry === undefined || !entry.isSent || entry.isSettled) {
        report(`MCP server ${server}: dropped an answer to a request that is not open`);
        return undefined;
      }
      entry.isSettled = true;
      entry.response.resolve(response);
      return await entry.answer;
    },
    fail: (fault, id) => {
      for (const [key, entry] of open) if (id === undefined || id === key) entry.response.reject(fault);
    },
    abandon: cancel,
    fromClient,
    fromServer,
  };
}

const callMembers: ReadonlySet<string> = new Set([
  'name',
  'arguments',
  '_meta',
  'inputResponses',
  'requestState',
]);

function passed(judged: Judged): string {
  if ('text' in judged) return judged.text;
  throw new Refusal(judged.denied);
}

function replaced(message: string, key: string, before: string, after: string): string {
  return after === before ? message : withMember(message, key, after);
}

function requireChannel(
  message: Pick<Channel, 'method' | 'from' | 'kind'>,
  pass: ReadonlySet<string>,
): Channel {
  const channel = channelOf(message, pass);
  if (channel !== undefined) return channel;
  throw new Refusal(`Method not found: ${shorten(message.method)} is not passed`, rpcCodes.method, 'unknown');
}

function requireMembers(params: string, { members = [] }: Pick<Channel, 'members'>, of = 'params'): void {
  for (const [key, { value }] of exactMembers(new Json(params))) {
    const isMeta =
      key === '_meta' && isObject(value) && Object.keys(value).every((name) => protocolMeta.has(name));
    if (!isMeta && !members.includes(key))
      throw new Refusal(`\`${of}.${shorten(key)}\` is not passed`, rpcCodes.params, 'invalid');
  }
}

const declaredKey = 'io.modelcontextprotocol/clientCapabilities';

/** Removes capabilities of the client that the proxy does not know or pass, in both eras. */
function limitCapabilities(params: string, pass: ReadonlySet<string>): string {
  const limit = (holder: string, key: string): string => {
    const declared = textOf(holder, key);
    if (!declared?.startsWith('{')) return holder;
    return replaced(holder, key, declared, limitObject(declared, capabilities.client, pass));
  };
  const limited = limit(params, 'capabilities');
  const meta = textOf(limited, '_meta');
  return meta?.startsWith('{') ? replaced(limited, '_meta', meta, limit(meta, declaredKey)) : limited;
}

function limitObject(
  declared: string,
  known: Readonly<Record<string, string | undefined>>,
  pass: ReadonlySet<string>,
): string {
  if (!declared.startsWith('{')) return '{}';
  const isPassed = (key: string) =>
    Object.hasOwn(known, key) && (known[key] === undefined || pass.has(known[key]));
  return [...exactMembers(new Json(declared)).keys()]
    .filter((key) => !isPassed(key))
    .reduce((left, key) => withMember(left, key, undefined), declared);
}

/** What the protocol of 2026 needs in each request, as the client sent it. */
function metaOfProxy(params: string): string | undefined {
  const meta = textOf(params, '_meta');
  if (meta === undefined) return undefined;
  return [...exactMembers(new Json(meta)).keys()]
    .filter((key) => !envelope.has(key))
    .reduce((left, key) => withMember(left, key, undefined), meta);
}

const envelope: ReadonlySet<string> = new Set(
  ['protocolVersion', 'clientInfo', 'clientCapabilities'].map((name) => `io.modelcontextprotocol/${name}`),
);

/** A JSON-RPC error in the form of a failed tool, so that hooks of results see its message and data. */
function errorResultOf(error: string): string {
  const message = parseLossless(textOf(error, 'message') ?? '""');
  return `{"content":[{"type":"text","text":${JSON.stringify(String(message))}}],"structuredContent":${error},"isError":true}`;
}

function idIn(params: string, key: string): Id {
  return parseLossless(textOf(params, key) ?? 'null') as Id;
}

function invalid(id: Id, message: string): Answer {
  return { text: errorText(id, rpcCodes.request, message), reason: 'invalid' };
}

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  const { code, message }: Fault = forClient(toFault(thrown));
  return new Refusal(`[${code}] ${message}`);
}

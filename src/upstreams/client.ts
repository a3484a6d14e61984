import type { Client, Transport } from '@modelcontextprotocol/client';
import { type ErrorCode, RuntimeError, toRuntimeError } from '../base/errors.ts';
import { systemCode } from '../base/files/file-error.ts';
import { composeJson } from '../base/json/compose.ts';
import { isObject, Json } from '../base/json/json.ts';
import { tryParse } from '../base/json/parse.ts';
import { parseJson } from '../base/json/parse-json.ts';
import { elementsOf, memberOf, scanMembers } from '../base/json/scan.ts';
import { shorten } from '../base/text/phrases.ts';
import type { Emit } from '../contract/event.ts';
import { type OnProgress, readProgress } from '../contract/progress.ts';
import type { Redact } from '../contract/scrub.ts';
import type { TraceContext } from '../contract/trace.ts';
import { closedError } from '../process/oneshot.ts';
import type { ChannelHandlers, UpstreamChannel } from './channel.ts';
import type { Listing } from './pins.ts';
import { type ClientSdk, loadClientSdk } from './sdk.ts';

export interface ClientOptions {
  readonly name: string;
  readonly timeoutMs: number;
  readonly emit: Emit;
  readonly redact: Redact;
  /** Whether messages are requests of HTTP, which end when their answer has come. */
  readonly isHttp: boolean;
  /** What of these the proxy passes, since some servers offer tools only to clients that declare it. */
  readonly pass: readonly string[];
  openChannel(handlers: ChannelHandlers): Promise<UpstreamChannel>;
  /** The server says that its tools have changed. */
  readonly onChanged: () => void;
}

export interface UpstreamCall {
  readonly tool: string;
  /** JSON text of an object, which reaches the server byte for byte. */
  readonly args: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly trace?: TraceContext | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** An open connection in the era that the server speaks. All methods throw coded errors. */
export interface UpstreamClient {
  list(): Promise<Listing>;
  /** The exact text of the result. */
  call(call: UpstreamCall): Promise<Json>;
  /** Undefined while the connection is open. */
  fault(): RuntimeError | undefined;
  close(): Promise<void>;
  /** Resolves after the end of the connection. */
  readonly closed: Promise<void>;
}

/** Throws PROCESS_START, PROCESS_TIMEOUT, SERVER_EXIT, REPLY_MALFORMED, OUTPUT_LIMIT. */
export async function openClient(options: ClientOptions): Promise<UpstreamClient> {
  const sdk = await loadClientSdk();
  const opened = openExactTransport(options);
  try {
    return await connect(sdk, options, opened);
  } catch (thrown) {
    await opened.close();
    // Some servers of 2025 exit at a request that they do not know, and so at the first one of 2026.
    if (!opened.isProbed()) throw thrown;
    const again = openExactTransport(options);
    try {
      return await connect(sdk, { ...options, isLegacy: true }, again);
    } catch (error) {
      await again.close();
      throw error;
    }
  }
}

async function connect(
  sdk: ClientSdk,
  {
    name,
    timeoutMs,
    emit,
    redact,
    onChanged,
    pass,
    isLegacy = false,
  }: ClientOptions & { readonly isLegacy?: boolean },
  exact: ExactTransport,
): Promise<UpstreamClient> {
  const client = new sdk.Client(
    { name: 'signalbox', version: '1' },
    {
      versionNegotiation: {
        mode: isLegacy ? 'legacy' : 'auto',
        probe: { timeoutMs: Math.min(PROBE_MS, timeoutMs) },
      },
      // Nobody is there who could answer questions of the server, so each of them gets an error.
      capabilities: {
        ...(pass.includes('elicitation') && { elicitation: { form: {}, url: {} } }),
        ...(pass.includes('sampling') && { sampling: {} }),
        ...(pass.includes('roots') && { roots: {} }),
      },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
      // Results are checked against the schema that was pinned.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  client.onerror = ({ message }) =>
    emit({ type: 'dropped', name, what: 'unknown reply', detail: shorten(message) });
  const coded = async <Result>(
    work: () => Promise<Result>,
    { signal, onError = 'REPLY_MALFORMED' }: { signal?: AbortSignal | undefined; onError?: ErrorCode } = {},
  ): Promise<Result> => {
    const sentAt = performance.now();
    try {
      return await work();
    } catch (thrown) {
      if (signal?.aborted === true) throw new RuntimeError('ABORTED', `the call of "${name}" was aborted`);
      const error = toCodedError(sdk, thrown, { name, timeoutMs, onError, fault: exact.fault() });
      if (error.code === 'PROCESS_TIMEOUT' && exact.heardAt() < sentAt) exact.giveUp();
      throw error;
    }
  };
  await coded(() => client.connect(exact.transport, { timeout: timeoutMs }));
  return {
    list: () => coded(() => list(client, exact, timeoutMs)),
    call: ({ tool, args, timeoutMs: timeout, signal, trace, onProgress }) =>
      coded(
        async () => {
          const result = await client.callTool(
            { name: tool, arguments: JSON.parse(args), _meta: { ...trace, [exactKey]: args } },
            {
              timeout,
              ...(signal && { signal }),
              ...(onProgress && {
                onprogress: (given) => {
                  const { progress } = readProgress({ ...given, id: 0 }, redact) ?? {};
                  if (progress !== undefined) onProgress(progress);
                },
              }),
            },
          );
          const text = result._meta?.[exactKey];
          return typeof text === 'string' ? new Json(text) : Json.from(result);
        },
        { signal, onError: 'TOOL_ERROR' },
      ),
    fault: () => exact.fault() ?? (exact.isEnded() ? closedError(name) : undefined),
    closed: exact.closed,
    close: exact.close,
  };
}

/** A server that answers neither question of 2026 nor says that it does not know it is one of 2025. */
const PROBE_MS = 5_000;

async function list(client: Client, exact: ExactTransport, timeout: number): Promise<Listing> {
  exact.pages.length = 0;
  const instructions = client.getInstructions();
  if (client.getServerCapabilities()?.tools === undefined) return { instructions, tools: [] };
  const { tools } = await client.listTools(undefined, { timeout, cacheMode: 'refresh' });
  // Over HTTP, the SDK leaves out tools with an unusable `x-mcp-header`, as the specification demands.
  const usable = new Set(tools.map(({ name }) => name));
  const isUsable = (text: string) => {
    const definition = tryParse(text);
    const name = isObject(definition) ? definition['name'] : undefined;
    return typeof name !== 'string' || usable.has(name);
  };
  return { instructions, tools: exact.pages.splice(0).filter(isUsable) };
}

interface ExactTransport {
  readonly transport: Transport;
  /** The definitions of all pages that came since it was emptied, each as its exact text. */
  readonly pages: string[];
  /** Why the server ended the connection; undefined if it did not. */
  fault(): RuntimeError | undefined;
  isEnded(): boolean;
  /** When the server sent its last message, by `performance.now()`. */
  heardAt(): number;
  /** Ends a program that answers nothing, since all other requests would wait for it. */
  giveUp(): void;
  /** Whether the server ended the connection before the handshake. */
  isProbed(): boolean;
  close(): Promise<void>;
  readonly closed: Promise<void>;
}

/** The member of `_meta` that carries the text of arguments or of a result through the SDK. */
const exactKey = 'signalbox/text';

function openExactTransport({ name, isHttp, emit, redact, openChannel }: ClientOptions): ExactTransport {
  const pages: string[] = [];
  const requests = new Map<unknown, string>();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let channel: UpstreamChannel | undefined;
  let fault: RuntimeError | undefined;
  let isEnded = false;
  let isProbed = false;
  let heardAt = 0;
  const transport: Transport & { stderr?: null; pid?: null } = {
    // By these two members the SDK knows a pipe, on which silence means a server of 2025.
    ...(isHttp ? { hasPerRequestStream: true } : { stderr: null, pid: null }),
    start: async () => {
      channel = await openChannel({
        onText: (text) => {
          heardAt = performance.now();
          const message = toMessage(text, { requests, pages });
          if (message !== undefined) transport.onmessage?.(message);
          else emit({ type: 'dropped', name, what: 'unknown reply', detail: shorten(redact(text)) });
        },
        onClose: (given) => {
          fault ??= given;
          isEnded = true;
          resolve();
          transport.onclose?.();
        },
      });
    },
    send: async (message, options) => {
      if (channel === undefined) throw closedError(name);
      if ('method' in message) {
        isProbed = message.method === 'server/discover';
        if ('id' in message) requests.set(message.id, message.method);
      }
      await channel.send(toText(message), options);
    },
    setProtocolVersion: (version) => channel?.setProtocolVersion?.(version),
    close: async () => await channel?.close(),
  };
  return {
    transport,
    pages,
    closed,
    fault: () => fault,
    isEnded: () => isEnded,
    heardAt: () => heardAt,
    giveUp: () => {
      if (isHttp || channel === undefined) return;
      fault ??= new RuntimeError('SERVER_EXIT', `MCP server "${name}" answered nothing, and is restarted`);
      void channel.close();
    },
    isProbed: () => isProbed && fault?.code === 'SERVER_EXIT',
    close: async () => await channel?.close(),
  };
}

/** Takes the exact arguments from `_meta`, and writes them as they were given. */
function toText(message: Parameters<Transport['send']>[0]): string {
  const { params } = message as { params?: { readonly _meta?: Readonly<Record<string, unknown>> } };
  const { [exactKey]: text, ...meta } = params?._meta ?? {};
  if (typeof text !== 'string') return JSON.stringify(message);
  const rest = Object.keys(meta).length === 0 ? {} : { _meta: meta };
  return composeJson({
    ...message,
    params: { ...params, _meta: undefined, arguments: new Json(text), ...rest },
  }).text;
}

interface ExactState {
  /** The requests without an answer, by their ids. */
  readonly requests: Map<unknown, string>;
  readonly pages: string[];
}

/**
 * Puts the exact text of a result into its `_meta`, and keeps the definitions of a page. Undefined for a message that
 * the client has no use for: the SDK would read each one thoroughly, and a server may send millions.
 */
function toMessage(
  text: string,
  { requests, pages }: ExactState,
): Parameters<NonNullable<Transport['onmessage']>>[0] | undefined {
  const message = parseJson(text);
  if (!isObject(message)) return undefined;
  const { id, method, result } = message;
  if (typeof method === 'string') {
    const isUsed =
      id !== undefined || /^notifications\/(tools|progress|subscriptions|cancelled)\b/.test(method);
    return isUsed ? (message as never) : undefined;
  }
  const asked = requests.get(id);
  if (!requests.delete(id)) return undefined;
  if (!isObject(result)) return message as never;
  const exact = memberOf(text, scanMembers(text), 'result') ?? new Json('{}');
  if (asked === 'tools/list' && Array.isArray(result['tools'])) {
    const tools = memberOf(exact.text, scanMembers(exact.text), 'tools');
    pages.push(...(tools === undefined ? [] : elementsOf(tools).map((tool) => tool.text)));
  }
  const meta = isObject(result['_meta']) ? result['_meta'] : {};
  return { ...message, result: { ...result, _meta: { ...meta, [exactKey]: exact.text } } } as never;
}

interface Failed {
  readonly name: string;
  readonly timeoutMs: number;
  readonly fault: RuntimeError | undefined;
  /** The code of an error that the server answers. */
  readonly onError: ErrorCode;
}

function toCodedError(sdk: ClientSdk, thrown: unknown, failed: Failed): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  const { name, timeoutMs, fault, onError } = failed;
  const server = `MCP server "${name}"`;
  if (sdk.ProtocolError.isInstance(thrown)) {
    const { code, message } = thrown;
    const what = `${server} answered with error ${code}: ${shorten(message, LONGEST_MESSAGE)}`;
    return new RuntimeError(onError, what, { details: { rpc_code: code }, cause: thrown });
  }
  if (sdk.SdkHttpError.isInstance(thrown)) {
    const { status } = thrown;
    const hint =
      status === 401 || status === 403
        ? 'Check `headers` or `auth` of the server in the config.'
        : 'Check that the url is that of an MCP server.';
    return new RuntimeError('REPLY_MALFORMED', `${server} answered with HTTP status ${status}`, {
      hint,
      details: { http: true, status },
      cause: thrown,
    });
  }
  if (sdk.SdkError.isInstance(thrown)) {
    const inner: unknown = thrown.cause ?? Reflect.get(thrown.data ?? {}, 'cause');
    if (inner instanceof RuntimeError) return inner;
    if (fault !== undefined) return fault;
    if (thrown.code === sdk.SdkErrorCode.RequestTimeout)
      return new RuntimeError('PROCESS_TIMEOUT', `${server} did not answer within ${timeoutMs} ms`, {
        details: { timeout_ms: timeoutMs },
        cause: thrown,
      });
    if (inner instanceof Error && inner !== thrown) return toCodedError(sdk, inner, failed);
    const what = `${server} does not speak MCP as it should: ${shorten(thrown.message, LONGEST_MESSAGE)}`;
    return new RuntimeError('REPLY_MALFORMED', what, { cause: thrown });
  }
  if (fault !== undefined) return fault;
  if (systemCode(thrown) !== undefined) {
    const code = systemCode(thrown);
    return new RuntimeError(
      'PROCESS_START',
      `${server} could not be reached: ${typeof code === 'string' ? code : 'the connection failed'}`,
      {
        hint: 'Check that the server is running and that the url is correct.',
        details: { http: true },
        cause: thrown,
      },
    );
  }
  return toRuntimeError(thrown, 'REPLY_MALFORMED');
}

const LONGEST_MESSAGE = 1_000;

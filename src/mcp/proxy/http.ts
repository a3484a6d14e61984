import { isObject } from '../../base/json/json.ts';
import { parseJson } from '../../base/json/parse-json.ts';
import type { Callers, Principal } from '../../runtime/runtime.ts';
import { readBody, refusal } from '../http.ts';
import { refuse, rpcCodes } from '../messages.ts';
import {
  type Answer,
  type Connection,
  openConnection,
  type ProxyParts,
  Refusal,
  type SentCall,
  type Wire,
} from './connection.ts';
import { findMismatch, headersToClient, headersToServer } from './headers.ts';
import {
  type Id,
  malformed,
  type Request as RpcRequest,
  type Response as RpcResponse,
  readProxied,
  stopped,
  withId,
} from './message.ts';
import { readEvents, type ServerEvent, writeEvent } from './sse.ts';

export interface ProxyHttpParts {
  /** By the path of their URL. */
  readonly proxied: ReadonlyMap<string, ProxyParts>;
  readonly callers: Callers;
  readonly maxBytes: number;
  /** Ends all requests and streams. */
  readonly closing: AbortSignal;
}

type Handler = (request: Request, caller: Principal) => Promise<Response>;

/** Passes requests to the upstreams, judged, and their answers back. */
export function proxyHandler({
  proxied,
  callers,
  maxBytes,
  closing,
}: ProxyHttpParts): (request: Request) => Promise<Response> {
  const handlers = new Map(
    [...proxied].map(([path, parts]) => [path, openProxy(parts, { maxBytes, closing })]),
  );
  return async (request) => {
    const caller = await callers.admit(request, ['tools:call']);
    if (caller instanceof Response) return caller;
    const handler = handlers.get(new URL(request.url).pathname);
    if (handler !== undefined) return await handler(request, caller);
    return refusal(404, rpcCodes.request, `there is only ${[...proxied.keys()].join(', ')} here`);
  };
}

interface Session {
  readonly owner: string;
  readonly connection: Connection;
}

const MOST_SESSIONS = 10_000;
const streamType = 'text/event-stream';
const sessionHeader = 'mcp-session-id';
const codes = { session: -32_001, mismatch: -32_020 } as const;

function openProxy(
  parts: ProxyParts,
  { maxBytes, closing }: Pick<ProxyHttpParts, 'maxBytes' | 'closing'>,
): Handler {
  const { runtime, server, report } = parts;
  /** Sessions of the upstream, which belong to the caller that began them. */
  const sessions = new Map<string, Session>();

  closing.addEventListener('abort', () => {
    for (const { connection } of sessions.values()) connection.fail(stopped());
  });
  const goneOf = ({ signal }: Request) => AbortSignal.any([signal, closing]);

  const fetchUpstream = async (init: RequestInit & { readonly headers: Headers }): Promise<Response> => {
    const { url, fetch } = await runtime.upstreams.http(server);
    return await fetch(url, { ...init, redirect: 'manual' });
  };

  /** The answer to a request that is no stream. */
  const readAnswer = async (response: Response, id: Id): Promise<RpcResponse> => {
    const body = isJson(response) ? await readBody(response, maxBytes) : undefined;
    if (body === undefined) {
      await drain(response);
      throw malformed(server, `HTTP status ${response.status} without a message that can be read`);
    }
    const message = readProxied(Buffer.from(withId(Buffer.from(body).toString(), id)));
    if (message.kind === 'response' && message.id === id) return message;
    throw malformed(
      server,
      message.kind === 'refused' ? message.reply.error.message : 'it answers something else',
    );
  };

  const keepSession = (session: string | null, kept: Session) => {
    if (session === null || !/^[\x21-\x7e]{1,1000}$/.test(session)) return;
    sessions.set(session, kept);
    const [oldest] = sessions.keys();
    if (sessions.size > MOST_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  };

  /** The text of an event for the client. */
  const passEvent = async (
    event: ServerEvent,
    connection: Connection,
    given: Headers,
  ): Promise<string | undefined> => {
    if (event.data === undefined || event.data === '') return event.data;
    const message = readProxied(Buffer.from(event.data));
    if (message.kind === 'refused') {
      const { id, error } = message.reply;
      report(`MCP server ${server}: dropped a message: ${error.message}`);
      if (id !== null) connection.fail(malformed(server, error.message), id);
      return undefined;
    }
    if (message.kind === 'response') return shownText(await connection.settle(message));
    const { toClient, toServer } = await connection.fromServer(message);
    if (toServer !== undefined) {
      const headers = headersToServer(given, undefined);
      headers.set('content-type', 'application/json');
      void fetchUpstream({ method: 'POST', headers, body: toServer }).then(drain, () => {});
    }
    return toClient;
  };

  const takeRequest = async (
    request: Request,
    message: RpcRequest,
    { owner, connection }: Session,
  ): Promise<Response> => {
    const { id, method, params } = message;
    const opened = Promise.withResolvers<Response>();
    const leaving = new AbortController();
    const isModern = isModernRequest(params);
    const gone = goneOf(request);
    const hasSession = request.headers.has(sessionHeader);
    let head: Response | undefined;
    /** A client of 2025 may come back for the answer. */
    let isResumable = false;
    const leave = () => {
      leaving.abort();
      if (!isResumable) connection.abandon(id);
    };
    gone.addEventListener('abort', leave, { once: true });
    if (gone.aborted) leave();
    const post = async (text: string, call?: SentCall): Promise<Response> => {
      const sent = readProxied(Buffer.from(text));
      const headers = headersToServer(request.headers, sent.kind === 'refused' ? message : sent, call);
      return await fetchUpstream({ method: 'POST', headers, body: text, signal: leaving.signal });
    };
    const send: Wire['send'] = async (text, call) => {
      const mismatch = findMismatch(request.headers, message, call);
      if (mismatch !== undefined) throw new Refusal(mismatched(mismatch), codes.mismatch, 'invalid');
      head = await post(text, call);
      if (method === 'initialize' && head.ok)
        keepSession(head.headers.get(sessionHeader), { owner, connection });
      if (isStream(head) && head.body !== null) {
        const events = answerEvents(head.body);
        const headers = headersToClient(head.headers, streamType);
        opened.resolve(new Response(ReadableStream.from(events), { status: head.status, headers }));
      } else void connection.settle(await readAnswer(head, id));
    };
    const ask: Wire['ask'] = async (text, asked) => {
      const response = await post(text);
      if (!isStream(response) || response.body === null) return await readAnswer(response, asked);
      for await (const { data } of readEvents(response.body, maxBytes)) {
        const got = readProxied(Buffer.from(data ?? ''));
        if (got.kind === 'response' && got.id === asked) return got;
      }
      throw malformed(server, 'the stream has ended without an answer');
    };

    /** The stream of the answer, which also carries what the upstream says or asks meanwhile. */
    async function* answerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
      const events = readEvents(body, maxBytes);
      let cause = 'the stream has ended without an answer';
      try {
        for (;;) {
          const next = await Promise.race([events.next(), answer.then(() => undefined)]);
          if (next === undefined || next.done === true) break;
          isResumable ||= hasSession && next.value.fields.some((field) => field.startsWith('id:'));
          yield encode(writeEvent(next.value, await passEvent(next.value, connection, request.headers)));
          if (isAnswered) return;
        }
      } catch (error) {
        cause = error instanceof Error ? error.message : String(error);
        if (!gone.aborted) report(`MCP server ${server}: ${cause}`);
      } finally {
        leaving.abort();
      }
      if (isResumable && !isAnswered) return;
      connection.fail(malformed(server, cause), id);
      const text = shownText(await answer);
      if (text !== undefined) yield encode(writeEvent({ fields: [] }, text));
    }

    let isAnswered = false;
    const answer = connection.begin(message, { send, ask }).finally(() => {
      isAnswered = true;
    });
    const whole = answer.then(({ text, reason }) => {
      const headers = headersToClient(head?.headers ?? new Headers(), 'application/json');
      const status = head === undefined ? statusOf(reason, isModern) : statusToClient(head);
      if (status === 404 && head !== undefined) sessions.delete(request.headers.get(sessionHeader) ?? '');
      return new Response(text, { status, headers });
    });
    return await Promise.race([opened.promise, whole]);
  };

  const post = async (
    request: Request,
    caller: Principal,
    session: Session | undefined,
  ): Promise<Response> => {
    if (!isJson(request)) return refusal(415, rpcCodes.request, 'the content-type must be application/json');
    const body = await readBody(request, maxBytes);
    if (body === undefined)
      return refusal(413, rpcCodes.request, `the body is longer than ${maxBytes} bytes (max_message_bytes)`);
    const message = readProxied(body);
    if (message.kind === 'refused') return Response.json(message.reply, { status: 400 });
    const mismatch = findMismatch(request.headers, message);
    if (mismatch !== undefined) {
      const id = message.kind === 'request' ? message.id : null;
      return Response.json(refuse(id, codes.mismatch, mismatched(mismatch)).reply, { status: 400 });
    }
    const used = session ?? { owner: caller.id, connection: openConnection(parts, caller) };
    if (message.kind === 'request') return await takeRequest(request, message, used);
    const text = await used.connection.fromClient(message);
    if (text === undefined) return new Response(null, { status: 202 });
    return await relay({
      method: 'POST',
      headers: headersToServer(request.headers, message),
      body: text,
      signal: goneOf(request),
    });
  };

  /** Only the status of an answer that has no message. */
  const relay = async (init: RequestInit & { readonly headers: Headers }): Promise<Response> => {
    const response = await fetchUpstream(init).catch(() => undefined);
    if (response === undefined) return refusal(502, rpcCodes.internal, 'the upstream cannot be reached');
    await drain(response);
    if (response.ok) return new Response(null, { status: response.status });
    const status = statusToClient(response);
    return refusal(status, rpcCodes.internal, `the upstream answered with HTTP status ${response.status}`);
  };

  const get = async (
    request: Request,
    caller: Principal,
    session: Session | undefined,
  ): Promise<Response> => {
    const headers = headersToServer(request.headers, undefined);
    const response = await fetchUpstream({ method: 'GET', headers, signal: goneOf(request) }).catch(
      () => undefined,
    );
    if (response === undefined) return refusal(502, rpcCodes.internal, 'the upstream cannot be reached');
    const { body } = response;
    if (!response.ok || !isStream(response) || body === null) {
      await drain(response);
      return refusal(
        response.ok ? 502 : statusToClient(response),
        rpcCodes.request,
        'the upstream has no stream here',
      );
    }
    const connection = session?.connection ?? openConnection(parts, caller);
    async function* events(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
      try {
        for await (const event of readEvents(stream, maxBytes))
          yield encode(writeEvent(event, await passEvent(event, connection, request.headers)));
      } catch (error) {
        const cause = error instanceof Error ? error.message : error;
        if (!request.signal.aborted) report(`MCP server ${server}: a stream has ended: ${cause}`);
      }
    }
    const given = headersToClient(response.headers, streamType);
    return new Response(ReadableStream.from(events(body)), { status: response.status, headers: given });
  };

  return async (request, caller) => {
    const id = request.headers.get(sessionHeader);
    const session = id === null ? undefined : sessions.get(id);
    if (id !== null && session?.owner !== caller.id)
      return refusal(404, codes.session, 'the session is unknown; initialize again');
    switch (request.method) {
      case 'POST':
        return await post(request, caller, session);
      case 'GET':
        return await get(request, caller, session);
      case 'DELETE': {
        const response = await relay({
          method: 'DELETE',
          headers: headersToServer(request.headers, undefined),
        });
        if (response.ok && id !== null) sessions.delete(id);
        return response;
      }
      default:
        return refusal(405, rpcCodes.request, `use POST, GET or DELETE, not ${request.method}`, {
          allow: 'POST, GET, DELETE',
        });
    }
  };
}

function mismatched(header: string): string {
  return `the header ${header} does not say what the message says`;
}

function isModernRequest(params: string): boolean {
  const { _meta } = parseJson(params) as { readonly _meta?: unknown };
  return isObject(_meta) && 'io.modelcontextprotocol/protocolVersion' in _meta;
}

function isStream({ headers }: Response): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
}

function isJson({ headers }: Pick<Response, 'headers'>): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
}

function shownText(answer: Answer | undefined): string | undefined {
  return answer?.reason === 'cancelled' ? undefined : answer?.text;
}

/** Refusals of clients of 2026 have a status of their own. */
function statusOf(reason: Answer['reason'], isModern: boolean): number {
  if (!isModern) return 200;
  return reason === 'unknown' ? 404 : reason === 'invalid' ? 400 : 200;
}

/** What concerns the credentials of Signalbox must not make a client send its own. */
function statusToClient({ status }: Response): number {
  return [401, 403, 407].includes(status) || (status >= 300 && status < 400) ? 502 : status;
}

async function drain({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => {});
}

const encoder = new TextEncoder();

function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

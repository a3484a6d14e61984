import { parseJson } from '../../base/json/parse-json.ts';
import type { evals } from '../api/evals.ts';
import type { guard } from '../api/guard.ts';
import type { pendings } from '../api/pendings.ts';
import type { runs } from '../api/runs.ts';
import type { BodyOf, ParamsOf, QueryOf, ReplyOf } from '../api/schema.ts';
import type { session } from '../api/session.ts';

/** What the API declares. Its types are the client's. */
type Endpoints = typeof session & typeof pendings & typeof runs & typeof guard & typeof evals;
type Methods = 'GET' | 'POST' | 'DELETE';
type Paths<Method extends Methods> = keyof Endpoints extends infer Key
  ? Key extends `${Method} ${infer Path}`
    ? Path
    : never
  : never;
type EndpointOf<Method extends Methods, Path extends string> = `${Method} ${Path}` extends keyof Endpoints
  ? Endpoints[`${Method} ${Path}`]
  : never;
type Params<Path> = keyof ParamsOf<Path> extends never
  ? { readonly params?: never }
  : { readonly params: ParamsOf<Path> };
type Query<Of> = { readonly query?: QueryOf<Of> | URLSearchParams; readonly signal?: AbortSignal };
type Body<Of> = BodyOf<Of> extends undefined ? { readonly body?: never } : { readonly body: BodyOf<Of> };
type Options<Method extends Methods, Path extends string> = Params<Path> &
  Query<EndpointOf<Method, Path>> &
  Body<EndpointOf<Method, Path>>;
type Given<Wanted> = Record<never, never> extends Wanted ? [options?: Wanted] : [options: Wanted];

export type Reply<Method extends Methods, Path extends Paths<Method>> = ReplyOf<EndpointOf<Method, Path>>;
export type Me = Reply<'GET', '/me'>;
export type Call = Reply<'GET', '/pendings/{id}'>;

/** What the stream of changes names. */
export type Kind = 'pendings' | 'runs' | 'suites';

/** All methods throw `ApiError`. */
export interface Api {
  get<Path extends Paths<'GET'>>(
    path: Path,
    ...given: Given<Options<'GET', Path>>
  ): Promise<Reply<'GET', Path>>;
  post<Path extends Paths<'POST'>>(
    path: Path,
    ...given: Given<Options<'POST', Path>>
  ): Promise<Reply<'POST', Path>>;
  delete<Path extends Paths<'DELETE'>>(
    path: Path,
    ...given: Given<Options<'DELETE', Path>>
  ): Promise<Reply<'DELETE', Path>>;
  /** The lines of a streamed answer as they come. */
  lines<Path extends Paths<'GET'>>(path: Path, ...given: Given<Options<'GET', Path>>): AsyncIterable<string>;
  /** The time by the clock of the server, in milliseconds since 1970. */
  now(): number;
}

/** `status` is 0 if the server did not answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly path: string;
  /** The whole body of the answer. */
  readonly body: unknown;

  constructor(status: number, body: unknown, message?: string) {
    const { error = {} } = (body ?? {}) as {
      error?: Partial<Record<'code' | 'message' | 'hint' | 'path', string>>;
    };
    super(message ?? error.message ?? `The server answered with status ${status}.`);
    this.status = status;
    this.code = error.code ?? '';
    this.hint = error.hint ?? '';
    this.path = error.path ?? '';
    this.body = body;
  }
}

/** One sentence for a person, with the hint. */
export function describe(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  return inSentences(error.message, error.hint);
}

/** A message of the server has no full stop; a hint has one. */
export function inSentences(message: string, hint = ''): string {
  return `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}`.trim();
}

interface Request {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** `onRefused`: the server no longer accepts the key. */
export function openApi(base: string, key: string, onRefused: () => void): Api {
  let ahead = 0;
  const send = async (method: Methods, path: string, { params, query, body, signal }: Request = {}) => {
    const place = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params?.[name] ?? ''),
    );
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(`${base}${place}${toQuery(query)}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
        cache: 'no-store',
        credentials: 'omit',
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new ApiError(
        0,
        undefined,
        'The server does not answer. It has ended, or the connection was lost.',
      );
    }
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header has whole seconds.
    if (Math.abs(date + 500 - Date.now()) > 2_000) ahead = date + 500 - Date.now();
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw new ApiError(response.status, readBody(await response.text()));
  };
  const ask = (method: Methods) => async (path: string, request?: Request) => {
    const response = await send(method, path, request);
    return parseExact(await response.text()) as never;
  };
  async function* lines(path: string, request?: Request) {
    const response = await send('GET', path, request);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of chunksOf(response)) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
    if (rest !== '') yield rest;
  }
  return {
    get: ask('GET'),
    post: ask('POST'),
    delete: ask('DELETE'),
    lines,
    now: () => Date.now() + ahead,
  } as Api;
}

/** Not every browser can iterate a stream. */
async function* chunksOf(response: Response) {
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) return;
      yield value;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

function toQuery(query: object = {}): string {
  if (query instanceof URLSearchParams) return query.size === 0 ? '' : `?${query}`;
  const pairs = Object.entries(query).flatMap(([name, value]): string[][] => {
    if (value === undefined || value === '') return [];
    return (Array.isArray(value) ? value : [value]).map((one) => [name, String(one)]);
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function readBody(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** Parses JSON. A number that JavaScript would write with other digits stays as its text (`JSON.rawJSON`). */
export function parseExact(text: string): unknown {
  if (!mayLoseDigits.test(text)) return parseJson(text);
  return parseJson(text, (_key, value, context) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    return String(value) === context.source ? value : JSON.rawJSON(context.source);
  });
}

/** A match inside a string costs only time. */
const mayLoseDigits = /[\d.]{15}|\d[eE]|-0|\.\d*0(?!\d)/;

/** Says what changed, at most once a second, until `signal` aborts. `onState`: whether the stream is connected. */
export function watchChanges(
  {
    api,
    kinds,
    signal,
  }: { readonly api: Api; readonly kinds: readonly Kind[]; readonly signal: AbortSignal },
  onState: (isConnected: boolean) => void,
) {
  const watchers = new Set<{
    kinds: readonly Kind[];
    call: () => void;
    background: boolean;
    isDue: boolean;
  }>();
  let stream: AbortController | undefined;
  let wait = FIRST_RETRY_MS;
  let retry = 0;
  let isBroken = false;
  let due = 0;
  let flushedAt = -EVERY_MS;
  const isWanted = () =>
    kinds.length > 0 && [...watchers].some(({ background }) => background || !document.hidden);
  const flush = () => {
    due = 0;
    flushedAt = performance.now();
    for (const watcher of watchers) {
      if (!watcher.isDue || (document.hidden && !watcher.background)) continue;
      watcher.isDue = false;
      watcher.call();
    }
  };
  const mark = (changed: readonly string[]) => {
    for (const watcher of watchers) watcher.isDue ||= watcher.kinds.some((kind) => changed.includes(kind));
    const waitMs = flushedAt + EVERY_MS - performance.now();
    if (waitMs <= 0) flush();
    else if (due === 0) due = window.setTimeout(flush, waitMs);
  };
  const connect = async () => {
    const own = new AbortController();
    stream = own;
    const state = (isConnected: boolean) => {
      isBroken = !isConnected;
      onState(isConnected);
    };
    let silence = 0;
    try {
      for await (const line of api.lines('/changes', {
        query: { kinds: kinds.join(',') },
        signal: own.signal,
      })) {
        clearTimeout(silence);
        silence = window.setTimeout(() => own.abort(), SILENCE_MS);
        if (line === '') continue;
        wait = FIRST_RETRY_MS;
        if (isBroken) state(true);
        mark((JSON.parse(line) as { kinds: readonly string[] }).kinds);
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return;
    }
    clearTimeout(silence);
    if (stream !== own) return;
    stream = undefined;
    state(false);
    retry = window.setTimeout(update, wait);
    wait = Math.min(wait * 2, LAST_RETRY_MS);
  };
  const update = () => {
    clearTimeout(retry);
    if (isWanted()) {
      if (stream === undefined) void connect();
      return;
    }
    const old = stream;
    stream = undefined;
    old?.abort();
  };
  // The first line of a stream names all kinds, so whatever happened meanwhile is shown.
  const onVisible = () => {
    update();
    if (!document.hidden) flush();
  };
  document.addEventListener('visibilitychange', onVisible, { signal });
  signal.addEventListener('abort', () => {
    watchers.clear();
    update();
  });
  return (wanted: readonly Kind[], call: () => void, { background = false } = {}) => {
    const watcher = { kinds: wanted, call, background, isDue: false };
    watchers.add(watcher);
    update();
    return () => {
      watchers.delete(watcher);
      update();
    };
  };
}

const EVERY_MS = 1_000;
/** The server sends a line every 15 s. Without one, the connection is broken, though nobody has closed it. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

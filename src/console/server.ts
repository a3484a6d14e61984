import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { catalogue, RuntimeError, toRuntimeError } from '../base/errors.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../base/json/depth.ts';
import { findDuplicateKey } from '../base/json/duplicate-key.ts';
import { Json, parseSpelt, stringifyJson } from '../base/json/json.ts';
import { wordJsonError } from '../base/json/parse.ts';
import { keepExactForms } from '../base/json/scan.ts';
import { readAtMost } from '../base/text/bytes.ts';
import { decodePercent } from '../base/text/url.ts';
import { compileDataSchema, type DataValidator } from '../base/yaml/data-schema.ts';
import { findViolations } from '../base/yaml/violation.ts';
import type { PendingInfo } from '../contract/approval.ts';
import type { Callers, Principal } from '../runtime/runtime.ts';
import {
  type Call,
  type Declarations,
  type Endpoint,
  type Handlers,
  input,
  type ObjectSchema,
  type Schema,
  type TextStream,
} from './api/schema.ts';

/** Some endpoints with what answers them. */
export interface Group {
  readonly declarations: Declarations;
  readonly handlers: Readonly<Record<string, (call: Call) => unknown>>;
}

export function group<const Declared extends Declarations>(
  declarations: Declared,
  handlers: Handlers<Declared>,
): Group {
  // `readCall` makes calls of the declared types.
  return { declarations, handlers: handlers as Group['handlers'] };
}

/** The texts of the page, by the name below /console/. */
export type PageFiles = Readonly<Record<string, { readonly type: string; readonly text: string }>>;

export interface ConsoleParts {
  readonly groups: readonly Group[];
  readonly callers: Callers;
  readonly files: PageFiles;
  /** The longest body of a request. */
  readonly maxBytes: number;
  /** Ends streams. */
  readonly leaving: AbortSignal;
}

export const pagePath = '/console';
const apiPath = '/api/v1';

/** Whether the console answers this path, beside a server with other paths. */
export function isOfConsole(path: string): boolean {
  return [pagePath, apiPath, '/.well-known/oauth-protected-resource/console'].some(
    (own) => path.startsWith(own) && /^(?:[/?#]|$)/.test(path.slice(own.length)),
  );
}

/** Answers every request; nothing outside the declarations and the files exists. Never rejects. */
export function consoleHandler(parts: ConsoleParts): (request: Request) => Promise<Response> {
  const routes = toRoutes(parts.groups);
  const answerPage = pageHandler(parts.files);
  return async (request) => {
    const reply = await answer(request, { ...parts, routes, answerPage }).catch((thrown: unknown) => {
      const { status, body, headers } = refusalOf(thrown);
      return jsonReply(body, status, headers);
    });
    for (const [name, value] of Object.entries(guardingHeaders)) reply.headers.set(name, value);
    if (!reply.headers.has('etag')) reply.headers.set('cache-control', 'no-store');
    return reply;
  };
}

const guardingHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    ...['script', 'style', 'connect', 'img'].map((kind) => `${kind}-src 'self'`),
    ...['base-uri', 'form-action', 'frame-ancestors'].map((name) => `${name} 'none'`),
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

type Context = ConsoleParts & {
  readonly routes: readonly Route[];
  readonly answerPage: ReturnType<typeof pageHandler>;
};

async function answer(request: Request, context: Context): Promise<Response> {
  const { callers, routes, leaving } = context;
  const foreign = callers.refuseForeign(request);
  if (foreign !== undefined) return foreign;
  const { pathname, searchParams } = new URL(request.url);
  if (!pathname.startsWith(`${apiPath}/`))
    return context.answerPage(request, pathname) ?? (await describe(request, pathname, callers));
  const there = routes.flatMap((route) => {
    const params = route.match(pathname.slice(apiPath.length));
    return params === undefined ? [] : [{ ...route, params }];
  });
  const found = there.find(({ method }) => method === request.method);
  const scopes = found?.endpoint.scopes ?? [];
  const caller = scopes === 'none' ? nobody : await callers.admit(request, scopes);
  if (caller instanceof Response) return caller;
  if (found === undefined)
    return refuseRoute(
      request,
      there.map(({ method }) => method),
    );
  const { endpoint, params, handle, checkQuery, checkBody } = found;
  const query = checkQuery(readQuery(searchParams, endpoint));
  const read = endpoint.body === undefined ? undefined : await readBody(request, context.maxBytes);
  if (read instanceof Response) return read;
  const body = endpoint.body === undefined ? undefined : checkBody(read);
  const own = new AbortController();
  const signal = AbortSignal.any([request.signal, leaving, own.signal]);
  // The checks give `query` and `body` the declared types.
  const result = await handle({ params, query, body, caller, signal } as Call);
  const { response, status = 200 } = endpoint;
  if (!isStream(response)) return jsonReply(result, status);
  const { stream: type } = response;
  const isAdmitted = async () =>
    scopes === 'none' || !((await callers.admit(request, scopes)) instanceof Response);
  const stream = await toStream(result as AsyncIterable<string>, own, isAdmitted);
  return new Response(stream, { headers: { 'content-type': `${type}; charset=utf-8` } });
}

/** Who calls an endpoint that needs no credential. */
const nobody: Principal = { id: '', name: '', scopes: new Set(), mayCall: () => false };

function isStream(response: Schema | TextStream): response is TextStream {
  return 'stream' in response;
}

/** The metadata by which OAuth clients find the authorization server. */
async function describe(request: Request, path: string, callers: Callers): Promise<Response> {
  const admitted = path.startsWith('/.well-known/') ? await callers.admit(request, []) : undefined;
  return admitted instanceof Response && admitted.ok ? admitted : refuseRoute(request, []);
}

function refuseRoute({ method }: Request, allowed: readonly string[]): Response {
  if (allowed.length === 0) return refuse(404, 'not_found', 'There is nothing at this address.');
  const allow = allowed.join(', ');
  return refuse(405, 'method_not_allowed', `This address takes ${allow}, not ${method}.`, { allow });
}

function refuse(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonReply({ error: { code, message } }, status, headers);
}

function jsonReply(
  document: unknown,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  return new Response(`${stringifyJson(document)}\n`, { status, headers: { ...type, ...headers } });
}

interface Refusal {
  readonly status: number;
  readonly body: {
    readonly error: {
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      readonly path?: string;
    };
    /** The call as it is now, for a conflict. */
    readonly pending?: PendingInfo;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** What a client receives for an error of a handler. */
export function refusalOf(thrown: unknown): Refusal {
  const { code, message, hint: given, details } = toRuntimeError(thrown);
  // That of the command line.
  const hint = code === 'USAGE' && given === catalogue.USAGE.hint ? '' : given;
  const { path, pending } = details;
  const status = statuses[code] ?? 500;
  return {
    status,
    body: {
      error: { code, message, ...(hint !== '' && { hint }), ...(typeof path === 'string' && { path }) },
      // Handlers add it.
      ...(pending !== undefined && { pending: pending as PendingInfo }),
    },
    headers: status === 503 ? { 'retry-after': '5' } : {},
  };
}

const statuses: Readonly<Record<string, number>> = {
  ...statusOf(400, 'USAGE', 'ARGS_INVALID', 'INPUT_INVALID', 'RESULT_INVALID', 'NESTING_TOO_DEEP'),
  ...statusOf(403, 'OWN_CALL'),
  // A file of a run may be removed while it is shown.
  ...statusOf(404, 'RUN_UNKNOWN', 'NAME_UNKNOWN', 'KEY_UNKNOWN', 'FILE_UNREADABLE'),
  ...statusOf(409, 'PENDING_DECIDED', 'PENDING_EXPIRED', 'PENDING_CHANGED'),
  ...statusOf(409, 'RUN_BUSY', 'RUN_ENDED', 'RUN_NOT_RETRYABLE', 'CONFIG_INVALID'),
  ...statusOf(503, 'STORE_FAILED', 'RUNTIME_CLOSED', 'ABORTED'),
};

function statusOf(status: number, ...codes: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(codes.map((code) => [code, status]));
}

interface Route {
  readonly method: string;
  readonly endpoint: Endpoint;
  readonly handle: (call: Call) => unknown;
  readonly checkQuery: (value: unknown) => unknown;
  readonly checkBody: (value: unknown) => unknown;
  /** The values of the names in braces; undefined for another path. */
  match(path: string): Readonly<Record<string, string>> | undefined;
}

/** Paths without names in braces come first. */
function toRoutes(groups: readonly Group[]): Route[] {
  const declared = groups.flatMap(({ declarations, handlers }) =>
    Object.entries(declarations).map(([key, endpoint]) => ({ key, endpoint, handle: handlers[key] })),
  );
  const names = ({ key }: { readonly key: string }) => key.split('{').length;
  return declared
    .toSorted((one, other) => names(one) - names(other))
    .map(({ key, endpoint, handle }) => {
      const [method = '', path = ''] = key.split(' ');
      if (handle === undefined) throw new RuntimeError('INTERNAL', `nothing answers ${key}`);
      const [checkQuery, checkBody] = [
        checker(endpoint.query ?? input({})),
        checker(endpoint.body ?? input({})),
      ];
      return { method, endpoint, handle, checkQuery, checkBody, match: matcher(path) };
    });
}

function matcher(pattern: string): Route['match'] {
  const parts = pattern.split('/');
  return (path) => {
    const given = path.split('/');
    if (given.length !== parts.length) return undefined;
    const params: [string, string][] = [];
    for (const [at, part] of parts.entries()) {
      const value = given[at] ?? '';
      const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
      if (name === undefined ? part !== value : value === '') return undefined;
      if (name !== undefined) params.push([name, decodePercent(value)]);
    }
    return Object.fromEntries(params);
  };
}

/** Returns the value, or throws USAGE with the path of the first part that does not fit. */
function checker(schema: ObjectSchema): (value: unknown) => unknown {
  let validate: DataValidator | undefined;
  return (value) => {
    validate ??= compileDataSchema({ ...schema }, { hasFormats: true });
    const [violation] = findViolations(value, schema, validate);
    if (violation === undefined) return value;
    const path = violation.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
    throw unfit(path.replace(/^\./, ''), violation.message, violation.hint);
  };
}

/** Of the request: USAGE with a path. */
export function unfit(path: string, problem: string, hint = ''): RuntimeError {
  const message = path === '' ? `the body ${problem}` : `\`${path}\` ${problem}`;
  return new RuntimeError('USAGE', message, { hint, details: { path } });
}

/** Texts of the address as the types that the endpoint declares. What cannot be read stays a text, which does not fit. */
function readQuery(given: URLSearchParams, { query }: Endpoint): Readonly<Record<string, unknown>> {
  const typeOf = (name: string) => {
    const schema = query !== undefined && Object.hasOwn(query.properties, name) ? query.properties[name] : {};
    return schema !== undefined && 'type' in schema ? schema.type : undefined;
  };
  const entries = [...new Set(given.keys())].map((name): [string, unknown] => {
    const values = given.getAll(name);
    const [text = ''] = values;
    const type = typeOf(name);
    if (type === 'array') return [name, values];
    if (values.length > 1) throw unfit(name, 'is given twice');
    if (type === 'boolean') return [name, text === 'true' || (text === 'false' ? false : text)];
    const isNumber = type === 'integer' || type === 'number';
    return [name, isNumber && /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries);
}

/** The JSON value of the body, with all digits of its numbers; or the refusal. Throws USAGE. */
async function readBody(request: Request, maxBytes: number): Promise<unknown> {
  const { headers } = request;
  const isJson = /^application\/json *(?:; *charset="?utf-8"? *)?$/i.test(headers.get('content-type') ?? '');
  if (!isJson || (headers.get('content-encoding') ?? 'identity') !== 'identity')
    return refuse(415, 'unsupported_media_type', 'The body must be `application/json`, and not compressed.');
  const isLong = Number(headers.get('content-length')) > maxBytes;
  const bytes = isLong ? undefined : await readAtMost(request.body ?? [], maxBytes);
  if (bytes === undefined) return refuse(413, 'body_too_large', `The body is longer than ${maxBytes} bytes.`);
  if (!isUtf8(bytes)) throw unfit('', 'is not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  if (isTextTooDeep(text)) throw unfit('', `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  const body = parseBody(text);
  const twice = findDuplicateKey(text);
  if (twice !== undefined) throw unfit(twice, 'is there twice');
  return body;
}

function parseBody(text: string): unknown {
  try {
    const json = new Json(text.trim());
    const body = parseSpelt(json);
    // What a person wrote reaches a tool byte for byte.
    keepExactForms(body, json, 3);
    return body;
  } catch (thrown) {
    throw unfit('', `is not JSON: ${wordJsonError(thrown, text)}`);
  }
}

/**
 * Sends parts as fast as the client reads them. Rejects with an error before the first part; a later one cuts the body.
 * A stream ends when its credential does.
 */
async function toStream(
  parts: AsyncIterable<string>,
  own: AbortController,
  isAdmitted: () => Promise<boolean>,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = parts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string>> | undefined = iterator.next();
  await next;
  return new ReadableStream(
    {
      pull: async (controller) => {
        const part = await (next ?? iterator.next());
        next = undefined;
        if (part.done !== true && (await isAdmitted())) return controller.enqueue(encoder.encode(part.value));
        own.abort();
        controller.close();
      },
      cancel: () => {
        own.abort();
        void iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Every path below /console shows the page, which reads the path. It has no data. */
function pageHandler(files: PageFiles): (request: Request, path: string) => Response | undefined {
  const tagged = new Map(
    Object.entries(files).map(([name, file]) => [name, { ...file, etag: `"${hash('sha256', file.text)}"` }]),
  );
  return (request, path) => {
    if (!isOfConsole(path) || !path.startsWith(pagePath)) return undefined;
    const isHead = request.method === 'HEAD';
    if (!isHead && request.method !== 'GET') return refuseRoute(request, ['GET', 'HEAD']);
    const file = tagged.get(path.slice(pagePath.length + 1));
    const type = { 'content-type': `${file?.type ?? 'text/html'}; charset=utf-8` };
    if (file === undefined) return new Response(isHead ? null : htmlAt(path), { headers: type });
    const headers = { ...type, etag: file.etag, 'cache-control': 'no-cache' };
    if (request.headers.get('if-none-match') === file.etag)
      return new Response(null, { status: 304, headers });
    return new Response(isHead ? null : file.text, { headers });
  };
}

/**
 * Addresses are relative, since a proxy may put the console below a path of its own. A run of a suite has the page of
 * its report.
 */
function htmlAt(path: string): string {
  const page = /^\/console\/evals\/(?!compare$)[^/]+$/.test(path) ? 'report' : 'console';
  const folder = `${'../'.repeat(path.slice(pagePath.length).split('/').length - 1)}console`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Signalbox</title>
<link rel="icon" href="${folder}/icon.svg">
<link rel="stylesheet" href="${folder}/${page}.css">
<script type="module" src="${folder}/${page}.js"></script>
</head>
<body>
<div id="page"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;
}

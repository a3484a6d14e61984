import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import PQueue from 'p-queue';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import { members, number, optional, readShape, type Shape, text } from '../../base/json/shape.ts';
import { readAtMost } from '../../base/text/bytes.ts';
import { isLoopbackName } from '../../base/text/url.ts';
import { type GatewayServer, listen, toListener } from '../../gateway/http/server.ts';
import { compareRuns } from '../../suites/compare/compare.ts';
import { renderComparisonHtml } from '../../suites/compare/render.ts';
import type { RatingInput } from '../../suites/rating/rating.ts';
import { detailOf, openServedHtml } from '../../suites/report/html/html.ts';
import { box, text as htmlText, renderPlainPage } from '../../suites/report/html/plain.ts';
import { addressOfRun, renderRunsPage } from '../../suites/report/html/runs-page.ts';
import { replayReport } from '../../suites/report/replay-report.ts';
import type { Sink } from '../../suites/report/reporter.ts';
import { openShelf, type Shelf, type ShelfOptions, type ShelvedRun } from './shelf.ts';

export { addressOfRun } from '../../suites/report/html/runs-page.ts';
export { idOfFile } from './shelf.ts';

interface ViewOptions extends ShelfOptions {
  readonly host: string;
  /** Default: `defaultPort`, or any free port if that is taken. 0: any free port. */
  readonly port: number | undefined;
  readonly userName: string;
}

interface ServedView {
  /** The URL with the token; `path`, from `/` on, is the page shown first. */
  urlOf(path: string): string;
  close(): Promise<void>;
}

export const defaultPort = 8788;

/** Throws LISTEN_FAILED. */
export async function serveView({ host, port, userName, ...shelved }: ViewOptions): Promise<ServedView> {
  requireLoopback(host);
  const token = newToken();
  const app = createRoutes({ shelf: openShelf(shelved), userName, token });
  const listener = toListener((request) => app.fetch(request));
  const server = await listenAt(host, port, () => ({ listener, begin: () => () => {} }));
  return {
    urlOf: (path) => `${server.url}${path}#token=${token}`,
    close: async () => void (await server.close(0)),
  };
}

type Generation = Parameters<typeof listen>[0]['generation'];

async function listenAt(
  host: string,
  port: number | undefined,
  generation: Generation,
): Promise<GatewayServer> {
  const at = async (each: number) => await listen({ host, port: each, limits, generation });
  if (port === undefined) return await at(defaultPort).catch(async () => await at(0));
  try {
    return await at(port);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown;
    const hint = 'Give another --port, or leave it out to take any free port.';
    throw new RuntimeError(thrown.code, thrown.message, { hint, cause: thrown });
  }
}

const limits = { headersMs: 10_000, requestMs: 30_000, idleMs: 30_000, connections: 64 };

function requireLoopback(host: string): void {
  if (isLoopbackName(host.includes(':') ? `[${host}]` : host)) return;
  throw new RuntimeError(
    'LISTEN_FAILED',
    `other machines can reach ${host}, but the pages of runs are only for this machine`,
    {
      hint: 'Leave --host out. To reach the pages from another machine, use a tunnel: ssh -L 8788:127.0.0.1:8788 MACHINE.',
    },
  );
}

interface ViewContext {
  readonly shelf: Shelf;
  readonly token: string;
  readonly userName: string;
}

/** Unknown paths are 404. No part of a URL is used as a file path. */
function createRoutes({ shelf, token, userName }: ViewContext): Hono {
  const app = new Hono();
  // One at a time, because each holds all cases of one side in memory.
  const comparing = new PQueue({ concurrency: 1 });
  app.use(async ({ req }, next) => {
    const isPage = isPageRequest(req.raw);
    const refuse = isPage ? refusalPage : refusalDocument;
    const refusal = methodRefusal(req.method) ?? refuseName(req.raw);
    if (refusal !== undefined) return refuse(refusal);
    // Browsers do not send the token by themselves. The script of the entry page does, whatever link led here.
    if (isPage && req.raw.headers.get('authorization') === null) return entryPage(noEntry);
    const visit = refuseVisit(req.raw, token) ?? (req.method === 'GET' ? undefined : refuseChange(req.raw));
    return visit === undefined ? await next() : refuse(visit);
  });
  app.get('/', async ({ req }) => {
    const suite = req.query('suite') || undefined;
    return htmlReply(renderRunsPage(await shelf.page(suite, req.queries('after') ?? [])));
  });
  app.get('/compare', async ({ req }) => {
    const [a, b] = [await shelf.open(req.query('a') ?? ''), await shelf.open(req.query('b') ?? '')];
    const comparison = await comparing.add(async () => await compareRuns(a.source, b.source, {}));
    return htmlReply(renderComparisonHtml(comparison, { home: '/' }));
  });
  app.get('/runs/:id', async ({ req }) => {
    const id = req.param('id');
    const run = await shelf.open(id);
    return htmlReply(
      await streamPage(async (sink) => await replayReport(run.source, openPage(sink, id, run))),
    );
  });
  app.get('/runs/:id/case', async ({ req }) => {
    const { source } = await shelf.open(req.param('id'));
    const [number, variant] = [Number(req.query('number')), req.query('variant')];
    for await (const record of source.cases(req.query('id') ?? '')) {
      if (record.number !== number || record.variant !== variant) continue;
      const detail = detailOf(record);
      if (detail !== '') return jsonReply(detail);
    }
    throw new RuntimeError('NAME_UNKNOWN', 'the run has no such case, or the case is too large to show', {
      hint: '`signalbox eval show RUN --case ID` shows all of it.',
    });
  });
  app.post('/runs/:id/ratings', async ({ req }) => {
    const { runs } = await requireKept(req.param('id'));
    const rating = await runs.rate(req.param('id'), await readRatingBody(req.raw));
    return jsonReply(stringifyJson({ run_id: req.param('id'), rating }));
  });
  app.delete('/runs/:id/ratings', async ({ req }) => {
    const { runs } = await requireKept(req.param('id'));
    const place = await readRatingBody(req.raw);
    await runs.unrate(req.param('id'), place);
    return jsonReply(stringifyJson({ run_id: req.param('id'), removed: placeOf(place) }));
  });
  app.notFound(({ req }) => refuseAs(req.raw, notFound));
  app.onError((thrown, { req }: Context) => refuseAs(req.raw, toRefusal(thrown)));
  return app;

  function openPage(sink: Parameters<typeof openServedHtml>[0], id: string, { runs }: ShelvedRun) {
    const address = addressOfRun(id);
    return openServedHtml(sink, {
      ...{ home: '/', cases: `${address}/case`, ratings: runs === undefined ? null : `${address}/ratings` },
      ...{ token, by: userName },
    });
  }

  async function requireKept(id: string) {
    const { runs } = await shelf.open(id);
    if (runs !== undefined) return { runs };
    throw new RuntimeError('USAGE', 'a run of a file cannot have ratings: only runs in a store can');
  }
}

function placeOf({ case: id, variant, eval: evalId, by }: Awaited<ReturnType<typeof readRatingBody>>) {
  return { case: id, ...(variant !== undefined && { variant }), eval: evalId ?? null, by };
}

function isPageRequest({ method, url }: Request): boolean {
  return method === 'GET' && !/\/(?:case|ratings)$/.test(new URL(url).pathname);
}

function refuseAs(request: Request, refusal: Refusal): Response {
  return isPageRequest(request) ? refusalPage(refusal, '/') : refusalDocument(refusal);
}

function methodRefusal(method: string): Refusal | undefined {
  return ['GET', 'POST', 'DELETE'].includes(method) ? undefined : wrongMethod;
}

const wrongMethod = {
  status: 405,
  code: 'method_not_allowed',
  message: 'There is no such method here',
  hint: '',
};
const notFound = { status: 404, code: 'not_found', message: 'There is no such page', hint: '' };

/**
 * Streams a page as fast as its reader takes it, so that only the current part is in memory. Resolves with the first
 * part and rejects with an earlier error of `produce`; a later error cuts the body.
 */
export async function streamPage(
  produce: (sink: Sink) => Promise<void>,
): Promise<ReadableStream<Uint8Array>> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const begun = Promise.withResolvers<void>();
  let waiting = '';
  const flush = async (): Promise<void> => {
    const part = encoder.encode(waiting);
    waiting = '';
    begun.resolve();
    await writer.write(part);
  };
  const write = async (text: string): Promise<void> => {
    waiting += text;
    if (waiting.length >= PART) await flush();
  };
  const work = async (): Promise<void> => {
    await produce({ hasColour: false, columns: undefined, write });
    await flush();
    await writer.close();
  };
  const whole = work();
  whole.catch(async (thrown: unknown) => await writer.abort(thrown).catch(() => {}));
  writer.closed.catch(() => {});
  await Promise.race([begun.promise, whole]);
  return readable;
}

const PART = 64 * 1024;

async function readRatingBody({ body }: Request): Promise<RatingInput> {
  const bytes = await readBounded(body ?? []);
  return readShape(ratingInput, tryParse(new TextDecoder().decode(bytes)), (path) => {
    const at = path === '' ? '' : ` (at ${path})`;
    return new RuntimeError('USAGE', `the request is not a rating${at}`, {
      hint: 'It is {"case", "by"}, with "variant", "eval", "score", "label" and "comment" as needed.',
    });
  });
}

const ratingInput: Shape<RatingInput> = members<RatingInput>({
  case: text,
  by: text,
  variant: optional(text),
  eval: optional(text),
  score: optional(number),
  label: optional(text),
  comment: optional(text),
});

const MOST_BYTES = 128 * 1024;

async function readBounded(body: AsyncIterable<Uint8Array> | readonly never[]): Promise<Uint8Array> {
  const bytes = await readAtMost(body, MOST_BYTES);
  if (bytes === undefined) throw new RuntimeError('USAGE', `a rating must have at most ${MOST_BYTES} bytes`);
  return bytes;
}

/**
 * A secret of 192 bits, new with each start. It is in the fragment of the printed URL, which browsers do not send, and
 * then in `Authorization`. Never in a cookie, because browsers send cookies to all ports of a host.
 */
function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Refuses requests for other host names, whatever the token. Undefined: allowed. */
function refuseName({ headers }: Request): Refusal | undefined {
  const host = headers.get('host');
  return host !== null && isLoopbackName(host) ? undefined : otherName;
}

function refuseVisit({ headers }: Request, token: string): Refusal | undefined {
  const [, given = ''] = /^Bearer (\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];
  return isSame(given, token) ? undefined : noEntry;
}

/** Refuses changes from other origins. Undefined: allowed. Used together with `refuseVisit`. */
function refuseChange({ headers }: Request): Refusal | undefined {
  const origin = headers.get('origin');
  if (origin !== null && origin !== `http://${headers.get('host')}`) return foreign;
  if (!['same-origin', null].includes(headers.get('sec-fetch-site'))) return foreign;
  return /^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '') ? undefined : notJson;
}

/** Compares in constant time. */
function isSame(given: string, secret: string): boolean {
  const [one, other] = [given, secret].map((each) => createHash('sha256').update(each).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

const otherName: Refusal = {
  status: 403,
  code: 'untrusted_host',
  message: 'The request names another host than this machine',
  hint: 'Open the page with the host 127.0.0.1 or localhost.',
};
const noEntry: Refusal = {
  status: 403,
  code: 'no_entry',
  message: 'Only the address that `signalbox eval view` printed opens this page',
  hint: 'Open that address with its token; each start has a new token.',
};
const foreign: Refusal = {
  status: 403,
  code: 'untrusted_origin',
  message: 'A page of another server cannot change anything here',
  hint: '',
};
const notJson: Refusal = {
  status: 415,
  code: 'not_json',
  message: 'A change must be sent as application/json',
  hint: '',
};

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** On every response: forbids framing, caching, sniffing and reading from other origins. */
const guardingHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

const htmlHeaders = {
  ...guardingHeaders,
  'content-type': 'text/html; charset=utf-8',
  // The page contains the rest of its policy.
  'content-security-policy': "frame-ancestors 'none'",
};

const jsonHeaders = {
  ...guardingHeaders,
  'content-type': 'application/json; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export function htmlReply(body: string | ReadableStream<Uint8Array>, status = 200): Response {
  return new Response(body, { status, headers: htmlHeaders });
}

export function jsonReply(json: string, status = 200): Response {
  return new Response(`${json}\n`, { status, headers: jsonHeaders });
}

export function refusalPage({ status, message, hint }: Refusal, home?: string): Response {
  const page = renderPlainPage({
    title: message,
    heading: `${message}.`,
    ...(home !== undefined && { home }),
    sections: hint === '' ? [] : [box('What to do', `<p>${htmlText(hint)}</p>`)],
  });
  return htmlReply(page, status);
}

/**
 * The page for a browser without a token; it shows nothing of a run. Its script takes the token from the fragment, or
 * from the storage of this origin, and loads the page in its place.
 */
export function entryPage({ status, message, hint }: Refusal): Response {
  return htmlReply(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Runs of suites</title>
</head>
<body hidden>
<h1>${htmlText(message)}.</h1>
<p>${htmlText(hint)}</p>
<noscript><p>It is shown with JavaScript, which is switched off here.</p></noscript>
<script>${entryScript}</script>
</body>
</html>
`,
    status,
  );
}

// The written page has its own content security policy, which forbids policies that were not created before it.
const entryScript = `
const key = 'signalbox-view';
const [address] = location.href.split('#');
const fragment = new URLSearchParams(location.hash.slice(1));
const given = fragment.get('token');
if (given !== null) {
  localStorage.setItem(key, given);
  fragment.delete('token');
  history.replaceState(null, '', fragment.size === 0 ? address : address + '#' + fragment);
}
const token = localStorage.getItem(key);
const policy = globalThis.trustedTypes?.createPolicy('signalbox-view', { createHTML: (html) => html });
const write = (html) => document.write(policy === undefined ? html : policy.createHTML(html));
const show = async () => {
  const response = await fetch(address, { headers: { authorization: 'Bearer ' + token } });
  if (response.status === 403) return false;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  document.open();
  for (let part = await reader.read(); !part.done; part = await reader.read()) write(part.value);
  document.close();
  return true;
};
const refuse = () => { document.body.hidden = false; };
if (token === null) refuse();
else show().then((isShown) => isShown || refuse(), refuse);
`;

export function refusalDocument({ status, code, message, hint }: Refusal): Response {
  return jsonReply(JSON.stringify({ error: { code, message, hint } }), status);
}

export function toRefusal(thrown: unknown): Refusal {
  const { code, message, hint } = toRuntimeError(thrown);
  return { status: statusOf(code), code, message, hint };
}

function statusOf(code: RuntimeError['code']): number {
  switch (code) {
    case 'RUN_UNKNOWN':
    case 'NAME_UNKNOWN':
      return 404;
    case 'USAGE':
      return 400;
    default:
      return 500;
  }
}

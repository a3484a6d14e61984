import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveEvals } from '../../../src/console/serve.ts';
import { openRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import { openShelf } from '../../../src/runtime/view/shelf.ts';
import { config, fixture, folderOf, suite } from '../../cli/command-line.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request unchanged: any Host, and a path that is not normalized. */
export async function ask(origin: string, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const { hostname, port } = new URL(origin);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = request({
    host: hostname,
    port,
    path,
    method,
    headers: { ...length, ...headers },
    agent: false,
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return {
    status: response.statusCode,
    headers: response.headers,
    text: await text(response),
  } satisfies Answer;
}

/** Text that has an effect wherever it is not escaped. */
export const hostile =
  '</script><script>alert(1)</script><img src=x onerror=alert(2)>javascript:alert(3)\u001b[2J\u202e';

/** A folder with two stored runs of the cases `one` and `two`. The suite's name contains markup. */
export async function openFolder(store = '', env: Record<string, string> = {}) {
  const cases = JSON.stringify([
    { id: 'one', content: hostile },
    { id: 'two', content: 'javascript:alert(1)' },
  ]);
  const folder = folderOf({
    'runtime.yaml': config(`evals: {score: {command: ${fixture('eval-score')}}}\n${store}`),
    's.suite.yaml': suite(
      `cases: ${cases}\nevals: [{id: exact, type: score, params: {score: 1, detail: rare words}}]\n`,
    ).replace('{name: demo}', `{name: ${JSON.stringify(hostile.slice(0, 40))}}`),
  });
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: false,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => runtime.close());
  const run = async () => (await runtime.evals.run(join(folder, 's.suite.yaml'))).run_id;
  return { folder, runtime, ids: [await run(), await run()] as const };
}

/** A folder with a stored run of two variants: `small` fails both cases, and `large` passes them. */
export async function openMatrix() {
  const model = (id: string, text: string) =>
    `\n  - {id: ${id}, type: mock, model: m, additional_config: {responses: [{text: "${text}", repeat: true}]}}`;
  const folder = folderOf({
    'runtime.yaml': config(`providers:${model('small', 'no')}${model('large', 'yes')}\n`),
    's.suite.yaml': suite(
      'cases: [{id: one, q: a}, {id: two, q: b}]\ncase: {id: "${case.id}"}\nsubject: {chat: {provider: [small, large], messages: "${case.q}"}}\nevals: [{id: says_yes, type: contains, params: {patterns: ["yes"]}}]\n',
    ),
  });
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  onTestFinished(() => runtime.close());
  const { run_id: id } = await runtime.evals.run(join(folder, 's.suite.yaml'));
  const ratings = async () => await Array.fromAsync((await runtime.evals.runs.open(id)).ratings?.() ?? []);
  return { folder, runtime, id, ratings };
}

export interface View {
  readonly origin: string;
  /** The printed address, of the list. */
  readonly first: string;
  readonly token: string;
  /** The header that the page sends. */
  readonly authorization: string;
  /** Reads a path of the API. */
  get(path: string): Promise<Answer>;
  /** Rates as a run's page does. `headers` override its own; an empty one is left out. */
  rate(
    id: string,
    body: unknown,
    more?: { readonly method?: string; readonly headers?: Record<string, string> },
  ): Promise<Answer>;
}

export async function openView(runtimes: readonly Runtime[], files: readonly string[] = []): Promise<View> {
  const shelf = openShelf({ runtimes, files });
  const options = { host: '127.0.0.1', port: 0, userName: 'ada', version: '1.2.3' };
  const served = await serveEvals(shelf, options);
  onTestFinished(() => served.close());
  const { origin, hash } = new URL(served.url);
  const token = hash.replace('#key=', '');
  const authorization = `Bearer ${token}`;
  return {
    ...{ origin, first: `${origin}/console/evals${hash}`, token, authorization },
    get: (path) => ask(origin, `/api/v1${path}`, { headers: { authorization } }),
    rate: async (id, body, { method = 'POST', headers = {} } = {}) => {
      const own = { authorization, 'content-type': 'application/json', origin };
      const sent = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== '');
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const path = `/api/v1/evals/runs/${id}/ratings`;
      return await ask(origin, path, { method, headers: Object.fromEntries(sent), body: text });
    },
  };
}

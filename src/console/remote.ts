import { setTimeout as sleep } from 'node:timers/promises';
import { isErrorCode, RuntimeError } from '../base/errors.ts';
import { toDocument } from '../base/json/document-builder.ts';
import { isObject, Json, stringifyJson } from '../base/json/json.ts';
import { exactMembers, keepExactForms } from '../base/json/scan.ts';
import { isLoopbackName } from '../base/text/url.ts';
import type { PendingDocument, PendingInfo } from '../contract/approval.ts';
import type { RunDocument, RunSummary, StepDetails, StepPage } from '../contract/run.ts';
import { openFetch, type Runtime } from '../runtime/runtime.ts';
import type { guard } from './api/guard.ts';
import type { pendings } from './api/pendings.ts';
import type { runs } from './api/runs.ts';
import type { BodyOf, ParamsOf, QueryOf } from './api/schema.ts';

/** What a command needs of a runtime to show and decide: a runtime, or the console of one on another machine. */
export interface Desk extends Pick<Runtime, 'isDurable' | 'file' | 'overlays'> {
  readonly pending: Pick<
    Runtime['pending'],
    'list' | 'page' | 'counts' | 'show' | 'check' | 'approve' | 'reject' | 'respond'
  >;
  readonly runs: Pick<
    Runtime['runs'],
    | 'list'
    | 'page'
    | 'show'
    | 'summary'
    | 'steps'
    | 'cancel'
    | 'resume'
    | 'retry'
    | 'resumable'
    | 'queueRetry'
  >;
  readonly decisions: Pick<Runtime['decisions'], 'page' | 'counts'>;
  /** The address of the console. */
  readonly remote?: string | undefined;
}

export interface RemoteOptions {
  /** `sbx_…`, or the token that a console without keys prints. Decisions have its name. */
  readonly key: string | undefined;
  readonly fetch?: typeof fetch;
}

type Api = typeof pendings & typeof runs & typeof guard;

/**
 * The pending calls, runs and decisions of a console, over its API. Methods throw the errors of the runtime there, and
 * REMOTE_FAILED if it cannot be reached. `by` of a decision is ignored: the key names the person. Throws USAGE.
 */
export function openRemote(url: string, { key, fetch: given }: RemoteOptions): Desk {
  const base = readAddress(url);
  const fetch = given ?? openFetch({ named: base, privateHosts: [new URL(base).hostname] });
  const call = async <Reply extends object, Path extends keyof Api & string>(
    path: Path,
    { params, query, body, signal }: Asked<Path> = {},
  ): Promise<Reply> => {
    const [method = '', place = ''] = path.split(' ');
    const filled = place.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(Reflect.get(params ?? {}, name))),
    );
    const search = toSearch({ ...query });
    const reply = await fetch(`${base}/api/v1${filled}${search}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: stringifyJson(body) }),
      ...(signal !== undefined && { signal }),
    }).catch((cause: unknown) => {
      if (signal?.aborted === true) throw signal.reason;
      throw failedError(base, `cannot be reached: ${whyOf(cause)}`, cause);
    });
    const text = await reply.text();
    const document = documentOf(text);
    if (document === undefined) throw failedError(base, `answered ${reply.status} without a JSON object`);
    // The documents of the API are those of the runtime.
    if (reply.ok) return document as Reply;
    throw errorOf(base, { ...document });
  };
  const allPages = async function* <Item>(
    read: (after: string | undefined) => Promise<{ readonly items: readonly Item[]; readonly next?: string }>,
  ): AsyncGenerator<Item> {
    for (let after: string | undefined; ; ) {
      const { items, next } = await read(after);
      yield* items;
      if (next === undefined) return;
      after = next;
    }
  };

  const pagePendings: Desk['pending']['page'] = async ({ since, by: _, maxCharacters = 0, ...filter } = {}) =>
    await call('GET /pendings', {
      query: { ...filter, since: since?.toISOString(), max_characters: maxCharacters },
    });
  const decide = async (
    id: string,
    decision: Omit<Given<BodyOf<Api['POST /pendings/{id}/decision']>>, 'digest'>,
    digest?: string,
  ) => {
    const seen = digest ?? (await pending.show(id)).digest;
    const body = { ...decision, digest: seen };
    const decided: PendingInfo = await call('POST /pendings/{id}/decision', { params: { id }, body });
    return toPendingDocument(decided);
  };
  const pending: Desk['pending'] = {
    page: pagePendings,
    list: async ({ runId: run, all = false } = {}) =>
      await Array.fromAsync(
        allPages(async (after) => {
          const page = await pagePendings({ run, status: all ? 'all' : 'open', limit: MAX_PAGE, after });
          return { ...page, items: page.pending };
        }),
      ),
    counts: async ({ since, by: _, ...filter } = {}) =>
      (await call('GET /pendings/counts', {
        query: { ...filter, since: since?.toISOString() },
      })) as Awaited<ReturnType<Desk['pending']['counts']>>,
    show: async (id) => await call('GET /pendings/{id}', { params: { id } }),
    check: async (id, { args } = {}) =>
      await call('POST /pendings/{id}/check', {
        params: { id },
        body: { ...(args !== undefined && { args: toJson(args) }) },
      }),
    approve: async (id, { args, reason, digest }) =>
      await decide(
        id,
        { decision: 'approve', ...(args !== undefined && { args: toJson(args) }), reason },
        digest,
      ),
    reject: async (id, { reason, digest }) => await decide(id, { decision: 'reject', reason }, digest),
    respond: async (id, { result, reason, digest }) =>
      await decide(id, { decision: 'respond', result, reason }, digest),
  };

  const pageRuns: Desk['runs']['page'] = async ({ labels = {}, since, until, ...filter } = {}) =>
    await call('GET /runs', {
      query: {
        ...filter,
        label: Object.entries(labels).map(([name, value]) => `${name}=${value}`),
        since: since?.toISOString(),
        until: until?.toISOString(),
      },
    });
  const documentOfRun = async (id: string): Promise<RunDocument> =>
    await call('GET /runs/{id}/document', { params: { id } });
  /** Waits for the end or the next pause of a run that the server has begun. */
  const follow = async (
    id: string,
    begin: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<RunDocument> => {
    try {
      await begin();
    } catch (error) {
      // As in a runtime, a run that has ended is only shown.
      if (!(error instanceof RuntimeError && error.code === 'RUN_ENDED')) throw error;
    }
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const { status }: RunSummary = await call('GET /runs/{id}', { params: { id }, signal });
      if (status !== 'running' && status !== 'queued') return await documentOfRun(id);
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        const message = `this command no longer waits for run ${id}, which continues at ${base}`;
        throw new RuntimeError('ABORTED', message, { details: { run_id: id } });
      });
    }
  };
  return {
    ...{ remote: url, file: url, overlays: [], isDurable: true, pending },
    runs: {
      page: pageRuns,
      list: async ({ limit, ...filter } = {}) => {
        if (limit !== undefined) return [...(await pageRuns({ ...filter, limit })).runs];
        return await Array.fromAsync(
          allPages(async (after = filter.after) => {
            const page = await pageRuns({ ...filter, limit: MAX_PAGE, after });
            return { ...page, items: page.runs };
          }),
        );
      },
      summary: async (id, { maxCharacters = 0 } = {}) =>
        await call('GET /runs/{id}', { params: { id }, query: { max_characters: maxCharacters } }),
      show: async (id, { maxCharacters = 0 } = {}) =>
        await call('GET /runs/{id}/details', { params: { id }, query: { max_characters: maxCharacters } }),
      steps: async function* (id, { step, maxCharacters = 0 } = {}) {
        let unfinished: readonly StepDetails[] = [];
        yield* allPages(async (after) => {
          const query = { step, after, limit: MAX_PAGE, max_characters: maxCharacters };
          const page: StepPage = await call('GET /runs/{id}/steps', { params: { id }, query });
          unfinished = page.open ?? unfinished;
          return { ...page, items: page.steps };
        });
        yield* unfinished;
      },
      resumable: refuse,
      queueRetry: refuse,
      cancel: async (id, { reason }) => {
        await call('POST /runs/{id}/cancel', { params: { id }, body: { reason } });
        return await documentOfRun(id);
      },
      resume: async (id, { signal } = {}) =>
        await follow(
          id,
          async () => await call('POST /runs/{id}/resume', { params: { id }, body: {} }),
          signal,
        ),
      retry: async (id, { from, signal } = {}) =>
        await follow(
          id,
          async () => await call('POST /runs/{id}/retry', { params: { id }, body: { from } }),
          signal,
        ),
    },
    decisions: {
      page: async ({ since, until, ...filter } = {}) =>
        await call('GET /decisions', {
          query: { ...filter, since: since?.toISOString(), until: until?.toISOString() },
        }),
      counts: async ({ since, until, ...filter } = {}) =>
        await call('GET /decisions/counts', {
          query: { ...filter, since: since?.toISOString(), until: until?.toISOString() },
        }),
    },
  };
}

interface Asked<Path extends keyof Api> {
  readonly params?: ParamsOf<Path>;
  readonly query?: Given<QueryOf<Api[Path]>>;
  readonly body?: Given<BodyOf<Api[Path]>>;
  readonly signal?: AbortSignal | undefined;
}

type Given<Members> = { readonly [Key in keyof Members]: Members[Key] | undefined };

async function refuse(): Promise<never> {
  throw new RuntimeError('USAGE', 'this needs the runtime itself, and --remote has only its API', {
    hint: 'Run the command on the machine of the runtime, or give the id of a run.',
  });
}

const MAX_PAGE = 1_000;
const LONGEST_PAUSE_MS = 1_000;

/** The address before `/api/v1`. Throws USAGE. */
function readAddress(text: string): string {
  const url = URL.parse(text);
  const fail = (why: string, hint: string) => new RuntimeError('USAGE', `--remote ${why}`, { hint });
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw fail('is not the address of a console', 'Write it like https://ops.example.com/console.');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw fail('must be an address without a key, because other users of the machine can read it', keyHint);
  if (url.protocol === 'http:' && !isLoopbackName(url.host))
    throw fail(
      'sends a key, so it must be https, or http to this machine',
      'Write it like https://ops.example.com/console.',
    );
  return `${url.origin}${url.pathname.replace(/\/(?:console\/?)?$/, '')}`;
}

const keyHint = 'Put the key into the environment variable SIGNALBOX_KEY.';

function toSearch(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, String(each));
  return search.size === 0 ? '' : `?${search}`;
}

function toJson(given: unknown): Json {
  return typeof given === 'string' ? new Json(given) : Json.from(given);
}

/** Undefined if the text is not a JSON object. Its parts keep their exact text. */
function documentOf(text: string): object | undefined {
  try {
    const json = Json.parse(text.trim());
    if (!isObject(json.value)) return undefined;
    keepExactForms(json.value, json, LEVELS);
    return json.value;
  } catch {
    return undefined;
  }
}

/** Deep enough for what a command prints of a step of a page. */
const LEVELS = 8;

function errorOf(base: string, { error, pending }: Readonly<Record<string, unknown>>): RuntimeError {
  const { code, message, hint = '', path } = isObject(error) ? error : {};
  if (typeof code !== 'string' || typeof message !== 'string')
    return failedError(base, 'answered with an error without a code');
  if (!isErrorCode(code)) {
    const isRefused = ['unauthorized', 'invalid_token', 'insufficient_scope'].includes(code);
    if (!isRefused) return failedError(base, `refused the request: ${message}`);
    return new RuntimeError('USAGE', `${base} refused the key: ${message}`, { hint: keyHint });
  }
  const decision = isObject(pending) ? toPendingDocument(pending as unknown as PendingInfo) : undefined;
  return new RuntimeError(code, message, {
    ...(typeof hint === 'string' && { hint }),
    details: { ...(decision && { decision }), ...(path !== undefined && { path }) },
  });
}

function failedError(base: string, what: string, cause?: unknown): RuntimeError {
  return new RuntimeError('REMOTE_FAILED', `the console at ${base} ${what}`, { cause });
}

function whyOf(cause: unknown): string {
  return cause instanceof Error ? [cause.message, Reflect.get(cause, 'code')].find(Boolean) : String(cause);
}

/** Without what follows the config, as decisions return it. */
function toPendingDocument(info: PendingInfo): PendingDocument {
  const members = exactMembers(new Json(stringifyJson(info)));
  const kept = [...members].filter(([name]) => !ofInfo.has(name));
  return toDocument<PendingDocument>(Object.fromEntries(kept) as never);
}

const ofInfo: ReadonlySet<string> = new Set([
  'digest',
  'use',
  'args_cut',
  'deciders',
  'choices',
  'input_schema',
  'run',
  'caller',
] satisfies (keyof PendingInfo)[]);

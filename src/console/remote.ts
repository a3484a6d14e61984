import { setTimeout as sleep } from 'node:timers/promises';
import { isErrorCode, RuntimeError } from '../base/errors.ts';
import { isObject, Json, stringifyJson } from '../base/json/json.ts';
import { keepExactForms } from '../base/json/scan.ts';
import { readAtMost } from '../base/text/bytes.ts';
import { isLoopbackName } from '../base/text/url.ts';
import { compileDataSchema } from '../base/yaml/data-schema.ts';
import type { PendingDocument, PendingInfo } from '../contract/approval.ts';
import type { RunDocument, RunSummary, StepDetails } from '../contract/run.ts';
import { openFetch, type Runtime } from '../runtime/runtime.ts';
import { guard } from './api/guard.ts';
import { pendings } from './api/pendings.ts';
import { runs } from './api/runs.ts';
import type { BodyOf, ParamsOf, QueryOf } from './api/schema.ts';

/** What a command needs of a runtime to show and decide: a runtime, or the console of one on another machine. */
export interface Desk extends Pick<Runtime, 'isDurable' | 'file' | 'overlays'> {
  readonly pending: Omit<Runtime['pending'], 'outcome' | 'issueTicket' | 'useTicket'>;
  readonly runs: Omit<Runtime['runs'], 'document' | 'principal' | 'prune' | 'queue'>;
  readonly decisions: Omit<Runtime['decisions'], 'conversation'>;
  /** The address of the console. */
  readonly remote?: string | undefined;
}

export interface RemoteOptions {
  /** `sbx_…`, or the token that a console without keys prints. Decisions have its name. */
  readonly key: string | undefined;
  /** Ends every request. */
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
}

type Api = typeof pendings & typeof runs & typeof guard;
const declarations: Api = { ...pendings, ...runs, ...guard };

/**
 * The pending calls, runs and decisions of a console, over its API. Methods throw the errors of the runtime there, and
 * REMOTE_FAILED if it cannot be reached. `by` of a decision is ignored: the key names the person. Throws USAGE.
 */
export function openRemote(url: string, { key, signal: ending, fetch: given }: RemoteOptions): Desk {
  const base = readAddress(url);
  // `fetch` would quote it in its error.
  if (key !== undefined && !/^[\x21-\x7e]*$/.test(key))
    throw new RuntimeError('USAGE', 'the key for --remote has a character that no key has', {
      hint: keyHint,
    });
  const fetch = given ?? openFetch({ named: base, privateHosts: [new URL(base).hostname] });
  const call = async <Reply extends object, Path extends keyof Api & string>(
    path: Path,
    { params, query, body, signal }: Asked<Path> = {},
  ): Promise<Reply> => {
    const [method = '', place = ''] = path.split(' ');
    const filled = place.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(Reflect.get(params ?? {}, name))),
    );
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const late = AbortSignal.timeout(ANSWER_MS);
    const stops = [ending, signal].filter((each) => each !== undefined);
    const send = async () => {
      const sent = {
        method,
        headers,
        body: body === undefined ? null : stringifyJson(body),
        signal: AbortSignal.any([...stops, late]),
      };
      const reply = await fetch(`${base}/api/v1${filled}${toSearch({ ...query })}`, sent);
      const read = await readAtMost(reply.body ?? [], MAX_BYTES);
      return { ok: reply.ok, status: reply.status, read };
    };
    const { ok, status, read } = await send().catch((cause: unknown) => {
      for (const stop of stops) stop.throwIfAborted();
      if (late.aborted) throw failedError(base, `gave no answer within ${ANSWER_MS / 1000} seconds`, cause);
      throw failedError(base, `cannot be reached: ${whyOf(cause)}`, cause);
    });
    if (read === undefined) throw failedError(base, `gave an answer of more than ${MAX_BYTES} bytes`);
    const text = Buffer.from(read.buffer, read.byteOffset, read.byteLength).toString();
    const document = documentOf(text);
    if (document === undefined) throw failedError(base, `answered ${status} without a JSON object`);
    if (!ok) throw errorOf(base, { ...document });
    const after: unknown = Reflect.get(query ?? {}, 'after');
    if (after !== undefined && Reflect.get(document, 'next') === after)
      throw failedError(base, 'gave the same page twice');
    if (compileDataSchema({ ...declarations[path].response }, { hasFormats: true })(document))
      // The documents of the API are those of the runtime.
      return document as Reply;
    throw failedError(base, 'gave an answer that this version does not understand');
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

  const pagePendings: Desk['pending']['page'] = async ({ by: _, maxCharacters = 0, ...filter } = {}) =>
    await call('GET /pendings', { query: { ...filter, max_characters: maxCharacters } });
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
    counts: async ({ by: _, ...query } = {}) => await call('GET /pendings/counts', { query }),
    show: async (id) => await call('GET /pendings/{id}', { params: { id } }),
    check: async (id, { args } = {}) =>
      await call('POST /pendings/{id}/check', { params: { id }, body: { args } }),
    approve: async (id, { args, reason, digest }) =>
      await decide(id, { decision: 'approve', args, reason }, digest),
    reject: async (id, { reason, digest }) => await decide(id, { decision: 'reject', reason }, digest),
    respond: async (id, { result, reason, digest }) =>
      await decide(id, { decision: 'respond', result, reason }, digest),
  };

  const pageRuns: Desk['runs']['page'] = async ({ labels = {}, ...filter } = {}) => {
    const label = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    return await call('GET /runs', { query: { ...filter, label } });
  };
  const pageSteps: Desk['runs']['pageSteps'] = async (id, { maxCharacters = 0, ...page } = {}) =>
    await call('GET /runs/{id}/steps', { params: { id }, query: { ...page, max_characters: maxCharacters } });
  const documentOfRun = async (id: string): Promise<RunDocument> =>
    await call('GET /runs/{id}/document', { params: { id } });
  /** Waits for the end or the next pause of a run that the server has begun. */
  const follow = async (
    id: string,
    begun: Promise<unknown>,
    signal: AbortSignal | undefined,
  ): Promise<RunDocument> => {
    try {
      await begun;
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
      pageSteps,
      steps: async function* (id, { step, maxCharacters = 0 } = {}) {
        let unfinished: readonly StepDetails[] = [];
        yield* allPages(async (after) => {
          const page = await pageSteps(id, { step, after, limit: MAX_PAGE, maxCharacters });
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
        await follow(id, call('POST /runs/{id}/resume', { params: { id }, body: {} }), signal),
      retry: async (id, { from, signal } = {}) =>
        await follow(id, call('POST /runs/{id}/retry', { params: { id }, body: { from } }), signal),
    },
    decisions: {
      page: async (query = {}) => await call('GET /decisions', { query }),
      counts: async (query = {}) => await call('GET /decisions/counts', { query }),
    },
  };
}

interface Asked<Path extends keyof Api> {
  readonly params?: ParamsOf<Path>;
  readonly query?: Given<QueryOf<Api[Path]>, Date>;
  readonly body?: Given<BodyOf<Api[Path]>>;
  readonly signal?: AbortSignal | undefined;
}

type Given<Members, More = never> = { readonly [Key in keyof Members]: Members[Key] | More | undefined };

async function refuse(): Promise<never> {
  throw new RuntimeError('USAGE', 'this needs the runtime itself, and --remote has only its API', {
    hint: 'Run the command on the machine of the runtime, or give the id of a run.',
  });
}

const MAX_PAGE = 1_000;
/** A console may wait 30 seconds for a locked store. */
const ANSWER_MS = 120_000;
const MAX_BYTES = 256 * 1024 * 1024;
const LONGEST_PAUSE_MS = 1_000;

/** The address before `/api/v1`, of any page of the console. Throws USAGE. */
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
  return `${url.origin}${url.pathname.replace(/\/(?:console(?:\/(?:(?:inbox|runs|evals|guard)(?:\/.*)?)?)?)?$/, '')}`;
}

const keyHint = 'Put the key into the environment variable SIGNALBOX_KEY.';
const refusalHints: Readonly<Record<string, string>> = {
  invalid_token:
    'The key in SIGNALBOX_KEY may be that of another console, or revoked. `signalbox keys list` there shows its keys.',
  insufficient_scope:
    'Use a key of another role in SIGNALBOX_KEY: an approver decides calls, and an admin also controls runs.',
};

function toSearch(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat())
      if (each !== undefined) search.append(name, each instanceof Date ? each.toISOString() : String(each));
  return search.size === 0 ? '' : `?${search}`;
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
  const { code, message, hint, path } = isObject(error) ? error : {};
  if (typeof code !== 'string' || typeof message !== 'string')
    return failedError(base, 'answered with an error without a code');
  // A fault of the server has no stack here.
  if (!isErrorCode(code) || code === 'INTERNAL') {
    const isRefused = ['unauthorized', 'invalid_token', 'insufficient_scope'].includes(code);
    if (!isRefused) return failedError(base, `refused the request: ${message}`);
    return new RuntimeError('USAGE', `${base} refused the key: ${message}`, {
      hint: refusalHints[code] ?? keyHint,
    });
  }
  const decision = isObject(pending) ? toPendingDocument(pending as unknown as PendingInfo) : undefined;
  return new RuntimeError(code, message, {
    // The API leaves out empty hints, and that of the command line.
    ...(code !== 'USAGE' || typeof hint === 'string' ? { hint: String(hint ?? '') } : {}),
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
  const { digest, use, args_cut, deciders, choices, input_schema, run, caller, ...document } = info;
  return document;
}

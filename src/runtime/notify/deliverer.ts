import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { toDocument } from '../../base/json/document-builder.ts';
import { stringifyJson } from '../../base/json/json.ts';
import type { NotifyConfig, RuntimeConfig } from '../../config/config.ts';
import { usualLimits } from '../../config/exec.ts';
import { consoleLinkOf } from '../../config/mcp.ts';
import { configOptions } from '../../config/overlay/identity.ts';
import type { Emit } from '../../contract/event.ts';
import type { Redact } from '../../contract/scrub.ts';
import { iso, toPendingDocument } from '../../pipelines/run/document.ts';
import { shortenJson } from '../../pipelines/show/shorten-json.ts';
import type { HostEnv } from '../../process/env.ts';
import { openHttp } from '../../process/http.ts';
import { openUnpooled } from '../../process/open.ts';
import type { ProcessContext } from '../../process/process.ts';
import type { Transport } from '../../process/transport.ts';
import { type Notice, type NoticeEvent, type NoticeRule, noticeEvents } from '../../store/outbox.ts';
import type { Store } from '../../store/store.ts';
import { resolveEntry } from '../binding/resolve.ts';
import { redactDocument } from '../runs/serve.ts';

export interface Deliverer {
  kick(): void;
  /** Delivers due notices for a short time; undelivered ones stay due. Never rejects. */
  close(): Promise<void>;
}

export interface DelivererContext {
  readonly store: Store;
  readonly targets: readonly Target[];
  readonly emit: Emit;
  readonly redact: Redact;
  /** The address of the console's page. */
  readonly consoleUrl: string | undefined;
}

export function openDeliverer(context: DelivererContext): Deliverer {
  const { store, targets, emit } = context;
  const ids = targets.map(({ id }) => id);
  const giveUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let isWanted = false;
  let isClosing = false;
  const note = (message: string) => emit({ type: 'note', name: 'notify', level: 'warn', message });
  const leaseMs = Math.max(0, ...targets.map(({ timeoutMs }) => timeoutMs)) + LEASE_MARGIN_MS;
  const work = async () => {
    while (isWanted && !giveUp.signal.aborted) {
      isWanted = false;
      const taken = await store.outbox.take(ids, Date.now(), { leaseMs, limit: AT_ONCE });
      await Promise.all(taken.map((notice) => deliver(notice, context, giveUp.signal)));
      if (taken.length > 0) isWanted = true;
    }
    if (isClosing) return;
    const nextMs = (await store.outbox.nextDue(ids, Date.now())) ?? LONGEST_PAUSE_MS;
    timer = setTimeout(kick, Math.min(Math.max(nextMs, 50), LONGEST_PAUSE_MS)).unref();
  };
  const kick = () => {
    isWanted = true;
    clearTimeout(timer);
    working ??= work()
      .catch((error: unknown) => {
        if (!giveUp.signal.aborted) note(`notifications cannot be sent: ${toRuntimeError(error).message}`);
        if (!isClosing) timer = setTimeout(kick, LONGEST_PAUSE_MS).unref();
      })
      .finally(() => {
        working = undefined;
        if (isWanted && !giveUp.signal.aborted) kick();
      });
  };
  return {
    kick,
    close: async () => {
      isClosing = true;
      clearTimeout(timer);
      kick();
      const idle = async () => {
        while (working !== undefined) await working;
      };
      const over = new AbortController();
      const pause = sleep(END_MS, undefined, { signal: over.signal }).catch(() => {});
      await Promise.race([idle(), pause]);
      over.abort();
      giveUp.abort();
      await idle();
      await Promise.all(targets.map((target) => target.close()));
    },
  };
}

const AT_ONCE = 8;
/** The time that an attempt may exceed its timeout. After the lease, an attempt of a killed process is repeated. */
const LEASE_MARGIN_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const END_MS = 2_000;

async function deliver(
  notice: Notice,
  { targets, emit, ...context }: DelivererContext,
  signal: AbortSignal,
): Promise<void> {
  const { seq, attempts, event, runId } = notice;
  const { store } = context;
  const target = targets.find(({ id }) => id === notice.target);
  if (target === undefined) return;
  try {
    const body = await readNotice(notice, context);
    if (body !== undefined) await target.tell(body, signal);
    await store.outbox.remove(seq);
  } catch (thrown) {
    const { message } = toRuntimeError(thrown);
    const pauseMs = signal.aborted ? 0 : pauseAfter(attempts);
    await store.outbox.postpone(seq, Date.now(), pauseMs);
    const later = signal.aborted ? 'with the next command' : `in ${Math.round(pauseMs / 1000)} s`;
    emit({
      ...{ type: 'note', name: target.name, level: 'warn' },
      message: `could not be notified that run ${runId} is ${event}; next attempt ${later}: ${message}`,
    });
  }
}

/** 1 s, 2 s, 4 s, … up to an hour, with jitter. */
function pauseAfter(attempts: number): number {
  return Math.min(1_000 * 2 ** (attempts - 1), 3_600_000) * (0.9 + 0.2 * Math.random());
}

/** The JSON for a target, with secrets redacted; undefined if the run was removed. Throws STORE_FAILED. */
async function readNotice(
  notice: Notice,
  { store, redact, consoleUrl }: Pick<DelivererContext, 'store' | 'redact' | 'consoleUrl'>,
): Promise<string | undefined> {
  const { runId, event, pendingId, madeAt, attempts } = notice;
  const own = await store.findRun(runId);
  // Users know the outermost run, which they started.
  const run = own?.parent === undefined ? own : await store.findRun(own.parent.root);
  const pending = pendingId === null ? undefined : await store.findPending(pendingId, Date.now());
  if (run === undefined || (pendingId !== null && pending === undefined)) return undefined;
  const { kind, name, file, status, labels } = run;
  const error = status === 'suspended' ? (run.suspension?.error ?? null) : run.error;
  const option = configOptions(run.config);
  const link =
    pendingId === null
      ? consoleLinkOf(consoleUrl, 'runs', run.id)
      : consoleLinkOf(consoleUrl, 'inbox', pendingId);
  const shown = pending && {
    ...pending,
    args: shortenJson(pending.args, LONGEST),
    members: shortenJson(pending.members, LONGEST),
  };
  const document = toDocument({
    event,
    id: `notice_${createHash('sha256').update(`${runId} ${event} ${pendingId} ${madeAt}`).digest('hex').slice(0, 16)}`,
    at: iso(madeAt),
    attempt: attempts,
    run: { run_id: run.id, kind, name, file, status, ...(labels && { labels }), error },
    ...(shown && { pending: toPendingDocument(shown) }),
    ...(link !== undefined && { link }),
    commands: {
      ...(event === 'pending' &&
        pendingId !== null && {
          approve: `signalbox pending approve ${pendingId}${option}`,
          reject: `signalbox pending reject ${pendingId} --reason REASON${option}`,
          respond: `signalbox pending respond ${pendingId} --result JSON${option}`,
        }),
      ...(event === 'suspended' && { resume: `signalbox runs resume ${run.id}${option}` }),
      show: `signalbox runs show ${run.id}${option}`,
    },
  });
  return stringifyJson(redactDocument(document, redact));
}

const LONGEST = 10_000;

export interface Target {
  /** Derived from its declaration: equal on every machine, and different after a change. */
  readonly id: string;
  readonly name: string;
  readonly events: readonly NoticeEvent[];
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
  tell(body: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export function openTargets(
  config: RuntimeConfig,
  { host, process }: { readonly host: HostEnv; readonly process: ProcessContext },
): Target[] {
  return (config.notify ?? []).map((entry) => {
    const { name, exec, url, on, headers } = entry;
    const timeoutMs = entry.timeoutMs ?? usualLimits.hookTimeoutMs;
    const about = {
      id: idOf(entry, config),
      name,
      timeoutMs,
      events: noticeEvents.filter((each) => on.includes(each)),
    };
    if (exec !== undefined) {
      const { binding } = resolveEntry({ name, capability: 'hook', exec, timeoutMs }, config, host);
      return { ...about, secrets: binding.secrets, ...teller(openUnpooled(binding, process), name) };
    }
    const limits = { timeoutMs, maxOutputBytes: MOST_ANSWER_BYTES };
    const endpoint = { name, url: url ?? '', headers, privateHosts: config.privateHosts, ...limits };
    return { ...about, secrets: [], ...teller(openHttp(endpoint), name) };
  });
}

/** Only the status of a response is read. */
const MOST_ANSWER_BYTES = 1_000_000;

export function rulesOf(targets: readonly Target[]): NoticeRule[] {
  return targets.flatMap(({ id, events }) => events.map((event) => ({ target: id, event })));
}

function idOf({ exec, url }: NotifyConfig, { name }: RuntimeConfig): string {
  const what = JSON.stringify([name, exec?.command, exec?.args, url]);
  return createHash('sha256').update(what).digest('hex').slice(0, 16);
}

function teller(transport: Transport, name: string): Pick<Target, 'tell' | 'close'> {
  return {
    tell: async (body, signal) => {
      const reply = await transport.exchange({ method: 'notify', body }, signal);
      if (reply.via !== 'process') return;
      const { httpStatus, exitCode, signal: killedBy } = reply;
      if (httpStatus === undefined ? exitCode === 0 : httpStatus >= 200 && httpStatus < 300) return;
      const how =
        httpStatus === undefined
          ? `ended with ${exitCode === null ? `signal ${killedBy}` : `exit code ${exitCode}`}`
          : `answered with status ${httpStatus}`;
      throw new RuntimeError('TOOL_ERROR', `"${name}" ${how}`);
    },
    close: () => transport.close(),
  };
}

export function notifyingStore(store: Store, kick: () => void): Store {
  const kicked =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const result = await work(...given);
      kick();
      return result;
    };
  return {
    ...store,
    addPending: kicked(store.addPending),
    decide: kicked(store.decide),
    setRunStatus: kicked(store.setRunStatus),
    listExpired: kicked(store.listExpired),
  };
}

import { createHash } from 'node:crypto';
import { type RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { FreshText } from '../../base/json/compose.ts';
import { canonicalJson } from '../../base/json/equal.ts';
import { Json } from '../../base/json/json.ts';
import { fromSkeleton, LongJson, type LongText, PartedJson } from '../../base/json/parted.ts';
import { fenced } from '../../base/time/fence.ts';
import type { PendingRecord } from '../../contract/approval.ts';
import { KeptText, measureText, QuotedText, type TextMeasure } from '../../store/kept-text.ts';
import type { Claim, StepRecord, Store } from '../../store/store.ts';
import { answerRecord } from './answer-record.ts';
import { callRecord, type JournaledCall } from './call-record.ts';
import { announce, type JournalContext, resolveDecisions } from './decision-wait.ts';
import type { Journal, KeyOf } from './journal.ts';
import { type RecordKind, readRecord } from './record.ts';
import { toolCallsOf } from './requested-calls.ts';
import { type CurrentSteps, splitName, toCurrentSteps } from './retries.ts';

export interface EarlierRuns {
  /** The id of the first run, which call keys begin with. */
  readonly first: string;
  readonly records: readonly StepRecord[];
  readonly count: number;
}

/** The caller must hold the run's claim. */
export async function openJournal(
  store: Store,
  runId: string,
  context: JournalContext & { readonly claim: Claim },
  earlier?: EarlierRuns,
): Promise<Journal> {
  const outcomes = createKeptOutcomes();
  const cutOff = new Set<string>();
  const texts = createRunTexts(store, runId);
  const steps = toCurrentSteps(runId, context.isNew === true ? [] : await store.listSteps(runId));
  const { storedName, editionOf } = steps;
  for (const { step, outcome } of steps.redone) {
    if (outcome !== null) texts.add(outcome);
    if (mayHaveActed(outcome)) cutOff.add(splitName(step).path);
    else cutOff.delete(splitName(step).path);
  }
  for (const [step, { outcome }] of steps.current) {
    if (outcome === null) {
      cutOff.add(step);
      continue;
    }
    outcomes.set(step, outcome);
    texts.add(outcome);
  }
  const keys = keysOf(runId, steps, earlier);
  const { root = runId, place = '' } = context;
  const { claim, around } = context;
  const { requireHealthy, track } = trackStoreFailure();
  const isLive = () => claim.isLive() && around?.isLive() !== false;
  const admitBy = async (look: () => Promise<unknown>) => {
    requireHealthy();
    await around?.admit();
    await track(look());
    // Another write may have failed in the meantime.
    requireHealthy();
  };
  const { defer, settle } = createDeferred();
  return {
    ...{ runId, editionOf, retries: steps.retries, ...keys },
    ...{ around, fence: { isLive, admit: () => admitBy(() => claim.confirm()) } },
    ...(steps.last?.from !== undefined && { retriedFrom: steps.last.from }),
    now: () => track(store.now()),
    find: outcomes.find,
    forget: outcomes.forget,
    wasCutOff: (name) => cutOff.has(name),
    requireWritable: requireHealthy,
    settle,
    // No step has this name.
    adopt: (output) => texts.adopt('/output', output),
    step: async (name, work, { holdsSteps = false, isDeferred = holdsSteps, beginsInSlot = false } = {}) => {
      const known = outcomes.find(name);
      if (known !== undefined) return known;
      requireHealthy();
      const stored = storedName(name);
      let begun: Promise<unknown> | undefined;
      const begin = () => {
        // Deferred outcomes are stored first, in the same transaction if possible.
        begun = Promise.all([settle(), track(beginStep(store, runId, stored))]);
        return begun;
      };
      if (!holdsSteps && !beginsInSlot) await begin();
      let refusal: RuntimeError | undefined;
      const admit = async () => {
        try {
          // Storing the beginning also checks who owns the run.
          await admitBy(() => (begun === undefined ? begin() : claim.confirm()));
        } catch (error) {
          refusal ??= toRuntimeError(error, 'STORE_FAILED');
          throw error;
        }
      };
      const value = await (holdsSteps ? work() : fenced({ admit, isLive }, work));
      // The result of a refused start is not an outcome.
      if (refusal !== undefined) throw refusal;
      const outcome = texts.adopt(stored, value);
      const ending = track(store.endStep(runId, stored, outcome, Date.now()));
      if (isDeferred) defer(ending);
      else await ending;
      outcomes.set(name, outcome);
      return outcome;
    },
    withdraw: async (isInside, reason) => {
      const ruling = { kind: 'rejected', by: 'signalbox', reason } as const;
      const open = await track(store.listPendings({ runId: root, below: true, open: true }, Date.now()));
      for (const { id, step, parent, runId: own } of open) {
        const whole = `${parent === undefined ? '' : `${parent.step}/`}${step}`;
        const isOurs = own === runId || whole.startsWith(place);
        if (isOurs && isInside(own === runId ? step : whole.slice(place.length)))
          await track(store.decide(id, ruling, Date.now()));
      }
    },
    decide: async (calls, { notify, signal = context.signal }) => {
      requireHealthy();
      await settle();
      const records: PendingRecord[] = [];
      for (const call of calls) records.push(await track(store.addPending(call)));
      for (const record of records) {
        announce(record, context);
        if (record.ruling === null) await notify?.(record);
      }
      return await resolveDecisions(store, records, { ...context, signal });
    },
  };
}

/** Call keys depend on earlier calls of this run before a retry, and of earlier attempts. */
function keysOf(
  runId: string,
  steps: CurrentSteps,
  earlier: EarlierRuns | undefined,
): Pick<Journal, 'keyOf' | 'keyRunId'> {
  if (earlier === undefined) return steps.redone.length === 0 ? {} : { keyOf: createKeyOf(runId, steps) };
  const redone = [...earlier.records, ...steps.redone];
  const retries = earlier.count + steps.retries;
  return { keyOf: createKeyOf(runId, { ...steps, redone, retries }), keyRunId: earlier.first };
}

/** Whether repeated work may already have acted: it was interrupted, or its answer is missing. */
function mayHaveActed(outcome: Json | null): boolean {
  if (outcome === null) return true;
  try {
    const { outcome: came } = callRecord.read(outcome, '');
    return came.status === 'failed' && unansweredCodes.has(came.error.code);
  } catch {
    return false;
  }
}

const unansweredCodes: ReadonlySet<string> = new Set(['ABORTED', 'PROCESS_TIMEOUT', 'SERVER_EXIT']);

/** No step begins after a failed write: a full store may accept a beginning, but not the outcome. */
function trackStoreFailure() {
  let failure: RuntimeError | undefined;
  return {
    requireHealthy: () => {
      if (failure !== undefined) throw failure;
    },
    track: async <Result>(writing: Promise<Result>): Promise<Result> => {
      try {
        return await writing;
      } catch (error) {
        failure ??= toRuntimeError(error, 'STORE_FAILED');
        throw error;
      }
    },
  };
}

function createDeferred() {
  const deferred = new Set<Promise<void>>();
  return {
    defer: (ending: Promise<void>): void => {
      deferred.add(ending);
      // A failed write stays, so that `settle` reports it.
      ending.then(
        () => deferred.delete(ending),
        () => {},
      );
    },
    settle: async (): Promise<void> => void (await Promise.all(deferred)),
  };
}

async function beginStep(store: Store, runId: string, name: string): Promise<void> {
  await store.beginStep(runId, name, Date.now(), { unlessCancelled: true });
}

interface KeptOutcomes {
  find(name: string): Json | undefined;
  set(name: string, outcome: Json): void;
  /** Drops one loop iteration, such as `loop[3]`, and everything inside it. */
  forget(name: string): void;
}

/** Grouped by loop iteration, so that one is dropped without a scan of the others. */
function createKeptOutcomes(): KeptOutcomes {
  const parts = new Map<string, LoopPart>();
  const open = (name: string): LoopPart => {
    const known = parts.get(name);
    if (known !== undefined) return known;
    const made = { outcomes: new Map<string, Json>(), inner: new Set<string>() };
    parts.set(name, made);
    if (name !== '') open(partOf(name.slice(0, name.lastIndexOf('[')))).inner.add(name);
    return made;
  };
  const forget = (name: string): void => {
    for (const inner of parts.get(name)?.inner ?? []) forget(inner);
    parts.delete(name);
  };
  return {
    find: (name) => parts.get(partOf(name))?.outcomes.get(name),
    set: (name, outcome) => void open(partOf(name)).outcomes.set(name, outcome),
    forget: (name) => {
      forget(name);
      parts.get(partOf(name.slice(0, name.lastIndexOf('['))))?.inner.delete(name);
    },
  };
}

interface LoopPart {
  readonly outcomes: Map<string, Json>;
  readonly inner: Set<string>;
}

/** The innermost loop iteration: `a[1]/b[2]` of `a[1]/b[2]/c/call`; '' outside of loops. */
function partOf(name: string): string {
  return name.slice(0, name.lastIndexOf(']') + 1);
}

interface RunTexts {
  add(outcome: Json): void;
  /** Replaces texts that the run has already stored by references. */
  adopt(step: string, outcome: Json): Json;
}

export function createRunTexts(store: Pick<Store, 'readText'>, runId: string): RunTexts {
  const known = new Map<string, KeptText>();
  const add = (text: KeptText): KeptText => {
    const key = keyOf(text);
    if (!known.has(key)) known.set(key, text);
    return text;
  };
  const find = (text: string): KeptText | undefined => {
    const kept = known.get(keyOf(measureText(text)));
    return kept?.read() === text ? kept : undefined;
  };
  const adoptPart = (part: LongText, step: string, number: number): LongText => {
    if (!(part instanceof FreshText)) return part;
    const { text, string } = part;
    const same = find(text) ?? (string === undefined ? undefined : find(string));
    if (same !== undefined) return same.length === text.length ? same : new QuotedText(same);
    const place = { runId, step, number };
    return add(new KeptText(place, measureText(text), () => store.readText(place), text));
  };
  return {
    add: (outcome) => {
      for (const text of keptTextsOf(outcome)) add(text);
    },
    adopt: (step, outcome) => {
      if (outcome instanceof LongJson) return new LongJson(adoptPart(outcome.long, step, 0));
      if (!(outcome instanceof PartedJson)) return outcome;
      const parts = outcome.parts.map((part, number) => adoptPart(part, step, number));
      return fromSkeleton(outcome.skeleton, parts);
    },
  };
}

function keyOf({ length, hash }: TextMeasure): string {
  return `${length}:${hash}`;
}

function keptTextsOf(outcome: Json): KeptText[] {
  return outcome instanceof PartedJson ? outcome.parts.filter((part) => part instanceof KeptText) : [];
}

function createKeyOf(runId: string, { current, redone, retries }: CurrentSteps): KeyOf {
  const earlier = Map.groupBy(earlierCalls(runId, redone), ({ scope }) => scope);
  const taken = new Set([...current.values()].flatMap((record) => keyIn(runId, record)));
  return (path, key, asked) => {
    const { scope, isChat } = scopeOf(path);
    const calls = earlier.get(scope);
    if (calls === undefined) return key;
    const signature = signatureOf(asked.tool, asked.args);
    // The arguments of an interrupted call are unknown, so it may have been this one.
    const same = calls.find(
      (call) =>
        (call.signature === signature || (!isChat && call.signature === undefined)) &&
        !(isChat && taken.has(call.key)),
    );
    const chosen = same?.key ?? `${key}~${retries}`;
    if (isChat) taken.add(chosen);
    return chosen;
  };
}

interface EarlierCall {
  readonly scope: string;
  readonly key: string;
  readonly signature: string | undefined;
}

const ofChat = /^(.+?)\/attempt-\d+\/(?:.+\/)?call-\d+$/;

/** Calls are compared within a step or a chat, where a model may call in any order. */
function scopeOf(path: string): { readonly scope: string; readonly isChat: boolean } {
  const chat = ofChat.exec(path)?.[1];
  return chat === undefined ? { scope: keyOfStep(path), isChat: false } : { scope: chat, isChat: true };
}

function keyOfStep(path: string): string {
  return path.replace(/\/retry-\d+\/call$/, '/call');
}

function earlierCalls(runId: string, redone: readonly StepRecord[]): EarlierCall[] {
  const answers = new Map<string, StepRecord>();
  // The latest first: its key also belongs to earlier calls with the same request.
  const calls: EarlierCall[] = [];
  for (const record of redone) {
    const { step } = record;
    if (!/\/call(?:-\d+)?$/.test(step)) answers.set(step, record);
    else calls.unshift(toEarlierCall(runId, record, answers));
  }
  return calls;
}

function toEarlierCall(
  runId: string,
  record: StepRecord,
  answers: ReadonlyMap<string, StepRecord>,
): EarlierCall {
  const { step } = record;
  const kept = readKept(runId, callRecord, record);
  const { scope, isChat } = scopeOf(step);
  const asked = kept?.tool === undefined || kept.args === undefined ? undefined : { ...kept };
  const known = asked ?? (isChat ? requestOf(runId, step, answers) : undefined);
  const signature =
    known?.tool === undefined || known.args === undefined ? undefined : signatureOf(known.tool, known.args);
  return { scope, key: kept?.key ?? (isChat ? step : keyOfStep(step)), signature };
}

function requestOf(
  runId: string,
  step: string,
  answers: ReadonlyMap<string, StepRecord>,
): Partial<Pick<JournaledCall, 'tool' | 'args'>> | undefined {
  const [, round = '', position = ''] = /^(.+)\/call-(\d+)$/.exec(step) ?? [];
  const record = answers.get(round);
  const answer = record && readKept(runId, answerRecord, record);
  if (answer === undefined || 'error' in answer) return undefined;
  const call = toolCallsOf(answer.message)[Number(position) - 1];
  return call && { tool: call.name, args: new Json(call.args) };
}

function keyIn(runId: string, record: StepRecord): string[] {
  if (!/\/call-\d+$/.test(record.step)) return [];
  const key = readKept(runId, callRecord, record)?.key;
  return key === undefined ? [] : [key];
}

function readKept<Value>(
  runId: string,
  kind: RecordKind<Value>,
  { step, outcome }: StepRecord,
): Value | undefined {
  try {
    return outcome === null ? undefined : readRecord(kind, outcome, { run: runId, step });
  } catch {
    return undefined;
  }
}

function signatureOf(tool: string, args: Json): string {
  return createHash('sha256')
    .update(`${tool}\n${spelling(args)}`)
    .digest('hex');
}

/** The order of members does not distinguish arguments. */
function spelling({ text }: Json): string {
  try {
    return canonicalJson(new Json(text).toJSON());
  } catch {
    return text;
  }
}

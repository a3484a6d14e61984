import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/json/equal.ts';
import { Json } from '../../base/json/json.ts';
import type { StepRecord } from '../../store/store.ts';
import { answerRecord } from './answer-record.ts';
import { callRecord, type JournaledCall } from './call-record.ts';
import type { KeyOf } from './journal.ts';
import { type RecordKind, readRecord } from './record.ts';
import { toolCallsOf } from './requested-calls.ts';
import type { CurrentSteps } from './retries.ts';

/** The keys of calls in a run that was retried. */
export function createKeyOf(runId: string, { current, redone, retries }: CurrentSteps): KeyOf {
  const earlier = Map.groupBy(earlierCalls(runId, redone), ({ scope }) => scope);
  const taken = new Set([...current.values()].flatMap((record) => keyIn(runId, record)));
  return (path, key, asked) => {
    const { scope, isChat } = scopeOf(path);
    const calls = earlier.get(scope);
    if (calls === undefined) return key;
    const signature = signatureOf(asked.tool, asked.args);
    // Of a call that was cut off nobody knows what it was given: it may have been this.
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
  /** Undefined: not known. */
  readonly signature: string | undefined;
}

const ofChat = /^(.+?)\/attempt-\d+\/(?:.+\/)?call-\d+$/;

/** Where calls are compared: a step, or a chat, in which a model asks for calls in any order. Undefined: it is no call. */
function scopeOf(path: string): { readonly scope: string; readonly isChat: boolean } {
  const chat = ofChat.exec(path)?.[1];
  return chat === undefined ? { scope: keyOfStep(path), isChat: false } : { scope: chat, isChat: true };
}

/** The key of all attempts at a tool step. */
function keyOfStep(path: string): string {
  return path.replace(/\/retry-\d+\/call$/, '/call');
}

function earlierCalls(runId: string, redone: readonly StepRecord[]): EarlierCall[] {
  const answers = new Map<string, StepRecord>();
  // The latest first, whose key is that of all before it which asked for the same.
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

/** What the model asked for, of a call that was cut off or kept by an earlier version. */
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

/** The key that was kept with a call, where it is not that of its place. */
function keyIn(runId: string, record: StepRecord): string[] {
  if (!/\/call-\d+$/.test(record.step)) return [];
  const key = readKept(runId, callRecord, record)?.key;
  return key === undefined ? [] : [key];
}

/** Undefined for what has not ended, and what is no such record. */
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

/** Members in whatever order are the same arguments. */
function spelling({ text }: Json): string {
  try {
    return canonicalJson(new Json(text).toJSON());
  } catch {
    return text;
  }
}

import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { catalogue, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { type Decision, type HookEvent, withoutFaultText } from '../../contract/hook.ts';

export interface FireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Call the filters only, not observers and shadows. */
  readonly filtersOnly?: boolean | undefined;
}

/** The decision of a chain of hooks, and the event with its filters' changes. */
export interface FireResult {
  readonly decision: Decision;
  readonly event: HookEvent;
}

/** Takes an event through every hook of its phase. A rejection counts as a denial. */
export type Fire = (event: HookEvent, options: FireOptions) => Promise<FireResult>;

export type BeforeCall = Extract<HookEvent, { readonly phase: 'before_call' }>;
export type AfterCall = Extract<HookEvent, { readonly phase: 'after_call' }>;
type ProviderEvent = BeforeCall | AfterCall;
type ProviderPhase = ProviderEvent['phase'];

/** What the guard does with an event: pass it on, answer in the model's place, or refuse. */
export type GuardOutcome<Event extends ProviderEvent> =
  | { readonly kind: 'pass'; readonly event: Event; readonly decision: Decision }
  | { readonly kind: 'answer'; readonly answer: SubstituteAnswer; readonly decision: Decision }
  | Refusal;

export interface Refusal {
  readonly kind: 'refuse';
  /** DENIED. */
  readonly error: RuntimeError;
  readonly decision: Decision;
}

/** A text that a hook gives instead of the model's. */
export interface SubstituteAnswer {
  readonly text: string;
  readonly finishReason: LanguageModelV4FinishReason;
}

/** Asks the hooks of a phase. Passes on two affirmatives only, allow and modify; never rejects. */
export async function askHooks<Event extends ProviderEvent>(
  fire: Fire,
  event: Event,
  options: FireOptions,
): Promise<GuardOutcome<Event>> {
  try {
    const { decision, event: filtered } = await fire(event, options);
    return toGuardOutcome(event, decision, filtered);
  } catch (error) {
    return createFaultRefusal(event.phase, error);
  }
}

function toGuardOutcome<Event extends ProviderEvent>(
  sent: Event,
  decision: Decision,
  filtered: HookEvent,
): GuardOutcome<Event> {
  // As text: a verdict that is not known here must not pass.
  const verdict: string = decision.verdict;
  const hookName = decision.hook ?? 'a hook';
  if (verdict === 'allow' || verdict === 'modify') {
    if (isOfPhase(filtered, sent)) return { kind: 'pass', event: filtered, decision };
    return createFaultRefusal(sent.phase, new RuntimeError('INTERNAL', 'the event changed its phase'));
  }
  if (verdict === 'respond' && decision.result !== null) {
    const finishReason = { unified: 'stop', raw: `signalbox: answered by ${hookName}` } as const;
    return { kind: 'answer', answer: { text: textOf(decision.result), finishReason }, decision };
  }
  if (verdict === 'deny' && decision.enforced && decision.result !== null) {
    return {
      kind: 'answer',
      answer: { text: textOf(decision.result), finishReason: denialFinishReason(decision) },
      decision,
    };
  }
  return createRefusal(sent.phase, decision);
}

function textOf({ value, text }: Json): string {
  return typeof value === 'string' ? value : text;
}

function isOfPhase<Event extends ProviderEvent>(event: HookEvent, asked: Event): event is Event {
  return event.phase === asked.phase;
}

/** The finish reason of an answer that a hook has denied. */
export function denialFinishReason({ hook }: Decision): LanguageModelV4FinishReason {
  return { unified: 'content-filter', raw: `signalbox: denied by ${hook ?? 'a hook'}` };
}

/** The denial of a decision, as an error that quotes nothing but the hook's own words. */
function createRefusal(phase: ProviderPhase, given: Decision): Refusal {
  const decision = withoutFaultText(given);
  const { hook, metadata, error, abort } = decision;
  const reason = reasonOf(decision);
  const what = phase === 'before_call' ? 'denied the model call' : 'withheld the model’s answer';
  const details = {
    hook,
    reason,
    metadata: metadata.value,
    phase,
    ...(error !== undefined && { error: error.code }),
    ...(abort !== null && { abort }),
  };
  const who = hook === null ? 'a hook' : `hook "${hook}"`;
  return {
    kind: 'refuse',
    error: new RuntimeError('DENIED', `${who} ${what}: ${reason}`, { details }),
    decision,
  };
}

/**
 * A refusal without a hook's denial: the hooks could not be called, or their replacement cannot be used. Only
 * messages of our own mapping are repeated; other errors may quote the data they are about.
 */
export function createFaultRefusal(phase: ProviderPhase, thrown: unknown, by?: Decision): Refusal {
  const { code, message } = toRuntimeError(thrown);
  const isSafeMessage =
    by !== undefined ? code === 'REPLY_MALFORMED' : phase === 'before_call' && code === 'EVENT_INVALID';
  const cause = isSafeMessage ? message : catalogue[code].summary;
  return createRefusal(phase, {
    verdict: 'deny',
    hook: by?.hook ?? null,
    dialect: by?.dialect ?? null,
    reason: `${by === undefined ? 'the hooks could not be asked' : 'its replacement cannot be used'}: ${cause}`,
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: by?.metadata ?? noMetadata,
  });
}

/** The denial of an answer that does not begin with what the reader has of it already. */
export function createContradictionRefusal(decision: Decision): Refusal {
  const reason = 'what the hooks made of the whole answer does not begin with what had already gone out';
  return createRefusal('after_call', { ...decision, verdict: 'deny', reason, replace: null });
}

const noMetadata = new Json('{}');

function reasonOf({ verdict, reason }: Decision): string {
  if (reason !== '') return reason;
  return verdict === 'deny' ? 'no reason given' : `its verdict "${verdict}" has no meaning here`;
}

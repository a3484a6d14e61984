import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { Decision, HookEvent } from '../../contract/hook.ts';
import { catalogue, RuntimeError, toRuntimeError } from '../../errors.ts';
import { Json } from '../../json/json.ts';

export interface FireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Ask the filters; observers and shadows are not told. */
  readonly filtersOnly?: boolean | undefined;
}

/** What a chain of hooks came to, and the event as its filters left it. */
export interface Fired {
  readonly decision: Decision;
  readonly event: HookEvent;
}

/** Takes an event through every hook of its phase. A rejection counts as a denial. */
export type Fire = (event: HookEvent, options: FireOptions) => Promise<Fired>;

export type BeforeCall = Extract<HookEvent, { readonly phase: 'before_call' }>;
export type AfterCall = Extract<HookEvent, { readonly phase: 'after_call' }>;
type ProviderEvent = BeforeCall | AfterCall;
type ProviderPhase = ProviderEvent['phase'];

/** What the guard does: lets the event pass, answers in the model's place, or throws. */
export type Ruling<Event extends ProviderEvent> =
  | { readonly kind: 'pass'; readonly event: Event; readonly decision: Decision }
  | { readonly kind: 'answer'; readonly answer: StandIn; readonly decision: Decision }
  | Refusal;

export interface Refusal {
  readonly kind: 'refuse';
  /** DENIED. */
  readonly error: RuntimeError;
  readonly decision: Decision;
}

/** A text that a hook gives instead of the model's. */
export interface StandIn {
  readonly text: string;
  readonly finishReason: LanguageModelV4FinishReason;
}

/** Asks the hooks of a phase. Passes on two affirmatives only, allow and modify; never rejects. */
export async function askHooks<Event extends ProviderEvent>(
  fire: Fire,
  event: Event,
  options: FireOptions,
): Promise<Ruling<Event>> {
  try {
    const { decision, event: left } = await fire(event, options);
    return rule(event, decision, left);
  } catch (error) {
    return refuseFault(event.phase, error);
  }
}

function rule<Event extends ProviderEvent>(asked: Event, decision: Decision, left: HookEvent): Ruling<Event> {
  // As text: a verdict that is not known here must not pass.
  const verdict: string = decision.verdict;
  const by = decision.hook ?? 'a hook';
  if (verdict === 'allow' || verdict === 'modify') {
    if (isOfPhase(left, asked)) return { kind: 'pass', event: left, decision };
    return refuseFault(asked.phase, new RuntimeError('INTERNAL', 'the event changed its phase'));
  }
  if (verdict === 'respond' && decision.result !== null) {
    const finishReason = { unified: 'stop', raw: `signalbox: answered by ${by}` } as const;
    return { kind: 'answer', answer: { text: textOf(decision.result), finishReason }, decision };
  }
  if (verdict === 'deny' && decision.enforced && decision.result !== null) {
    return {
      kind: 'answer',
      answer: { text: textOf(decision.result), finishReason: deniedBy(decision) },
      decision,
    };
  }
  return refuse(asked.phase, decision);
}

function textOf({ value, text }: Json): string {
  return typeof value === 'string' ? value : text;
}

function isOfPhase<Event extends ProviderEvent>(event: HookEvent, asked: Event): event is Event {
  return event.phase === asked.phase;
}

/** The finish reason of what a hook stopped. */
export function deniedBy({ hook }: Decision): LanguageModelV4FinishReason {
  return { unified: 'content-filter', raw: `signalbox: denied by ${hook ?? 'a hook'}` };
}

/** The denial of a decision, as an error that quotes nothing but the hook's own words. */
export function refuse(phase: ProviderPhase, decision: Decision): Refusal {
  const { hook, metadata, error, abort } = decision;
  const reason = reasonOf(phase, decision);
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
 * A denial that no hook spoke: the hooks could not be asked, or what they left cannot be used. Only what our
 * own mapping says of a replacement is repeated; other errors may quote what they were about.
 */
export function refuseFault(phase: ProviderPhase, thrown: unknown, by?: Decision): Refusal {
  const { code, message } = toRuntimeError(thrown);
  const isOwn =
    by !== undefined ? code === 'REPLY_MALFORMED' : phase === 'before_call' && code === 'EVENT_INVALID';
  const cause = isOwn ? message : catalogue[code].summary;
  return refuse(phase, {
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

const noMetadata = new Json('{}');

/** What a hook printed when it failed may quote the answer that it was to judge. */
function reasonOf(phase: ProviderPhase, { verdict, reason, error }: Decision): string {
  if (phase === 'after_call' && error !== undefined)
    return `the hook failed: ${catalogue[error.code].summary}`;
  if (reason !== '') return reason;
  return verdict === 'deny' ? 'no reason given' : `its verdict "${verdict}" has no meaning here`;
}

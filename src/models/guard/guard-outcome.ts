import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { catalogue, RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { Json } from '../../base/json/json.ts';
import { type Decision, type HookEvent, withoutFaultText } from '../../contract/hook.ts';
import type { ChatMessage, ProviderRequest } from '../../contract/provider.ts';
import type { TextWindow } from './text-window.ts';

export interface FireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Call the filters only, not observers and shadows. */
  readonly filtersOnly?: boolean | undefined;
}

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

export type GuardOutcome<Event extends ProviderEvent> =
  | { readonly kind: 'pass'; readonly event: Event; readonly decision: Decision }
  | { readonly kind: 'answer'; readonly answer: SubstituteAnswer; readonly decision: Decision }
  | Refusal;

export interface Refusal {
  readonly kind: 'refuse';
  readonly error: RuntimeError;
  readonly decision: Decision;
}

export interface SubstituteAnswer {
  readonly text: string;
  readonly finishReason: LanguageModelV4FinishReason;
}

/** Passes only on allow and modify. Never rejects. */
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
  // As text: an unknown verdict must not pass.
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

export function denialFinishReason({ hook }: Decision): LanguageModelV4FinishReason {
  return { unified: 'content-filter', raw: `signalbox: denied by ${hook ?? 'a hook'}` };
}

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

/** Repeats only messages of Signalbox's own errors, since others may quote the data. */
export function createFaultRefusal(phase: ProviderPhase, thrown: unknown, by?: Decision): Refusal {
  const { code, message } = toRuntimeError(thrown);
  const isSafeMessage =
    by !== undefined ? code === 'REPLY_MALFORMED' : phase === 'before_call' && code === 'EVENT_INVALID';
  const cause = isSafeMessage ? message : catalogue[code].summary;
  return createRefusal(phase, {
    verdict: 'deny',
    hook: by?.hook ?? null,
    dialect: by?.dialect ?? null,
    reason: `${by === undefined ? 'the hooks could not run' : 'its replacement cannot be used'}: ${cause}`,
    enforced: false,
    replace: null,
    result: null,
    context: [],
    abort: null,
    metadata: by?.metadata ?? noMetadata,
  });
}

export function createContradictionRefusal(decision: Decision): Refusal {
  const reason = 'the whole answer, as the hooks left it, does not begin with the text that was already sent';
  return createRefusal('after_call', { ...decision, verdict: 'deny', reason, replace: null });
}

const noMetadata = new Json('{}');

function reasonOf({ verdict, reason }: Decision): string {
  if (reason !== '') return reason;
  return verdict === 'deny' ? 'no reason given' : `its verdict "${verdict}" is not allowed here`;
}

interface AnswerEventInput {
  readonly request: ProviderRequest;
  readonly message: ChatMessage;
  readonly latencyMs: number;
}

export function createAfterCallEvent({ request, message, latencyMs }: AnswerEventInput): AfterCall {
  const { provider_id, model, round } = request;
  const response = { provider_id, model, message, round, latency_ms: latencyMs };
  return { hook: 'provider', phase: 'after_call', request, response };
}

/** `signalbox_window` counts the pieces, from 1. */
export function createPieceEvent(input: AnswerEventInput, window: number): AfterCall {
  const metadata = { ...input.request.metadata, signalbox_window: window };
  return createAfterCallEvent({ ...input, request: { ...input.request, metadata } });
}

/** The output of a streamed answer: parts of the AI SDK, or server-sent events. Yielded chunks are sent. */
export interface StreamDoor<Event, Chunk> {
  next(): AsyncGenerator<Chunk, Event | undefined>;
  /** Adds an event and calls filters for text that is due. Returns what stopped the answer. */
  take(event: Event): AsyncGenerator<Chunk, StoppedAnswer | undefined>;
  release(): Iterable<Chunk>;
  /** Calls hooks for the whole answer, and sends the rest of it or its substitute. */
  conclude(): AsyncGenerator<Chunk, void>;
  abandon(reason: unknown): void;
  /** Reports the partial answer to observers, and sends the substitute for the held text. */
  breakOff(stopped: StoppedAnswer): AsyncGenerator<Chunk, void>;
  fail(error: unknown): AsyncGenerator<Chunk, void>;
}

/** Holds a streamed answer until it is complete, or releases it behind a window. Rejects only as `fail` does. */
export async function* passAnswer<Event, Chunk>(door: StreamDoor<Event, Chunk>): AsyncGenerator<Chunk, void> {
  try {
    for (;;) {
      const event = yield* door.next();
      if (event === undefined) return yield* door.conclude();
      const stopped = yield* door.take(event);
      yield* door.release();
      if (stopped === undefined) continue;
      door.abandon(new RuntimeError('DENIED', 'a filter stopped the answer'));
      return yield* door.breakOff(stopped);
    }
  } catch (error) {
    yield* door.fail(error);
  }
}

export type StoppedAnswer = Exclude<GuardOutcome<AfterCall>, { readonly kind: 'pass' }>;

export type PieceVerdict = { readonly kind: 'pass'; readonly text: string } | StoppedAnswer;

export type AskAboutPiece = (piece: string) => Promise<PieceVerdict>;

interface ReleasedText {
  readonly text: string;
  readonly stopped: StoppedAnswer | undefined;
}

export async function releasePieces(window: TextWindow, ask: AskAboutPiece): Promise<ReleasedText> {
  let text = '';
  for (let piece = window.nextPiece(); piece !== undefined; piece = window.nextPiece()) {
    const verdict = await ask(piece);
    if (verdict.kind !== 'pass') return { text, stopped: verdict };
    text += window.release(verdict.text);
  }
  return { text, stopped: undefined };
}

export async function releaseRest(window: TextWindow, ask: AskAboutPiece): Promise<ReleasedText> {
  const piece = window.lastPiece();
  if (piece === '') return { text: '', stopped: undefined };
  const verdict = await ask(piece);
  if (verdict.kind !== 'pass') return { text: '', stopped: verdict };
  return { text: window.releaseLast(verdict.text), stopped: undefined };
}

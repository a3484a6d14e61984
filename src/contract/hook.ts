import { type Fault, isCancelled, withCatalogueText } from '../base/errors.ts';
import { Json } from '../base/json/json.ts';

export type * from './hook-event.ts';

/** The phases of each kind of hook. An eval hook has one: an eval was scored. */
export const phasesOf = {
  provider: ['before_call', 'after_call'],
  tool: ['before_execution', 'after_execution'],
  session: ['session_start', 'session_update', 'session_end'],
  eval: ['scored'],
} as const;

export type HookKind = keyof typeof phasesOf;
export type Phase = (typeof phasesOf)[HookKind][number];
/** filter: asked, its verdict counts; observe: only notified; shadow: asked, its verdict only recorded. */
export type HookMode = 'filter' | 'observe' | 'shadow';

interface AnswerBase {
  readonly reason: string;
  readonly metadata: Json;
  /** Further texts for the model. */
  readonly context?: readonly string[];
}

/** One hook lets the event pass. */
export interface Allow extends AnswerBase {
  readonly verdict: 'allow';
  /** The hook does not handle this point, and need not be asked there again while its process lives. */
  readonly isUnsubscribed?: boolean;
}

/** One hook lets the event pass with parts of it replaced; `replace` has the shape of the phase or point. */
export interface Modify extends AnswerBase {
  readonly verdict: 'modify';
  readonly replace: Json;
}

/** One hook stops the event. `enforced` asks for a stand-in text; `error` is set when a fault caused it. */
export interface Deny extends AnswerBase {
  readonly verdict: 'deny';
  readonly enforced: boolean;
  readonly error?: Fault;
}

/** One hook wants a person to decide whether a tool runs; with `replace`, of the call as it then is. */
export interface Ask extends AnswerBase {
  readonly verdict: 'ask';
  readonly replace?: Json;
}

/** One hook answers in the place of the work itself. */
export interface Respond extends AnswerBase {
  readonly verdict: 'respond';
  readonly result: Json;
  /** The answer is that of a tool that failed. */
  readonly isError?: boolean;
  /** A text for the caller; when all calls of a round have one, the model is not called again. */
  readonly handled?: string;
}

/** One hook ends the whole turn, or the session with it; `error` is set when a fault did. */
export interface Abort extends AnswerBase {
  readonly verdict: 'abort';
  readonly scope: 'turn' | 'session';
  readonly error?: Fault;
}

/** What one filter answered. */
export type Answer = Allow | Modify | Deny | Ask | Respond | Abort;
export type Verdict = Answer['verdict'];

/** The decision of a whole chain of filters, and the hook that took it. */
export interface Decision {
  readonly verdict: Verdict;
  /** The hook that decided, or the last one that modified; null when every hook merely allowed. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** All replacements together, by member, the last one of each; null when there is none. */
  readonly replace: Json | null;
  /**
   * The replacement for the work itself: the text of an enforced denial, or the result of a `respond`; else
   * null.
   */
  readonly result: Json | null;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** How much an abort ends; null for every other verdict. */
  readonly abort: 'turn' | 'session' | null;
  /** The deciding hook's, else those of all hooks merged in order. */
  readonly metadata: Json;
  readonly error?: Fault;
}

/** The optional members of an answer. */
export interface AnswerDetails {
  readonly reason?: string;
  readonly metadata?: Json;
  readonly context?: readonly string[];
}

const answerBase = ({ reason = '', metadata = new Json('{}'), context }: AnswerDetails): AnswerBase => ({
  reason,
  metadata,
  ...(context !== undefined && context.length > 0 && { context }),
});

export const allow = (reason: string, metadata: Json): Allow => ({ verdict: 'allow', reason, metadata });
export const modify = (replace: Json, reason: string, metadata: Json): Modify => ({
  verdict: 'modify',
  replace,
  reason,
  metadata,
});
export const ask = (reason: string, metadata: Json): Ask => ({ verdict: 'ask', reason, metadata });
export const deny = (reason: string, enforced: boolean, metadata: Json): Deny => ({
  verdict: 'deny',
  reason,
  enforced,
  metadata,
});

/** Constructors of answers with the optional members that foreign dialects use. */
export const answers = {
  allow: (beside: AnswerDetails = {}): Allow => ({ verdict: 'allow', ...answerBase(beside) }),
  modify: (replace: unknown, beside: AnswerDetails = {}): Modify => ({
    verdict: 'modify',
    replace: Json.from(replace),
    ...answerBase(beside),
  }),
  deny: (
    reason: string,
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Deny => ({
    verdict: 'deny',
    enforced: false,
    ...answerBase({ ...beside, reason }),
    ...(error && { error }),
  }),
  ask: (
    reason: string,
    { replace, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly replace?: Json } = {},
  ): Ask => ({
    verdict: 'ask',
    ...answerBase({ ...beside, reason }),
    ...(replace && { replace }),
  }),
  respond: (result: unknown, beside: AnswerDetails = {}): Respond => ({
    verdict: 'respond',
    result: Json.from(result),
    ...answerBase(beside),
  }),
  abort: (
    reason: string,
    scope: Abort['scope'],
    { error, ...beside }: Omit<AnswerDetails, 'reason'> & { readonly error?: Fault } = {},
  ): Abort => ({ verdict: 'abort', scope, ...answerBase({ ...beside, reason }), ...(error && { error }) }),
} as const;

/**
 * An answer or a decision as callers, agents and models get it. Of a hook that failed they learn the code and the words of the
 * catalogue: what its process wrote may quote the texts of another caller. Only the log has the rest, and `wholeFault`.
 */
export function withoutFaultText<Given extends { readonly reason: string; readonly error?: Fault }>(
  answer: Given,
): Given {
  if (answer.error === undefined) return answer;
  // That our side ended the exchange is said in our own words alone.
  if (isCancelled(answer.error) || wholeFaults.has(answer.error)) return answer;
  const error = withCatalogueText(answer.error);
  wholeFaults.set(error, { reason: answer.reason, error: answer.error });
  return { ...answer, reason: `the hook failed: ${error.message}`, error };
}

/** What `withoutFaultText` took out of a decision, for the person at the command line who runs the hook. */
export function wholeFault({ error }: Pick<Decision, 'error'>): WholeFault | undefined {
  return error && wholeFaults.get(error);
}

interface WholeFault {
  readonly reason: string;
  readonly error: Fault;
}

/** By the fault that stands in its place. */
const wholeFaults = new WeakMap<Fault, WholeFault>();

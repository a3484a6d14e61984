import type { Fault } from '../errors.ts';
import { Json } from '../json/json.ts';

export type * from './hook-event.ts';

/** The phases of each kind of hook. An eval hook has the one moment that an eval was scored. */
export const phasesOf = {
  provider: ['before_call', 'after_call'],
  tool: ['before_execution', 'after_execution'],
  session: ['session_start', 'session_update', 'session_end'],
  eval: ['scored'],
} as const;

export type HookKind = keyof typeof phasesOf;
export type Phase = (typeof phasesOf)[HookKind][number];
/** filter: asked and obeyed; observe: told; shadow: asked beside the path, its verdict only recorded. */
export type HookMode = 'filter' | 'observe' | 'shadow';

interface Said {
  readonly reason: string;
  readonly metadata: Json;
  /** Texts that the model is to be given beside what it gets anyway. */
  readonly context?: readonly string[];
}

/** One hook lets the event pass. */
export interface Allow extends Said {
  readonly verdict: 'allow';
  /** It has nothing to say at this point, and need not be asked there again as long as its process lives. */
  readonly isUnheard?: boolean;
}

/** One hook lets the event pass with parts of it replaced; `replace` has the shape of the phase or point. */
export interface Modify extends Said {
  readonly verdict: 'modify';
  readonly replace: Json;
}

/** One hook stops the event. `enforced` asks for a stand-in text; `error` is set when a fault denied. */
export interface Deny extends Said {
  readonly verdict: 'deny';
  readonly enforced: boolean;
  readonly error?: Fault;
}

/** One hook wants a person to decide whether a tool runs; with `replace`, of the call as it then is. */
export interface Ask extends Said {
  readonly verdict: 'ask';
  readonly replace?: Json;
}

/** One hook answers in the place of the work itself. */
export interface Respond extends Said {
  readonly verdict: 'respond';
  readonly result: Json;
  /** The answer is that of a tool that failed. */
  readonly isError?: boolean;
  /** What the caller is to be told; when all calls of a round have one, the model is not asked again. */
  readonly handled?: string;
}

/** One hook ends the whole turn, or the session with it; `error` is set when a fault did. */
export interface Abort extends Said {
  readonly verdict: 'abort';
  readonly scope: 'turn' | 'session';
  readonly error?: Fault;
}

/** What one filter answered. */
export type Answer = Allow | Modify | Deny | Ask | Respond | Abort;
export type Verdict = Answer['verdict'];

/** What a whole chain of filters came to, and who decided. */
export interface Decision {
  readonly verdict: Verdict;
  /** The hook that decided, or the last one that modified; null when every hook merely allowed. */
  readonly hook: string | null;
  readonly dialect: string | null;
  readonly reason: string;
  readonly enforced: boolean;
  /** All replacements together, by member, the last one of each; null when there is none. */
  readonly replace: Json | null;
  /** What stands in for the work itself: the text of an enforced denial, the result of a `respond`; else null. */
  readonly result: Json | null;
  /** Texts for the model, in the order of the hooks. */
  readonly context: readonly string[];
  /** How much an abort ends; null for every other verdict. */
  readonly abort: 'turn' | 'session' | null;
  /** The deciding hook's, else those of all hooks merged in order. */
  readonly metadata: Json;
  readonly error?: Fault;
}

/** What a hook may say beside its verdict. */
export interface Beside {
  readonly reason?: string;
  readonly metadata?: Json;
  readonly context?: readonly string[];
}

const said = ({ reason = '', metadata = new Json('{}'), context }: Beside): Said => ({
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

/** The same answers with what foreign dialects can say beside them. */
export const answers = {
  allow: (beside: Beside = {}): Allow => ({ verdict: 'allow', ...said(beside) }),
  modify: (replace: unknown, beside: Beside = {}): Modify => ({
    verdict: 'modify',
    replace: Json.from(replace),
    ...said(beside),
  }),
  deny: (
    reason: string,
    { error, ...beside }: Omit<Beside, 'reason'> & { readonly error?: Fault } = {},
  ): Deny => ({
    verdict: 'deny',
    enforced: false,
    ...said({ ...beside, reason }),
    ...(error && { error }),
  }),
  ask: (
    reason: string,
    { replace, ...beside }: Omit<Beside, 'reason'> & { readonly replace?: Json } = {},
  ): Ask => ({
    verdict: 'ask',
    ...said({ ...beside, reason }),
    ...(replace && { replace }),
  }),
  respond: (result: unknown, beside: Beside = {}): Respond => ({
    verdict: 'respond',
    result: Json.from(result),
    ...said(beside),
  }),
  abort: (
    reason: string,
    scope: Abort['scope'],
    { error, ...beside }: Omit<Beside, 'reason'> & { readonly error?: Fault } = {},
  ): Abort => ({ verdict: 'abort', scope, ...said({ ...beside, reason }), ...(error && { error }) }),
} as const;

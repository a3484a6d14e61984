import { RuntimeError } from '../../base/errors.ts';

/** Why a call is not answered as it was asked for; every endpoint spells it in its own form. */
export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  /** For programs, such as `content_filter`, `guard_failed`, `rate_limit_exceeded`, `invalid_api_key`. */
  readonly code: string;
  /** For people. Quotes nothing that a hook withheld. */
  readonly message: string;
  /** The request's member that is to blame, such as `messages[3]`. */
  readonly param?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** Whether sending it again may help; false is told to clients as `x-should-retry: false`. */
  readonly isRetryable: boolean;
  /** Of a denial: the hook that decided and its phase. */
  readonly verdict?: { readonly verdict: string; readonly hook: string | null; readonly phase: string };
  /** Members beside `message` and `code`, such as the id of a pending call. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** A refusal; unless `more` says otherwise, sending the call again does not help. */
export function refusal(
  status: number,
  code: string,
  message: string,
  more: Omit<Partial<Refusal>, 'status' | 'code' | 'message'> = {},
): Refusal {
  return { status, code, message, isRetryable: false, ...more };
}

/** Whether an endpoint's own refusal can say it in the place of an error: that of a hook, or of a call that waits for a person. */
export function isSaidAsAnswer({ code }: Refusal): boolean {
  return code === 'content_filter' || code === 'pending_approval';
}

/** A refusal on its way up. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';
  readonly refusal: Refusal;

  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.message, cause === undefined ? undefined : { cause });
    this.refusal = refusal;
  }
}

/** A refusal to throw. */
export function refuse(...args: Parameters<typeof refusal>): RefusedCall {
  return new RefusedCall(refusal(...args));
}

/** A request that is none, or that two readers could read differently; `param` is its member to blame. */
export function invalidRequest(message: string, param?: string): RefusedCall {
  return refuse(400, 'invalid_request', message, { param });
}

/** A request with a kind of item, block or part that hooks cannot be shown. */
export function unknownInRequest(kind: string, param: string): RefusedCall {
  const message = `${param} has a kind that hooks cannot read (${quoteKind(kind)}); spec.gateway.opaque of the config may let it pass`;
  return refuse(400, 'unknown_content', message, { param });
}

/** A request that refers to content which the upstream keeps, so that hooks cannot read it. */
export function unreadableReference(param: string): RefusedCall {
  const message = `${param} refers to content that hooks cannot read; spec.gateway.references of the config may let it pass`;
  return refuse(400, 'unreadable_reference', message, { param });
}

/** An answer of an upstream that hooks cannot be shown. `where` names members only, never quotes a value. */
export function unknownInAnswer(where: string): RefusedCall {
  const message = `the upstream's answer has content that hooks cannot read: ${where}`;
  return refuse(502, 'unknown_content', message);
}

/**
 * An event of a stream that hooks cannot be shown. The message reaches a caller, so that it quotes a name only if it has the form that
 * APIs give to events: lower-case words, joined by `.` and `_`.
 */
export function unknownEvent(type: string | undefined): RefusedCall {
  const isName = type !== undefined && type.length <= 64 && /^[a-z]+(?:[._][a-z]+)*$/.test(type);
  const named = isName ? `"${type}"` : 'of an unusual name';
  const message = `the upstream's answer has an event that hooks cannot read (${named}); spec.gateway.opaque of the config may let it pass`;
  return refuse(502, 'unknown_content', message);
}

/** An answer of an upstream that is broken or contradicts itself. `problem` names members only, never quotes a value. */
export function invalidAnswer(problem: string): RefusedCall {
  const message = `the upstream's answer cannot be used: ${problem}`;
  return refuse(502, 'upstream_invalid', message, { isRetryable: true });
}

interface Blamed {
  readonly path: string;
  readonly at?: string | undefined;
}

/**
 * How a body is refused that is read by its shape. `at` is the path of what is read in the body; a spot is what is to blame,
 * with its path from there.
 */
export function refusals({ isAnswer, at }: { readonly isAnswer: boolean; readonly at: string }) {
  const where = ({ path, at: whole = path }: Blamed) =>
    at === '' ? whole : whole === '' ? at : whole.startsWith('[') ? at + whole : `${at}.${whole}`;
  return {
    /** A kind that hooks cannot read. */
    unknown: (kind: string | undefined, spot: Blamed): RefusedCall =>
      isAnswer ? unknownInAnswer(where(spot)) : unknownInRequest(kind ?? '', where(spot)),
    /** A value that the API would not take or give there. */
    invalid: (problem: string, spot: Blamed): RefusedCall =>
      isAnswer
        ? invalidAnswer(`${where(spot)} ${problem}`)
        : invalidRequest(`${where(spot)} ${problem}`, where(spot)),
    /** Content that the upstream keeps. */
    reference: (spot: Blamed): RefusedCall =>
      isAnswer ? unknownInAnswer(where(spot)) : unreadableReference(where(spot)),
  };
}

/** A change of a hook that cannot be written back exactly. */
export function unwritable(problem: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', problem);
}

function quoteKind(kind: unknown): string {
  return typeof kind === 'string' && /^[\w.-]{1,64}$/.test(kind) ? `"${kind}"` : 'not a plain word';
}

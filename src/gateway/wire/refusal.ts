import { RuntimeError } from '../../base/errors.ts';

export interface Refusal {
  readonly status: number;
  /** For programs, such as `content_filter`, `guard_failed`, `rate_limit_exceeded` or `invalid_api_key`. */
  readonly code: string;
  /** For people. Quotes nothing that a hook withheld. */
  readonly message: string;
  /** The request member that caused the refusal, such as `messages[3]`. */
  readonly param?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | undefined;
  /** Whether a retry may succeed. If false, clients get `x-should-retry: false`. */
  readonly isRetryable: boolean;
  /** For a denial: the deciding hook and its phase. */
  readonly verdict?: { readonly verdict: string; readonly hook: string | null; readonly phase: string };
  /** Further members of the error, such as the ID of a pending call. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** Creates a refusal that is not retryable unless `more` says so. */
export function refusal(
  status: number,
  code: string,
  message: string,
  more: Omit<Partial<Refusal>, 'status' | 'code' | 'message'> = {},
): Refusal {
  return { status, code, message, isRetryable: false, ...more };
}

/** Whether the endpoint's native refusal can express it: denials by hooks and calls that wait for approval. */
export function isSaidAsAnswer({ code }: Refusal): boolean {
  return code === 'content_filter' || code === 'pending_approval';
}

export class RefusedCall extends Error {
  override readonly name = 'RefusedCall';
  readonly refusal: Refusal;

  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.message, cause === undefined ? undefined : { cause });
    this.refusal = refusal;
  }
}

export function refuse(...args: Parameters<typeof refusal>): RefusedCall {
  return new RefusedCall(refusal(...args));
}

export function invalidRequest(message: string, param?: string): RefusedCall {
  return refuse(400, 'invalid_request', message, { param });
}

export function unknownInRequest(kind: string, param: string): RefusedCall {
  const message = `${param} has a kind that hooks cannot read (${quoteKind(kind)}); spec.gateway.opaque of the config may let it pass`;
  return refuse(400, 'unknown_content', message, { param });
}

export function unreadableReference(param: string): RefusedCall {
  const message = `${param} refers to content that hooks cannot read; spec.gateway.references of the config may let it pass`;
  return refuse(400, 'unreadable_reference', message, { param });
}

/** For a response that hooks cannot read. `where` names members and quotes no value. */
export function unknownInAnswer(where: string): RefusedCall {
  const message = `the upstream's answer has content that hooks cannot read: ${where}`;
  return refuse(502, 'unknown_content', message);
}

/**
 * For a stream event that hooks cannot read. Callers see the message, so it quotes only lower-case words joined by `.`
 * and `_`.
 */
export function unknownEvent(type: string | undefined): RefusedCall {
  const isName = type !== undefined && type.length <= 64 && /^[a-z]+(?:[._][a-z]+)*$/.test(type);
  const named = isName ? `"${type}"` : 'of an unusual name';
  const message = `the upstream's answer has an event that hooks cannot read (${named}); spec.gateway.opaque of the config may let it pass`;
  return refuse(502, 'unknown_content', message);
}

/** For a malformed or contradictory response. `problem` names members and quotes no value. */
export function invalidAnswer(problem: string): RefusedCall {
  const message = `the upstream's answer cannot be used: ${problem}`;
  return refuse(502, 'upstream_invalid', message, { isRetryable: true });
}

interface Blamed {
  readonly path: string;
  readonly at?: string | undefined;
}

/** `at` is the body path of the value. A spot's path is relative to it. */
export function refusals({ isAnswer, at }: { readonly isAnswer: boolean; readonly at: string }) {
  const where = ({ path, at: whole = path }: Blamed) =>
    at === '' ? whole : whole === '' ? at : whole.startsWith('[') ? at + whole : `${at}.${whole}`;
  return {
    unknown: (kind: string | undefined, spot: Blamed): RefusedCall =>
      isAnswer ? unknownInAnswer(where(spot)) : unknownInRequest(kind ?? '', where(spot)),
    invalid: (problem: string, spot: Blamed): RefusedCall =>
      isAnswer
        ? invalidAnswer(`${where(spot)} ${problem}`)
        : invalidRequest(`${where(spot)} ${problem}`, where(spot)),
    reference: (spot: Blamed): RefusedCall =>
      isAnswer ? unknownInAnswer(where(spot)) : unreadableReference(where(spot)),
  };
}

export function unwritable(problem: string): RuntimeError {
  return new RuntimeError('REPLY_MALFORMED', problem);
}

function quoteKind(kind: unknown): string {
  return typeof kind === 'string' && /^[\w.-]{1,64}$/.test(kind) ? `"${kind}"` : 'not a plain word';
}

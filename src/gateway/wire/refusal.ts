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

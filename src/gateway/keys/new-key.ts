import { RuntimeError } from '../../base/errors.ts';

/** What a new key may do; absent: without limit. */
export interface NewKey {
  readonly name: string;
  /** Exact names. */
  readonly models?: readonly string[] | undefined;
  readonly hooks?: string | undefined;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
  /** US dollars. */
  readonly budget?: Partial<Readonly<Record<'day' | 'month' | 'total', number | undefined>>> | undefined;
}

/** Throws USAGE for a name or a limit that a key cannot have. */
export function checkNewKey(wanted: NewKey, at: number): void {
  const { name, models, expiresAt, budget = {} } = wanted;
  if (!nameForm.test(name)) {
    // Not quoted: it may be the text of a key.
    throw new RuntimeError('USAGE', 'that cannot be the name of a key', {
      hint: 'A name has up to 64 letters, digits, spaces and . _ @ + -, and begins with neither key_ nor sbx_.',
    });
  }
  if (models?.length === 0) throw new RuntimeError('USAGE', 'a key needs a model that it may call');
  if (expiresAt !== undefined && !(expiresAt > at)) {
    throw new RuntimeError('USAGE', 'the key would have expired already');
  }
  for (const limit of ['requestsPerMinute', 'tokensPerMinute', 'concurrent'] as const) {
    const count = wanted[limit];
    if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= MOST)) continue;
    throw new RuntimeError('USAGE', `${count} cannot be a limit (${limit})`, {
      hint: 'A limit is a whole number from 1 on.',
    });
  }
  for (const [period, dollars] of Object.entries(budget)) {
    if (dollars === undefined || (dollars > 0 && dollars <= MOST_DOLLARS)) continue;
    throw new RuntimeError('USAGE', `${dollars} cannot be a budget (${period})`, {
      hint: `A budget is a number of US dollars above 0, up to ${MOST_DOLLARS}.`,
    });
  }
}

const nameForm = /^(?!key_|sbx_)[A-Za-z0-9](?:[A-Za-z0-9 ._@+-]{0,62}[A-Za-z0-9._@+-])?$/;
const MOST = 1e12;
const MOST_DOLLARS = 1e6;

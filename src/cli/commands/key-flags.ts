import { RuntimeError } from '../../base/errors.ts';
import type { NewKey } from '../../runtime/gateway/keys.ts';

/** The options of `keys create`. */
export interface KeyFlags {
  readonly models?: string;
  readonly hooks?: string;
  readonly expires?: string;
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly concurrent?: string;
  readonly budgetDay?: string;
  readonly budgetMonth?: string;
  readonly budgetTotal?: string;
}

/** The key that the options ask for at that time (ms since 1970). Throws USAGE. */
export async function readNewKey(name: string, flags: KeyFlags, at: number): Promise<NewKey> {
  return {
    ...{ name, hooks: flags.hooks },
    models: flags.models
      ?.split(',')
      .map((model) => model.trim())
      .filter((model) => model !== ''),
    expiresAt: flags.expires === undefined ? undefined : await readExpiry(flags.expires, at),
    requestsPerMinute: readNumber('--requests-per-minute', flags.requestsPerMinute),
    tokensPerMinute: readNumber('--tokens-per-minute', flags.tokensPerMinute),
    concurrent: readNumber('--concurrent', flags.concurrent),
    budget: {
      day: readNumber('--budget-day', flags.budgetDay),
      month: readNumber('--budget-month', flags.budgetMonth),
      total: readNumber('--budget-total', flags.budgetTotal),
    },
  };
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw new RuntimeError('USAGE', `${option} takes a number, not "${text}"`);
}

async function readExpiry(text: string, at: number): Promise<number> {
  const { parseDuration } = await import('../../runtime/gateway/keys.ts');
  const ms = parseDuration(text);
  if (ms !== undefined) return at + ms;
  const date = dateForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw new RuntimeError('USAGE', `--expires takes a date or a duration, not "${text}"`, {
    hint: 'Write it like 2027-01-31, 2027-01-31T12:00:00Z, 12h or 90d.',
  });
}

/** A date is midnight in UTC; a time needs its zone, lest it mean another moment on another machine. */
const dateForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

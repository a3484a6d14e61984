import type { RateLimit } from '../config/config.ts';
import { type Amounts, type Drawn, fullOf, type RateSupply } from '../models/rate/rate-queue.ts';
import type { SharedWork } from './shared-work.ts';
import { enumOf, numberOf, readAnswer } from './sqlite/row.ts';

export function createSharedSupply(
  provider: string,
  limit: RateLimit,
  open: () => Promise<SharedWork>,
): RateSupply {
  const { requestsPerMinute = null, tokensPerMinute = null } = limit;
  const full = fullOf(limit);
  const values = [provider, requestsPerMinute, tokensPerMinute, finite(full.requests), finite(full.tokens)];
  const ahead = [aheadOf(requestsPerMinute), aheadOf(tokensPerMinute)];
  const change = async (text: string, amounts: readonly number[]) => {
    const work = await open();
    await work.transact((transaction) => transaction.query({ text, values: [provider, ...amounts] }));
  };
  return {
    ...{ limit, leaseMs: LEASE_MS },
    draw: async (need) => {
      const work = await open();
      const asked = [...values, need.requests, need.tokens, ...ahead];
      const [row] = await work.transact((transaction) => transaction.query({ text: draw, values: asked }));
      return drawnFrom(row?.['drawn']);
    },
    giveBack: ({ requests, tokens }) => change(giveBack, [requests, tokens]),
    hold: (ms) => change(hold, [ms]),
  };
}

/** The amount of a second, rounded up, so that a busy process draws about once a second. */
function aheadOf(perMinute: number | null): number {
  return perMinute === null ? 0 : Math.floor(perMinute / 60);
}

const LEASE_MS = 2_000;

const draw = 'SELECT signalbox.draw_rate($1, $2, $3, $4, $5, $6, $7, $8, $9) AS drawn';
const giveBack =
  'UPDATE signalbox.rate_buckets SET requests = requests + $2, tokens = tokens + $3 WHERE provider = $1';
const hold = `UPDATE signalbox.rate_buckets
  SET held_until = greatest(held_until, clock_timestamp() + $2 * interval '1 millisecond') WHERE provider = $1`;

function finite(amount: number): number | null {
  return Number.isFinite(amount) ? amount : null;
}

function drawnFrom(answer: unknown): Drawn {
  const row = readAnswer(answer);
  if (row['wait'] !== undefined)
    return {
      waitMs: numberOf(row, 'wait'),
      limit: enumOf(row, 'limit', ['requests', 'tokens', 'hold']),
    };
  const given: Amounts = { requests: numberOf(row, 'requests'), tokens: numberOf(row, 'tokens') };
  return { given };
}

import { hostname } from 'node:os';
import {
  type HookSetUse,
  type KeyRecord,
  keyOfRow,
  PREFIX_LENGTH,
  readHookSets,
  type SecretRecord,
  secretOfRow,
} from '../../keys/key-book.ts';
import { DamagedError, decodeRow, enumOf, numberOf, readAnswer } from '../../sqlite/row.ts';
import type { Address } from '../connection/address.ts';
import type { Link } from '../connection/client.ts';
import { toPostgresError } from '../connection/postgres-error.ts';
import { createDriver } from '../driver.ts';
import { type LockingCall, openFunctionCaller } from '../function-caller.ts';

interface WantedCall {
  readonly number: number;
  readonly key: string;
  readonly hash: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar; null if no price is known. */
  readonly cost: number | null;
}

/** A call that ends; null if the usage was not reported. */
interface EndedCall {
  readonly number: number;
  readonly key: string;
  readonly wasSent: boolean;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: number | null;
}

/** The calls of keys, counted across all replicas. All methods reject with STORE_FAILED. */
export interface CountedCalls {
  readonly location: string;
  find(hash: string): Promise<readonly { readonly key: KeyRecord; readonly secret: SecretRecord }[]>;
  hasKeys(): Promise<boolean>;
  hookSets(): Promise<HookSetUse[]>;
  admit(call: WantedCall): Promise<CallRefusal | undefined>;
  /** Idempotent. */
  settle(call: EndedCall): Promise<void>;
  /** Sends a heartbeat, and ends the calls of dead replicas. */
  beat(): Promise<void>;
  close(): Promise<void>;
}

interface CountedCallsOptions {
  readonly owner: string;
  readonly now?: (() => number) | undefined;
  /** The silence after which a replica counts as dead, in ms. */
  readonly hungMs: number;
  /** The interval of heartbeats while calls are made, in ms. */
  readonly beatMs: number;
  readonly retryMs?: number | undefined;
}

export async function openCountedCalls(
  address: Address,
  { owner, now, hungMs, beatMs, retryMs }: CountedCallsOptions,
): Promise<CountedCalls> {
  const presence = createPresence(owner, beatMs);
  const caller = await openFunctionCaller(address, { retryMs, lead: presence.due });
  const at = () => now?.() ?? null;
  const ask = async <Result>(call: LockingCall, read: (answer: unknown) => Result): Promise<Result> => {
    const answer = await caller.call(call);
    try {
      return read(answer);
    } catch (error) {
      throw toPostgresError(error, address);
    }
  };
  return {
    location: address.location,
    find: (hash) =>
      ask({ name: 'gateway_find', values: [hash.slice(0, PREFIX_LENGTH)], order: '' }, readPresented),
    hasKeys: () => ask({ name: 'gateway_has_keys', values: [], order: '' }, (answer) => answer === true),
    hookSets: () => createDriver(address.location, caller.run).read(readHookSets),
    admit: ({ number, key, hash, inputTokens, outputTokens, cost }) => {
      const values = [owner, number, key, hash, inputTokens, outputTokens, cost, at()];
      return ask({ name: 'gateway_admit', values, order: key }, readRefusal);
    },
    settle: ({ number, key, wasSent, inputTokens, outputTokens, cost }) => {
      const values = [owner, number, key, wasSent, inputTokens, outputTokens, cost, at()];
      return ask({ name: 'gateway_settle', values, order: key }, () => {});
    },
    beat: () => caller.run((link) => beat(link, owner, hungMs)),
    close: async () => {
      await caller.run((link) => link.query({ text: leave, values: [owner] })).catch(() => {});
      await caller.close();
    },
  };
}

const leave = 'SELECT signalbox.gateway_leave($1)';

async function beat(link: Link, owner: string, hungMs: number): Promise<void> {
  await link.query({ text: 'SELECT signalbox.gateway_see($1, $2)', values: [owner, hostname()] });
  await link.query({ text: 'SELECT signalbox.gateway_sweep($1, $2)', values: [owner, hungMs] });
}

/** After a pause, a replica sends a heartbeat before it takes the next call. */
function createPresence(owner: string, beatMs: number) {
  let saidAt = Number.NEGATIVE_INFINITY;
  return {
    due: (): LockingCall | undefined => {
      const at = performance.now();
      if (at - saidAt < beatMs) return undefined;
      saidAt = at;
      return { name: 'gateway_see', values: [owner, hostname()], order: '' };
    },
  };
}

function readPresented(answer: unknown): { readonly key: KeyRecord; readonly secret: SecretRecord }[] {
  const found: unknown = Object.values(readAnswer(answer));
  if (!Array.isArray(found)) return [];
  return found.map((each: unknown) => {
    const { key, secret } = { key: undefined, secret: undefined, ...Object(each) };
    return {
      key: keyOfRow(decodeRow({ ...Object(key) })),
      secret: secretOfRow(decodeRow({ ...Object(secret) })),
    };
  });
}

export type CallRefusal =
  | { readonly refused: 'revoked' | 'expired' | 'price' }
  | { readonly refused: 'calls' | 'large'; readonly limit: number }
  | {
      readonly refused: 'rate';
      readonly kind: 'requests' | 'tokens';
      readonly limit: number;
      readonly wait: number;
    }
  | { readonly refused: 'held'; readonly period: BudgetPeriod }
  | { readonly refused: 'spent'; readonly period: BudgetPeriod; readonly at: number };

type BudgetPeriod = (typeof periods)[number];

const periods = ['total', 'month', 'day'] as const;

/** Undefined: the call may begin. Throws Damaged. */
function readRefusal(answer: unknown): CallRefusal | undefined {
  const row = readAnswer(answer);
  const { refused } = row;
  switch (refused) {
    case undefined:
      return undefined;
    case 'revoked':
    case 'expired':
    case 'price':
      return { refused };
    case 'calls':
    case 'large':
      return { refused, limit: numberOf(row, 'limit') };
    case 'rate':
      return {
        ...{ refused, kind: enumOf(row, 'kind', ['requests', 'tokens']) },
        ...{ limit: numberOf(row, 'limit'), wait: numberOf(row, 'wait') },
      };
    case 'held':
      return { refused, period: enumOf(row, 'period', periods) };
    case 'spent':
      return { refused, period: enumOf(row, 'period', periods), at: numberOf(row, 'at') };
    default:
      throw new DamagedError('a call was refused for an unknown reason');
  }
}

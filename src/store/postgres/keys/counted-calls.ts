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
  /** The digest of the text that presents the key. */
  readonly hash: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Billionths of a US dollar; null: no price is known. */
  readonly cost: number | null;
}

/** A call that ends; nulls: nobody told what it has used. */
interface EndedCall {
  readonly number: number;
  readonly key: string;
  /** Whether anything was asked of the upstream. */
  readonly wasSent: boolean;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: number | null;
}

/** The calls of keys, counted over all replicas. All methods reject with STORE_FAILED. */
export interface CountedCalls {
  readonly location: string;
  /** The texts whose digest begins so, and their keys. */
  find(hash: string): Promise<readonly { readonly key: KeyRecord; readonly secret: SecretRecord }[]>;
  hasKeys(): Promise<boolean>;
  hookSets(): Promise<HookSetUse[]>;
  /** Undefined: it may begin, and is counted. */
  admit(call: WantedCall): Promise<CallRefusal | undefined>;
  /** Once, however often it is asked for. */
  settle(call: EndedCall): Promise<void>;
  /** Says that this replica is there, and ends what those have left that are gone. */
  beat(): Promise<void>;
  /** Ends what this replica has left. Never rejects. */
  close(): Promise<void>;
}

interface CountedCallsOptions {
  /** Of this replica among all. */
  readonly owner: string;
  /** In ms since 1970; undefined: the server's clock. */
  readonly now?: (() => number) | undefined;
  /** A replica that was not heard of for so long is gone, in ms. */
  readonly hungMs: number;
  /** How often at least a replica that makes calls says that it is there, in ms. */
  readonly beatMs: number;
  readonly retryMs?: number | undefined;
}

/** Connects. Rejects with STORE_FAILED. */
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

/** Before a replica that has stood still takes another call, it says that it is there. */
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
      /** Seconds. */
      readonly wait: number;
    }
  | { readonly refused: 'held'; readonly period: BudgetPeriod }
  | { readonly refused: 'spent'; readonly period: BudgetPeriod; readonly at: number };

type BudgetPeriod = (typeof periods)[number];

const periods = ['total', 'month', 'day'] as const;

/** The refusal in an answer of the database; undefined: the call may begin. Throws Damaged. */
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
      throw new DamagedError('a call was refused for no reason that is known');
  }
}

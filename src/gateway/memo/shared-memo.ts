import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { KEY_LENGTH } from '../../base/files/key-file.ts';
import type { Address } from '../../store/postgres/connection/address.ts';
import { toPostgresError } from '../../store/postgres/connection/postgres-error.ts';
import { type FunctionCaller, openFunctionCaller } from '../../store/postgres/function-caller.ts';
import { DamagedError, numberOrNull, type Row, readAnswer, textOf } from '../../store/sqlite/row.ts';
import { KEPT_FOR_MS } from '../../store/store-rules.ts';
import {
  GIVEN_FOR_MS,
  type KeptAnswer,
  type KeptAnswers,
  type MarkLimits,
  type Marks,
  type Memo,
  RECENT,
  SWEEP_AFTER,
  TOUCH_AFTER_MS,
} from './memo.ts';
import { MemoKey } from './memo-key.ts';

export async function openSharedMemo(address: Address, limits: MarkLimits): Promise<Memo> {
  const caller = await openFunctionCaller(address);
  const call = async <Result>(
    name: string,
    values: readonly unknown[],
    read: (answer: unknown) => Result,
  ): Promise<Result> => {
    const answer = await caller.call({ name: `gateway_${name}`, values, order: String(values[0]) });
    try {
      return read(answer);
    } catch (error) {
      throw toPostgresError(error, address);
    }
  };
  try {
    const made = randomBytes(KEY_LENGTH).toString('hex');
    const key = await call('own_key', ['memo', made], readKey);
    return createMemo(caller, call, { key, limits });
  } catch (error) {
    await caller.close();
    throw error;
  }
}

type Call = <Result>(
  name: string,
  values: readonly unknown[],
  read: (answer: unknown) => Result,
) => Promise<Result>;

function createMemo(
  caller: FunctionCaller,
  call: Call,
  { key, limits }: { readonly key: MemoKey; readonly limits: MarkLimits },
): Memo {
  let closing: Promise<void> | undefined;
  return {
    isShared: true,
    key,
    marks: createSharedMarks(call, limits),
    answers: createSharedAnswers(call),
    close: () => {
      closing ??= caller.close();
      return closing;
    },
  };
}

function readKey(answer: unknown): MemoKey {
  const secret = Buffer.from(String(answer), 'hex');
  if (secret.length !== KEY_LENGTH) throw new DamagedError('the key of the memo is not valid');
  return new MemoKey(secret);
}

/** Caches recently used marks for an hour, then reads them again, which also records their use. */
function createSharedMarks(call: Call, { idleMs, maxRows }: MarkLimits): Marks {
  const recent = new LRUCache<string, string>({ max: RECENT, ttl: TOUCH_AFTER_MS });
  let untilSweep = SWEEP_AFTER;
  const load = async (names: readonly string[]) => {
    for (const [name, value] of await call('find_marks', [names, idleMs], readMarks)) recent.set(name, value);
  };
  const keep = async (marks: readonly (readonly [name: string, value: string])[]) => {
    await call('keep_marks', [marks.map(([name]) => name), marks.map(([, value]) => value)], () => {});
    untilSweep -= marks.length;
    if (untilSweep > 0) return;
    untilSweep = SWEEP_AFTER;
    await call('sweep_marks', [idleMs, maxRows], () => {});
  };
  return {
    load: async (names) => {
      const missing = names.filter((name) => recent.get(name) === undefined);
      if (missing.length === 0) return;
      // Marks that load too late are judged again.
      await Promise.race([load(missing).catch(() => {}), sleep(LONGEST_LOAD_MS, undefined, { ref: false })]);
    },
    find: (name) => recent.get(name),
    keep: (marks) => {
      if (marks.length === 0) return;
      for (const [name, value] of marks) recent.set(name, value);
      void keep(marks).catch(() => {});
    },
  };
}

const LONGEST_LOAD_MS = 2_000;

function readMarks(answer: unknown): (readonly [string, string])[] {
  const row = readAnswer(answer);
  return Object.keys(row).map((name) => [name, textOf(row, name)] as const);
}

function createSharedAnswers(call: Call): KeptAnswers {
  return {
    find: (name) => call('find_answer', [name], readKept),
    mayHaveAny: async () => true,
    keep: (name, { runId, sealed }) =>
      call('keep_answer', [name, runId, sealed, GIVEN_FOR_MS, KEPT_FOR_MS], (answer) => {
        const kept = readKept(answer);
        if (kept === undefined) throw new DamagedError('an answer that was kept is not there');
        return kept;
      }),
    end: (name) => call('end_answer', [name], () => {}),
    remove: (name) => call('remove_answer', [name], () => {}),
  };
}

function readKept(answer: unknown): KeptAnswer | undefined {
  const row: Row = readAnswer(answer);
  if (row['name'] === undefined) return undefined;
  return {
    runId: textOf(row, 'run_id'),
    sealed: textOf(row, 'sealed'),
    endedAt: numberOrNull(row, 'ended_at'),
  };
}

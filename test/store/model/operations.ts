import fc from 'fast-check';
import { expect } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { PendingDecision } from '../../../src/contract/approval.ts';
import type { RunStatus } from '../../../src/contract/run.ts';
import type { Claim, Store } from '../../../src/store/store.ts';
import { faultOf, newCall, newRun } from '../examples.ts';
import { createMemoryStore } from '../memory-store.ts';

interface Subject {
  readonly store: Store;
  readonly claims: Claim[];
}

interface Operation {
  readonly title: string;
  readonly run: (subject: Subject) => Promise<unknown>;
}

const statuses: readonly RunStatus[] = ['running', 'pending', 'completed', 'failed', 'denied', 'cancelled'];
const runId = fc.constantFrom('r1', 'r2', 'r3');
const callId = fc.constantFrom('p1', 'p2', 'p3', 'p4');
const step = fc.constantFrom('a', 'b[0]', 'c\0', '\ud800');
const time = fc.integer({ min: 0, max: 40 });
const words = fc.oneof(fc.string({ maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 5 }));
const json = fc.json({ maxDepth: 2 }).map((text) => new Json(text));

const ruling: fc.Arbitrary<PendingDecision> = fc.oneof(
  fc.record({ kind: fc.constant('approved' as const), args: fc.option(json), by: words, reason: words }),
  fc.record({ kind: fc.constant('rejected' as const), by: words, reason: words }),
  fc.record({ kind: fc.constant('responded' as const), result: json, by: words, reason: words }),
  fc.constant({ kind: 'expired' as const }),
  fc.record({ kind: fc.constant('cancelled' as const), by: words, reason: words }),
);

const change = fc.record(
  {
    status: fc.constantFrom(...statuses),
    at: time,
    output: fc.option(json),
    error: fc.option(
      fc.record({
        code: fc.constant('DENIED' as const),
        message: words,
        hint: words,
        details: fc.dictionary(words, fc.jsonValue()),
      }),
    ),
  },
  { requiredKeys: ['status', 'at'] },
);

const optional = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined });
const labels = optional(
  fc.constantFrom<Readonly<Record<string, string>>>(
    { a: 'x' },
    { a: 'y' },
    { a: 'x', b: 'json:"x"' },
    { b: '' },
  ),
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.tuple(runId, words, json, time, labels).map(([id, name, input, createdAt, given]) => ({
    title: `createRun ${id}`,
    run: ({ store }: Subject) =>
      store.createRun(newRun(id, { name, input, createdAt, ...(given && { labels: given }) })),
  })),
  runId.map((id) => ({ title: `findRun ${id}`, run: ({ store }: Subject) => store.findRun(id) })),
  fc
    .record({
      status: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
      limit: fc.option(fc.nat(3), { nil: undefined }),
    })
    .map((filter) => ({ title: 'listRuns', run: ({ store }: Subject) => store.listRuns(filter) })),
  fc
    .tuple(
      fc.record({
        status: optional(fc.constantFrom(...statuses)),
        labels,
        since: optional(time),
        until: optional(time),
      }),
      fc.nat(3),
      time,
    )
    .map(([filter, limit, at]) => ({
      title: `summarizeRuns ${JSON.stringify(filter)} ${limit} ${at}`,
      // Positions differ between stores.
      run: async ({ store }: Subject) =>
        (await store.summarizeRuns({ ...filter, limit }, at)).map(({ place: _, ...run }) => run),
    })),
  fc.tuple(runId, change).map(([id, to]) => ({
    title: `setRunStatus ${id} ${to.status}`,
    run: ({ store }: Subject) => store.setRunStatus(id, to),
  })),
  runId.map((id) => ({
    title: `claimRun ${id}`,
    run: async ({ store, claims }: Subject) => {
      const claim = await store.claimRun(id);
      if (claim !== undefined) claims.push(claim);
      return claim !== undefined;
    },
  })),
  fc.nat(3).map((index) => ({
    title: `release ${index}`,
    run: async ({ claims }: Subject) => claims[index]?.release(),
  })),
  time.map((before) => ({ title: `prune ${before}`, run: ({ store }: Subject) => store.prune(before) })),
  fc.tuple(runId, step, time).map(([id, path, at]) => ({
    title: `beginStep ${id} ${path} ${at}`,
    run: ({ store }: Subject) => store.beginStep(id, path, at),
  })),
  fc.tuple(runId, step, json, time).map(([id, path, outcome, at]) => ({
    title: `endStep ${id} ${path} ${at}`,
    run: ({ store }: Subject) => store.endStep(id, path, outcome, at),
  })),
  runId.map((id) => ({ title: `listSteps ${id}`, run: ({ store }: Subject) => store.listSteps(id) })),
  fc
    .tuple(callId, runId, words, json, time, fc.option(time))
    .map(([id, run, message, args, createdAt, expiresAt]) => ({
      title: `addPending ${id} of ${run}, ${createdAt} to ${expiresAt}`,
      run: ({ store }: Subject) =>
        store.addPending(newCall(id, run, { message, args, createdAt, expiresAt })),
    })),
  fc.tuple(callId, ruling, time).map(([id, by, at]) => ({
    title: `decide ${id} ${by.kind} ${at}`,
    run: ({ store }: Subject) => store.decide(id, by, at),
  })),
  fc.tuple(callId, time).map(([id, at]) => ({
    title: `findPending ${id} ${at}`,
    run: ({ store }: Subject) => store.findPending(id, at),
  })),
  fc
    .tuple(fc.option(runId, { nil: undefined }), fc.option(fc.boolean(), { nil: undefined }), time)
    .map(([id, open, at]) => ({
      title: `listPendings ${id} ${open} ${at}`,
      run: ({ store }: Subject) => store.listPendings({ runId: id, open }, at),
    })),
);

export async function compareStores(openAll: () => Promise<Store[]>, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { minLength: 5, maxLength: 60, size: 'max' }),
      async (operations) => {
        const oracle: Subject = { store: createMemoryStore(), claims: [] };
        const subjects: Subject[] = (await openAll()).map((store) => ({ store, claims: [] }));
        try {
          for (const { title, run } of operations) {
            const expected = [title, await answerOf(run(oracle))];
            for (const subject of subjects) expect([title, await answerOf(run(subject))]).toEqual(expected);
          }
        } finally {
          for (const { store } of subjects) await store.close();
        }
      },
    ),
    { numRuns },
  );
}

async function answerOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.catch(async () => (await faultOf(promise)).code);
}

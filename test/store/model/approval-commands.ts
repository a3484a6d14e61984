import fc from 'fast-check';
import { expect } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import type { PendingDecision, PendingRecord } from '../../../src/contract/approval.ts';
import type { Store } from '../../../src/store/store.ts';
import { ends, newCall } from '../examples.ts';
import type { ApprovalModel, Kept } from './approval-model.ts';

export interface Desk {
  readonly run: string;
  readonly stores: Store[];
  reopen(seat: number): Promise<void>;
  /** The number of decisions refused because of an earlier one. */
  conflicts: number;
}

type Command = fc.AsyncCommand<ApprovalModel, Desk>;

const SEATS = 3;

function command(title: string, run: (model: ApprovalModel, desk: Desk) => Promise<unknown>): Command {
  return {
    toString: () => title,
    check: () => true,
    run: async (model, desk) => void (await run(model, desk)),
  };
}

function keptOf({ message, expiresAt, createdAt, ruling, decidedAt }: PendingRecord): Kept {
  return { message, expiresAt, createdAt, ruling: ruling && wordsOf(ruling), decidedAt };
}

function wordsOf(ruling: PendingDecision): string {
  if (ruling.kind === 'expired') return 'expired';
  const { kind, by, reason } = ruling;
  return kind === 'cancelled' ? `cancelled by ${by}: ${reason}` : `${kind} by ${by}`;
}

const seat = fc.nat(SEATS - 1);
const key = fc.constantFrom('a', 'b', 'c');
const time = fc.integer({ min: 0, max: 40 });
const kind = fc.constantFrom('approved', 'rejected', 'responded');

function rulingOf(kind: 'approved' | 'rejected' | 'responded', by: string): PendingDecision {
  if (kind === 'approved') return { kind, args: null, by, reason: '' };
  return kind === 'rejected'
    ? { kind, by, reason: '' }
    : { kind, result: new Json('{"a": 1.0}'), by, reason: '' };
}

function storeAt(desk: Desk, index: number): Store {
  const store = desk.stores[index];
  if (store === undefined) throw new Error('there is no such seat');
  return store;
}

/** Concurrent adds of one id all return the first one's record. */
const adds = fc
  .tuple(key, fc.array(seat, { minLength: 1, maxLength: 3 }), fc.option(time), time)
  .map(([id, seats, expiresAt, createdAt]) =>
    command(`add ${id} at seats ${seats}, until ${expiresAt}`, async (model, desk) => {
      const told = await Promise.all(
        seats.map((each, index) => {
          const call = newCall(`${desk.run}-${id}`, desk.run, { message: `${index}`, expiresAt, createdAt });
          return storeAt(desk, each).addPending(call);
        }),
      );
      const messages = new Set(told.map(({ message }) => message));
      expect(messages.size).toBe(1);
      const kept = model.add(id, { message: [...messages].join(), expiresAt, createdAt });
      expect(told.map(keptOf)).toEqual(told.map(() => kept));
    }),
  );

/** Of several concurrent decisions, one wins if the call is open, and none if it is decided or expired. */
const decides = fc
  .tuple(key, fc.array(fc.tuple(seat, kind), { minLength: 1, maxLength: 6 }), time)
  .map(([id, people, at]) =>
    command(`decide ${id} at ${at}: ${people.join(' ')}`, async (model, desk) => {
      const said = await Promise.all(
        people.map(([each, kind], index) =>
          storeAt(desk, each).decide(`${desk.run}-${id}`, rulingOf(kind, `${index}`), at),
        ),
      );
      model.look(at);
      const kept = model.calls.get(id);
      const won = said.flatMap((one, index) => (one?.isAccepted ? [index] : []));
      desk.conflicts += said.length - won.length;
      if (kept === undefined) return expect(said).toEqual(said.map(() => undefined));
      expect(won).toHaveLength(kept.ruling === null ? 1 : 0);
      const [winner] = won;
      if (winner !== undefined)
        Object.assign(kept, { ruling: `${people[winner]?.[1] ?? ''} by ${winner}`, decidedAt: at });
      expect(said.map((one) => one && keptOf(one.record))).toEqual(said.map(() => kept));
    }),
  );

/** All readers see the same calls, in insertion order. */
const looks = fc.tuple(seat, time, fc.option(fc.boolean(), { nil: undefined })).map(([each, at, open]) =>
  command(`seat ${each} looks at ${at}, open: ${open}`, async (model, desk) => {
    const found = await storeAt(desk, each).listPendings({ runId: desk.run, open }, at);
    model.look(at);
    const calls = [...model.calls].filter(
      ([, { ruling }]) => open === undefined || (ruling === null) === open,
    );
    expect(found.map((record) => [record.id, keptOf(record)])).toEqual(
      calls.map(([id, kept]) => [`${desk.run}-${id}`, kept]),
    );
  }),
);

const finds = fc.tuple(seat, key, time).map(([each, id, at]) =>
  command(`seat ${each} finds ${id} at ${at}`, async (model, desk) => {
    const found = await storeAt(desk, each).findPending(`${desk.run}-${id}`, at);
    model.look(at);
    expect(found && keptOf(found)).toEqual(model.calls.get(id));
  }),
);

const endsRun = fc.tuple(seat, fc.constantFrom(...ends), time).map(([each, status, at]) =>
  command(`the run is ${status} at ${at}`, async (model, desk) => {
    const stood = await storeAt(desk, each).setRunStatus(desk.run, { status, at });
    expect(stood).toBe(model.end === undefined);
    if (stood) model.endRun(status, at);
  }),
);

const reopens = seat.map((each) => command(`seat ${each} reopens the file`, (_, desk) => desk.reopen(each)));

export const approvalCommands = fc.commands(
  [adds, adds, decides, decides, decides, looks, finds, endsRun, reopens],
  { maxCommands: 12, size: 'max' },
);

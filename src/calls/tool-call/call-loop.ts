import type { PendingCall } from '../../contract/approval.ts';
import type { CallResult } from '../hooks/call-result.ts';
import type { CallDecision } from './decided-call.ts';
import { type DecidedRecord, type PlannedCall, toPendingCall } from './pending-call.ts';

/** How the calls of one round are made, decided and made again. `Slot`: the place of a call in its round. */
export interface CallLoop<Slot> {
  readonly runId: string;
  /** Does the work of each item of a round, in whatever order, and returns the results in theirs. */
  runRound<Item, Result>(
    items: readonly Item[],
    work: (item: Item, slot: Slot) => Promise<Result>,
  ): Promise<Result[]>;
  /** Makes a call for the first time. */
  make(call: PlannedCall, slot: Slot): Promise<CallResult>;
  /**
   * Stores the calls that wait, and waits for the decisions about all of them. Undefined where they are not
   * decided: then they stay pending.
   */
  decide(waiting: readonly PendingCall[]): Promise<readonly DecidedRecord[] | undefined>;
  /** Makes a call that was decided. `round`: how often it has been. */
  resume(call: PlannedCall, decided: DecidedInRound, slot: Slot): Promise<CallResult>;
}

export interface DecidedInRound extends CallDecision {
  readonly round: number;
}

interface CallState {
  readonly call: PlannedCall;
  readonly result: CallResult;
  /** The last decision about it. */
  readonly decision?: CallDecision;
}

/**
 * Makes calls until none of them waits for a person: those that do are recorded together, in the order of the
 * calls, and when all are decided each goes on by its decision. Returns the results in the order of the calls.
 * Throws what the loop's own functions throw.
 */
export async function runCallLoop<Slot>(
  calls: readonly PlannedCall[],
  loop: CallLoop<Slot>,
): Promise<CallResult[]> {
  let states: readonly CallState[] = await loop.runRound(calls, async (call, slot) => ({
    call,
    result: await loop.make(call, slot),
  }));
  for (let round = 1; states.some(({ result }) => result.outcome.status === 'pending'); round += 1) {
    const decided = await loop.decide(states.flatMap((state) => pendingOf(state, loop.runId, round)));
    if (decided === undefined) break;
    const records = new Map(decided.map((record) => [record.step, record]));
    states = await loop.runRound(states, async (state, slot): Promise<CallState> => {
      const record = records.get(state.call.name);
      if (record === undefined) return state;
      const decision = addDecision(state.decision, record);
      return { ...state, decision, result: await loop.resume(state.call, { ...decision, round }, slot) };
    });
  }
  return states.map(({ result }) => result);
}

function pendingOf({ call, result, decision }: CallState, runId: string, round: number): PendingCall[] {
  const { outcome } = result;
  if (outcome.status !== 'pending') return [];
  return [toPendingCall(call, { runId, outcome, round, previous: decision?.record.id ?? null })];
}

function addDecision(before: CallDecision | undefined, record: DecidedRecord): CallDecision {
  const { hook, args, ruling } = record;
  const isApproved = ruling.kind === 'approved';
  const edited = isApproved ? ruling.args : null;
  const approval = isApproved && hook !== null ? [{ hook, args: edited ?? args }] : [];
  return {
    record,
    editedArgs: edited ?? before?.editedArgs ?? null,
    approvals: [...(before?.approvals ?? []), ...approval],
  };
}

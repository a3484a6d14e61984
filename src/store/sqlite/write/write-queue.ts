import { setImmediate as nextTurn } from 'node:timers/promises';
import PQueue from 'p-queue';
import { RuntimeError } from '../../../base/errors.ts';
import type { Row } from '../row.ts';
import type { Answer, Change } from './change.ts';

/** Runs work and changes in order; consecutive changes are batched. */
export interface WriteQueue {
  run<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  change(change: Change): Promise<Row>;
  onIdle(): Promise<void>;
}

export type Commit = (changes: readonly Change[]) => Promise<readonly Answer[]>;

export function createWriteQueue(commit: Commit): WriteQueue {
  const queue = new PQueue({ concurrency: 1 });
  const waiting = new Set<WaitingChange>();
  let open: Batch | undefined;
  const openBatch = (): Batch => {
    const batch: Batch = { waiting: [], size: 0 };
    void queue.add(async () => {
      // Related changes are queued within one turn of the event loop.
      await nextTurn();
      if (open === batch) open = undefined;
      await commitBatch(batch, waiting, commit);
    });
    return batch;
  };
  return {
    run: async (work) => {
      // Later changes must not join an earlier batch.
      open = undefined;
      return await queue.add(async () => await work());
    },
    change: async (change) => {
      if (open === undefined || open.size > MAX_BATCH_SIZE) open = openBatch();
      const entry: WaitingChange = { change, ...Promise.withResolvers<Row>() };
      open.waiting.push(entry);
      open.size += sizeOf(change);
      waiting.add(entry);
      return await entry.promise;
    },
    onIdle: () => queue.onIdle(),
  };
}

const MAX_BATCH_SIZE = 4_000_000;
const SIZE_OF_CHANGE = 200;

function sizeOf(change: Change): number {
  if (change.what !== 'end_step') return SIZE_OF_CHANGE;
  const { text, parts } = change.step.outcome;
  return (parts?.texts ?? []).reduce((size, each) => size + each.text.length, SIZE_OF_CHANGE + text.length);
}

interface Batch {
  readonly waiting: WaitingChange[];
  size: number;
}

interface WaitingChange extends PromiseWithResolvers<Row> {
  readonly change: Change;
}

async function commitBatch(
  { waiting: batch }: Batch,
  waiting: Set<WaitingChange>,
  commit: Commit,
): Promise<void> {
  const changes = batch.filter((entry) => waiting.has(entry));
  if (changes.length === 0) return;
  try {
    settle(changes, waiting, await commit(changes.map(({ change }) => change)));
  } catch (error) {
    if (changes.length === 1) failRun(changes[0], waiting, error);
    // One change is invalid; the others must not fail with it.
    else for (const entry of changes) await commitBatch({ waiting: [entry], size: 0 }, waiting, commit);
  }
}

function settle(
  changes: readonly WaitingChange[],
  waiting: Set<WaitingChange>,
  answers: readonly Answer[],
): void {
  for (const [index, entry] of changes.entries()) {
    const answer = answers[index];
    waiting.delete(entry);
    if (answer === undefined)
      entry.reject(new RuntimeError('INTERNAL', 'the writer thread did not answer a change'));
    else if ('row' in answer) entry.resolve(answer.row);
    else refuse(entry, waiting, toError(answer.refusal));
  }
}

function refuse(entry: WaitingChange, waiting: Set<WaitingChange>, error: RuntimeError): void {
  entry.reject(error);
  if (error.code === 'STORE_FAILED') failRun(entry, waiting, error);
}

function toError({
  code,
  message,
  hint,
  details,
}: Extract<Answer, { refusal: unknown }>['refusal']): RuntimeError {
  return new RuntimeError(code, message, { hint, ...(details && { details }) });
}

/** Later changes of the run depended on the failed one. */
function failRun(failed: WaitingChange | undefined, waiting: Set<WaitingChange>, error: unknown): void {
  for (const entry of waiting) {
    if (entry.change.runId !== failed?.change.runId) continue;
    waiting.delete(entry);
    entry.reject(error);
  }
}

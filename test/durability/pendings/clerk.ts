/**
 * One of several processes that take, decide and continue calls over one state store. Usage: clerk.ts RUNTIME.yaml NAME
 * [enough]. Writes a line for each of `Said` synchronously. Takes calls until `enough` is an argument or arrives on
 * stdin, and works until all are finished.
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingDocument } from '../../../src/index.ts';
import { builtLibrary } from '../../built.ts';
import type { Said } from './said.ts';

const { openRuntime, RuntimeError }: typeof import('../../../src/index.ts') = await import(builtLibrary);

const [config = '', name = '', told = ''] = process.argv.slice(2);
const runtime = await openRuntime(config, { log: false });
let hasEnough = told === 'enough';
let count = 0;
process.stdin
  .on('data', () => {
    hasEnough = true;
  })
  .on('end', () => process.exit());

/** The number of calls taken, and decided, at once. */
const LANES = 16;
/** No process takes calls while that many wait. */
const BACKLOG = 100;

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

for (;;) {
  const open = await runtime.pending.list();
  await Promise.all(someOf(open).map(decide));
  if (!hasEnough && open.length < BACKLOG) await Promise.all(Array.from({ length: LANES }, take));
  if (hasEnough || Math.random() < 0.3) await finishWhatWasLeft();
  if (hasEnough && open.length === 0) await sleep(50);
}

async function take(): Promise<void> {
  count += 1;
  const n = `${name}-${count}`;
  const tool = count % 2 === 0 ? 'pay' : 'mail';
  const document = await runtime.tools.call(tool, { n });
  if (document.status !== 'pending') throw new Error(`no pending: ${JSON.stringify(document)}`);
  say({ what: 'took', id: document.pending.id, run: document.pending.run_id, n });
}

function someOf(open: readonly PendingDocument[]): PendingDocument[] {
  return open
    .slice(0, 4 * LANES)
    .sort(() => Math.random() - 0.5)
    .slice(0, LANES);
}

async function decide({ id, run_id }: PendingDocument): Promise<void> {
  count += 1;
  const by = `${name} ${count}`;
  const kind = Math.random() < 0.7 ? 'approve' : Math.random() < 0.5 ? 'reject' : 'respond';
  try {
    if (kind === 'respond') await runtime.pending.respond(id, { by, result: { by } });
    else await runtime.pending[kind](id, { by });
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'PENDING_DECIDED') throw error;
    return say({ what: 'lost', id, by });
  }
  say({ what: 'won', id, by });
  await goOn(run_id);
}

async function goOn(run: string): Promise<void> {
  try {
    await runtime.runs.resume(run);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== 'RUN_BUSY') throw error;
  }
}

async function finishWhatWasLeft(): Promise<void> {
  const open = new Set((await runtime.pending.list()).map(({ run_id }) => run_id));
  const left = [
    ...(await runtime.runs.list({ status: 'pending' })),
    ...(await runtime.runs.list({ status: 'cut_off' })),
  ]
    .map(({ run_id }) => run_id)
    .filter((run) => !open.has(run))
    .sort(() => Math.random() - 0.5);
  await Promise.all(left.slice(0, LANES).map(goOn));
}

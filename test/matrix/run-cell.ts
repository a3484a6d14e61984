import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime, type Runtime, RuntimeError, type RuntimeEvent } from '../../src/index.ts';
import { type Staged, stage } from './entry.ts';
import { type Expected, expected } from './expect.ts';
import type { Fault, FaultClass } from './fault.ts';
import { judge, type Seen, type Verdict } from './judge.ts';
import { isForeign, isHook, type Target } from './targets.ts';

export interface Cell {
  readonly fault: Fault;
  readonly target: Target;
}

export interface CellResult extends Cell, Verdict {
  readonly expected: Expected;
  readonly seen: Seen;
  readonly ms: number;
}

/**
 * The limit in milliseconds from opening a cell's runtime to its end. It exceeds every limit and grace period in the
 * cell.
 */
const HUNG_MS = 60_000;
const HEAVY_MS = 300_000;

/** Runs the cell in a runtime of its own, with its config in `folder`. Never rejects. */
export async function runCell(
  cell: Cell,
  folder: string,
  hungMs = cell.fault.isHeavy ? HEAVY_MS : HUNG_MS,
): Promise<CellResult[]> {
  const start = performance.now();
  const classes = [cell.fault.class].flat();
  const seen = await within(hungMs, runCalls(cell, folder, classes.length));
  const ms = Math.round(performance.now() - start);
  return classes.map((faultClass, call) =>
    judged(cell, faultClass, { seen: seen[call] ?? { kind: 'hung' }, ms }),
  );
}

function judged(
  cell: Cell,
  faultClass: FaultClass,
  { seen, ms }: { readonly seen: Seen; readonly ms: number },
): CellResult {
  const wanted = expected(cell.target, faultClass.means(cell.target));
  return { ...cell, expected: wanted, seen, ms, ...judge(cell.target, wanted, seen) };
}

async function within(limitMs: number, work: Promise<Seen[]>): Promise<Seen[]> {
  const over = new AbortController();
  const hung = sleep(limitMs, [], { signal: over.signal }).catch(() => []);
  const seen = await Promise.race([work.catch(threw), hung]);
  over.abort();
  return seen;
}

function threw(error: unknown): Seen[] {
  const code = error instanceof RuntimeError ? error.code : 'none';
  return [
    { kind: 'threw', code, text: error instanceof Error ? (error.stack ?? error.message) : String(error) },
  ];
}

async function runCalls(cell: Cell, folder: string, count: number): Promise<Seen[]> {
  const { target, fault } = cell;
  const staged = stage(fault, { target, folder });
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(staged.config, {
    log: false,
    launcher: target.launcher,
    onEvent: (event) => keepEvent(events, event),
  });
  let seen: Seen[];
  try {
    seen = await ask(cell, { runtime, events, staged, count });
    // Closing cancels pending observers after a limit.
    if (isTold(target) && !isForeign(target)) await until(() => events.some(isEnd), 30_000);
  } finally {
    await runtime.close();
  }
  return isTold(target) ? seen.map((each) => withTold(each, events)) : seen;
}

interface Open {
  readonly runtime: Runtime;
  readonly events: readonly RuntimeEvent[];
  readonly staged: Staged;
  readonly count: number;
}

async function ask(cell: Cell, { runtime, events, staged, count }: Open): Promise<Seen[]> {
  const { target, fault } = cell;
  staged.afterOpen();
  if (target.transport === 'warm')
    await until(() => events.some(({ type }) => type === 'process.started'), 200);
  const { awaits } = fault;
  if (awaits !== undefined) await until(() => events.some(({ type }) => type === awaits), 10_000);
  const calls = Array.from({ length: count }, (_, index) => index);
  if (fault.isTogether) return await Promise.all(calls.map(() => askOnce(cell, runtime, events)));
  const seen: Seen[] = [];
  for (const call of calls) {
    // The server must have exited, or it would get the next request while it dies.
    if (call > 0 && fault.isEnded)
      await until(() => events.filter(({ type }) => type === 'process.ended').length >= call, 10_000);
    seen.push(await askOnce(cell, runtime, events));
  }
  return seen;
}

async function until(isDone: () => boolean, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!isDone() && performance.now() < deadline) await sleep(5);
}

async function askOnce(
  { target, fault }: Cell,
  runtime: Runtime,
  events: readonly RuntimeEvent[],
): Promise<Seen> {
  const { text = 'hi' } = fault;
  if (target.capability === 'tool') {
    const outcome = await runtime.tools.call('it', { text });
    return outcome.status === 'failed'
      ? { kind: 'outcome', status: 'failed', code: outcome.error.code, text: outcome.error.message }
      : { kind: 'outcome', status: outcome.status };
  }
  if (!isHook(target)) {
    const outcome = await runtime.evals.call('it', { content: text });
    return outcome.status === 'unscored'
      ? { kind: 'outcome', status: 'unscored', code: outcome.error?.code, text: outcome.reason }
      : { kind: 'outcome', status: outcome.status };
  }
  const { verdict, metadata, reason, error } = await runtime.hooks.fire(target.point.event);
  const told = events.some(isEnd);
  return { kind: 'decision', verdict, metadata, code: error?.code, text: reason, wasAwaited: told };
}

/** Stores the event, but only the first of a flood. */
function keepEvent(events: RuntimeEvent[], event: RuntimeEvent): void {
  const isFlood = event.type === 'dropped' || event.type === 'stderr';
  if (!isFlood || events.length < 100) events.push(event);
}

function isTold(target: Target): boolean {
  return isHook(target) && target.mode !== 'filter';
}

function isEnd({ type }: RuntimeEvent): boolean {
  return type === 'call.finished' || type === 'decision';
}

function withTold(seen: Seen, events: readonly RuntimeEvent[]): Seen {
  if (seen.kind !== 'decision') return seen;
  for (const event of events) {
    if (event.type === 'call.finished') return { ...seen, told: event.status, code: event.error?.code };
    if (event.type === 'decision') return { ...seen, told: event.verdict, code: event.error?.code };
  }
  return { ...seen, told: undefined };
}

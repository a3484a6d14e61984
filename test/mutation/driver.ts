import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { collectTests, type ReplayedTest } from './collect.ts';
import { type Asked, type Told, toLine, workerPlan } from './messages.ts';
import { replay } from './replay.ts';

// The one test file of a worker of the mutation tests: it loads every test of an area once, and then runs those it
// is asked for again and again in this process, with one mutant switched on. A process for each mutant would
// take hours.
const { address, tests, activeMutant } = workerPlan();
const switches = mutantSwitches();
switches.activeMutant = activeMutant;

test('mutation driver', { timeout: 0 }, async ({ task }) => {
  const known = collectTests(task.file, task);
  const socket = createConnection(address);
  const say = (told: Told) => void socket.write(toLine(told));
  say({ ready: known.size });
  for await (const line of createInterface({ input: socket })) say(await answer(JSON.parse(line), known));
  expect(known.size).toBeGreaterThan(0);
});

// Tests are loaded before the first of them runs, and the first never ends.
for (const file of tests) describe(file, () => import(`${process.cwd()}/${file}`));

/** Tests that a mutant meets at least, if there are as many. */
const LEAST = 8;

async function answer(asked: Asked, known: Map<string, ReplayedTest>): Promise<Told> {
  if (asked.run === 'all') return runAll(known, asked);
  const chosen =
    asked.tests.length === 0 ? [...known.values()] : asked.tests.flatMap((id) => known.get(id) ?? []);
  for (const each of chosen) each.ms = asked.timings[each.id] ?? each.ms;
  const began = performance.now();
  let ran = 0;
  for (const each of chosen.sort((one, other) => one.ms - other.ms)) {
    if (ran >= LEAST && performance.now() - began + each.ms > asked.budgetMs) break;
    ran += 1;
    switches.hitCount = 0;
    switches.hitLimit = asked.hitLimit;
    switches.activeMutant = asked.mutant;
    const failure = await replay(each, each.ms * 5 + 2_000);
    if (activeMutant === undefined) switches.activeMutant = undefined;
    if (failure === undefined) continue;
    // A test that fails without the mutant too shows nothing but what an earlier mutant left behind.
    const doubt = activeMutant === undefined ? await replay(each, each.ms * 5 + 10_000) : undefined;
    return doubt === undefined ? { killedBy: each.id, failure, ran } : { spoiled: `${each.id}: ${doubt}` };
  }
  return { ran, skipped: chosen.length - ran };
}

/** Runs every test once without a mutant, and tells which mutants each of them meets. */
async function runAll(
  known: Map<string, ReplayedTest>,
  { timings, slowestMs }: Extract<Asked, { run: 'all' }>,
): Promise<Told> {
  const results = [];
  for (const each of known.values()) {
    if ((timings[each.id] ?? 0) > slowestMs) continue;
    switches.currentTestId = each.id;
    const began = performance.now();
    const failure = await replay(each, 60_000);
    each.ms = performance.now() - began;
    switches.currentTestId = undefined;
    results.push({ id: each.id, ms: each.ms, failure });
  }
  return { results, coverage: switches.mutantCoverage ?? { static: {}, perTest: {} } };
}

interface Switches {
  activeMutant: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number;
  hitLimit?: number | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

/** The object by which the instrumented code asks which mutant is on. */
function mutantSwitches(): Switches {
  const shared: { __stryker__?: Switches } = globalThis as never;
  shared.__stryker__ ??= { activeMutant: undefined };
  return shared.__stryker__;
}

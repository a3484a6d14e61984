import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { collectTests, type ReplayedTest } from './collect.ts';
import { type Asked, type Told, toLine, workerPlan } from './messages.ts';
import { replay } from './replay.ts';

// The only test file of a mutation worker. It loads every test of an area once, then reruns those that are requested
// with one mutant active. A process for each mutant would take hours.
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

// Vitest loads all tests before it runs the first, which never ends.
for (const file of tests) describe(file, () => import(`${process.cwd()}/${file}`));

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
    // A test that also fails without the mutant only shows the effects of an earlier mutant.
    const doubt = activeMutant === undefined ? await replay(each, each.ms * 5 + 10_000) : undefined;
    return doubt === undefined ? { killedBy: each.id, failure, ran } : { spoiled: `${each.id}: ${doubt}` };
  }
  return { ran, skipped: chosen.length - ran };
}

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

function mutantSwitches(): Switches {
  const shared: { __stryker__?: Switches } = globalThis as never;
  shared.__stryker__ ??= { activeMutant: undefined };
  return shared.__stryker__;
}

import fc from 'fast-check';
import { type Action, arbitraryCase, type Case, titleOf } from './case.ts';
import { findFaults, isLeak } from './check.ts';
import type { World } from './world.ts';

export interface Run {
  readonly seed: number;
  readonly count: number;
  readonly actions: readonly Action[];
  readonly atOnce: number;
}

export interface Broken {
  readonly title: string;
  readonly faults: readonly string[];
}

/** Runs generated cases; a seed always gives the same ones. Returns at most ten broken cases. */
export async function runCases(world: World, run: Run): Promise<{ ran: number; broken: Broken[] }> {
  const broken: Broken[] = [];
  let ran = 0;
  const work = async (cases: Iterator<Case>): Promise<void> => {
    for (let next = cases.next(); next.done !== true && broken.length < 10; next = cases.next()) {
      const faults = await faultsOf(world, next.value);
      if (faults.length > 0) broken.push({ title: titleOf(next.value), faults });
      ran += 1;
    }
  };
  const cases = generate(run);
  await Promise.all(Array.from({ length: run.atOnce }, () => work(cases)));
  return { ran, broken };
}

/** On a busy machine a client waits for seconds and receives keep-alive events. Such a case runs again. */
async function faultsOf(world: World, one: Case): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const faults = await faultsOfOne(world, one);
    const hasWaited = performance.now() - startedAt > 4000;
    if (faults.length === 0 || !hasWaited || attempt === 5 || faults.some(isLeak)) return faults;
  }
}

async function faultsOfOne(world: World, one: Case): Promise<string[]> {
  try {
    const { wire, gots } = await world.run(one);
    return findFaults(one, wire, gots);
  } catch (error) {
    return [error instanceof Error ? `${error.message}\n${error.stack}` : String(error)];
  }
}

/** A thousand at a time, to limit memory. */
function* generate({ seed, count, actions }: Run): Generator<Case> {
  for (let made = 0; made < count; made += 1000) {
    const numRuns = Math.min(1000, count - made);
    yield* fc.sample(arbitraryCase(actions), { seed: seed + made, numRuns });
  }
}

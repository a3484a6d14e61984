import { type Host, host } from './host.ts';
import type { Line, Way } from './line.ts';
import type { LineResult, WayResult } from './result.ts';
import { median, spreadOf } from './statistics.ts';
import type { Took } from './worker.ts';

/** How long a line is measured. */
export interface Effort {
  readonly rounds: number;
  /** Duration of one round of one way. */
  readonly seconds: number;
  /** Receives progress messages. */
  readonly progress?: (text: string) => void;
}

interface Entrant {
  readonly way: Way;
  readonly host: Host;
  readonly values: number[];
  readonly costs: (Took & { readonly count: number })[];
}

/**
 * Measures the ways of a line in turn, in alternating order, so that other load on the machine affects all alike. A
 * ratio compares two values of the same round.
 */
export async function measureLine(line: Line, effort: Effort): Promise<LineResult> {
  const entrants: Entrant[] = [];
  try {
    for (const way of line.ways) {
      effort.progress?.(`${line.id}: opening ${way.name}`);
      entrants.push({ way, host: await host(way), values: [], costs: [] });
    }
    const counts = new Map<Entrant, number>();
    for (const entrant of entrants) {
      effort.progress?.(`${line.id}: warming up ${entrant.way.name}`);
      if (line.warmUp !== undefined) await entrant.host.run(line.warmUp);
      counts.set(entrant, line.count ?? (await countFor(entrant.host, effort.seconds)));
    }
    for (let round = 0; round < effort.rounds; round++) {
      for (const entrant of round % 2 === 0 ? entrants : entrants.toReversed()) {
        effort.progress?.(`${line.id}: round ${round + 1} of ${effort.rounds}, ${entrant.way.name}`);
        await runOnce(entrant, counts.get(entrant) ?? 1, line);
      }
    }
    const baseline = entrants[0]?.values ?? [];
    return {
      id: line.id,
      title: line.title,
      unit: line.unit,
      ways: entrants.map((entrant) => resultOf(entrant, baseline)),
    };
  } finally {
    await Promise.all(entrants.map((entrant) => entrant.host.close()));
  }
}

/** Finds the number of calls that fill the time by doubling, which is also the warm-up. */
async function countFor(contender: Host, seconds: number): Promise<number> {
  for (let count = 8; ; count *= 2) {
    const took = await contender.run(count);
    if (took.seconds >= seconds / 2 || count > 2 ** 24) {
      return Math.max(1, Math.ceil((count * seconds) / took.seconds));
    }
  }
}

async function runOnce(
  { host: contender, values, costs }: Entrant,
  count: number,
  line: Line,
): Promise<void> {
  const took = await contender.run(count);
  const ofOne = took.seconds / count;
  const whole = line.unit === 's' ? took.seconds : ofOne * 1000;
  values.push(took.value ?? (line.unit === '/s' ? 1 / ofOne : whole));
  costs.push({ ...took, count });
}

function resultOf({ way, values, costs }: Entrant, baseline: readonly number[]): WayResult {
  const perCall = (pick: (took: Took) => number) =>
    median(costs.map((took) => (pick(took) / took.count) * 1000));
  return {
    name: way.name,
    value: spreadOf(values),
    ratio: spreadOf(values.map((value, round) => value / (baseline[round] ?? Number.NaN))),
    cpu_ms: perCall(({ cpuSeconds }) => cpuSeconds),
    children_cpu_ms: perCall(({ childCpuSeconds }) => childCpuSeconds),
    peak_mb: Math.max(...costs.map(({ peakMb }) => peakMb)),
  };
}

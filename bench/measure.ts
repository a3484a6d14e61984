import { availableParallelism } from 'node:os';

/** One way to do the work: does it `count` times, `concurrency` at once. */
export interface Contender {
  readonly name: string;
  run(count: number, concurrency: number): Promise<void>;
  close?(): Promise<void>;
}

export interface Measured {
  readonly name: string;
  /** Runs per second, the median of the rounds. */
  readonly rate: number;
}

/**
 * Measures contenders in turn, round after round, so that other load on the machine affects all of them alike. Returns
 * the median of each.
 */
export async function measure(
  contenders: readonly Contender[],
  {
    count,
    rounds = 5,
    concurrency = availableParallelism(),
  }: { count: number; rounds?: number; concurrency?: number },
): Promise<Measured[]> {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) await contender.run(Math.ceil(count / 10), concurrency);
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const startedAt = performance.now();
      await contender.run(count, concurrency);
      rates.get(contender.name)?.push((count / (performance.now() - startedAt)) * 1000);
    }
  }
  for (const contender of contenders) await contender.close?.();
  return [...rates].map(([name, values]) => ({ name, rate: median(values) }));
}

/** Each contender's rate, and its ratio to the baseline, which comes first. */
export function render(title: string, measured: readonly Measured[]): string {
  const baseline = measured[0]?.rate ?? Number.NaN;
  const width = Math.max(...measured.map(({ name }) => name.length));
  const lines = measured.map(
    ({ name, rate }) =>
      `  ${name.padEnd(width)}  ${rate.toFixed(0).padStart(8)} /s  ${(rate / baseline).toFixed(2).padStart(6)} ×`,
  );
  return [title, ...lines].join('\n');
}

/** Does `work` `count` times, `concurrency` at once. */
export async function spread(count: number, concurrency: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

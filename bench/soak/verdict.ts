import { linearRegression } from 'simple-statistics';
import type { Sample } from './sample.ts';

/** Values that must not grow over the whole run by more than `least` and by more than this share of their median. */
const rules = [
  { name: 'rssMb', least: 24, part: 0.15 },
  { name: 'heapMb', least: 6, part: 0.15 },
  { name: 'descriptors', least: 8, part: 0.1 },
  { name: 'children', least: 4, part: 0.1 },
  { name: 'zombies', least: 2, part: 0.1 },
  { name: 'handles', least: 8, part: 0.1 },
] as const;

/** The growth of a curve after the warm-up. */
export interface Growth {
  readonly name: (typeof rules)[number]['name'];
  readonly median: number;
  /** The slope of its regression multiplied by the duration. */
  readonly growth: number;
  readonly grows: boolean;
}

/** The first third is the warm-up, in which code is compiled and heaps grow to their size. */
function afterWarmUp(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 3));
}

/** The growth of each curve. With fewer than six samples, no growth is reported. */
export function findGrowth(all: readonly Sample[]): Growth[] {
  const samples = afterWarmUp(all);
  const [first, last] = [samples[0], samples.at(-1)];
  if (all.length < 6 || first === undefined || last === undefined) return [];
  return rules.map(({ name, least, part }) => {
    const { m: slope } = linearRegression(samples.map((sample) => [sample.seconds, sample[name]]));
    const growth = slope * (last.seconds - first.seconds);
    const values = samples.map((sample) => sample[name]).toSorted((one, other) => one - other);
    const median = values[Math.floor(values.length / 2)] ?? 0;
    return { name, median, growth, grows: growth > Math.max(least, part * median) };
  });
}

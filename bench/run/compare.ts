import type { Line } from './line.ts';
import type { LineResult } from './result.ts';

/** Ratios of one machine: of each way but the first, by `line: way`. */
type Ratios = Readonly<Record<string, number>>;

/** bench/recorded.json: ratios by class of machine. */
export type Recorded = Readonly<Record<string, Ratios>>;

/** A way that has become worse than it may. */
export interface Fall {
  readonly line: string;
  readonly way: string;
  readonly recorded: number;
  readonly now: number;
}

/** Ratios to compare with, and how much of the recorded speed must be left. */
export interface Yardstick {
  readonly ratios: Ratios;
  readonly least: number;
  /** The class of machine that they were recorded on. */
  readonly class: string;
}

/** On the machine's own class a third may be lost; on one that nobody has recorded, a half of what another class has. */
export function yardstickFor(machine: string, recorded: Recorded): Yardstick | undefined {
  const own = recorded[machine];
  if (own !== undefined) return { ratios: own, least: 2 / 3, class: machine };
  const [other] = Object.entries(recorded);
  return other === undefined ? undefined : { ratios: other[1], least: 1 / 2, class: other[0] };
}

/** The ways of a line that are slower than the yardstick allows. What it does not have cannot fall. */
export function findFalls(line: LineResult, { ratios, least }: Yardstick): Fall[] {
  return line.ways.slice(1).flatMap(({ name, ratio }) => {
    const recorded = ratios[`${line.id}: ${name}`];
    if (recorded === undefined) return [];
    const left = speedLeft(line.unit, ratio.median, recorded);
    return left >= least ? [] : [{ line: line.id, way: name, recorded, now: ratio.median }];
  });
}

/** How much of the recorded speed there is. Of a time less is better; what is no number has fallen. */
function speedLeft(unit: Line['unit'], now: number, recorded: number): number {
  const left = unit === '/s' ? now / recorded : recorded / now;
  return Number.isNaN(left) ? 0 : left;
}

/** The record with these lines' ratios in the place of those that it had. */
export function record(recorded: Recorded, machine: string, lines: readonly LineResult[]): Recorded {
  const fresh = lines.flatMap(({ id, ways }) =>
    ways.slice(1).map(({ name, ratio }) => [`${id}: ${name}`, Number(ratio.median.toFixed(3))] as const),
  );
  return { ...recorded, [machine]: { ...recorded[machine], ...Object.fromEntries(fresh) } };
}

/** A sentence for each way that fell. */
export function describeFall({ line, way, recorded, now }: Fall): string {
  return `${line}: "${way}" is at ${now.toFixed(2)} of the baseline, and was recorded at ${recorded.toFixed(2)}`;
}

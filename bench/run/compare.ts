import type { Line } from './line.ts';
import type { LineResult } from './result.ts';

/** Ratios of one machine, for each way except the first, by `line: way`. */
type Ratios = Readonly<Record<string, number>>;

/** bench/recorded.json: ratios by class of machine. */
export type Recorded = Readonly<Record<string, Ratios>>;

/** A way that is slower than allowed. */
export interface Fall {
  readonly line: string;
  readonly way: string;
  readonly recorded: number;
  readonly now: number;
}

/** Ratios to compare with, and the share of the recorded speed that is required. */
export interface Yardstick {
  readonly ratios: Ratios;
  readonly least: number;
  /** The class of machine on which the ratios were recorded. */
  readonly class: string;
}

/**
 * On a recorded class of machine, a way may be a third slower than its record. On any other, it needs half the speed of
 * another class.
 */
export function yardstickFor(machine: string, recorded: Recorded): Yardstick | undefined {
  const own = recorded[machine];
  if (own !== undefined) return { ratios: own, least: 2 / 3, class: machine };
  const [other] = Object.entries(recorded);
  return other === undefined ? undefined : { ratios: other[1], least: 1 / 2, class: other[0] };
}

/** Returns the ways of a line that are slower than the yardstick allows. Ways without a record are ignored. */
export function findFalls(line: LineResult, { ratios, least }: Yardstick): Fall[] {
  return line.ways.slice(1).flatMap(({ name, ratio }) => {
    const recorded = ratios[`${line.id}: ${name}`];
    if (recorded === undefined) return [];
    const left = speedLeft(line.unit, ratio.median, recorded);
    return left >= least ? [] : [{ line: line.id, way: name, recorded, now: ratio.median }];
  });
}

/**
 * The current speed relative to the record. For times, lower is better. A value that is not a number counts as a
 * regression.
 */
function speedLeft(unit: Line['unit'], now: number, recorded: number): number {
  const left = unit === '/s' ? now / recorded : recorded / now;
  return Number.isNaN(left) ? 0 : left;
}

/** Returns the record with the ratios of these lines replaced. */
export function record(recorded: Recorded, machine: string, lines: readonly LineResult[]): Recorded {
  const fresh = lines.flatMap(({ id, ways }) =>
    ways.slice(1).map(({ name, ratio }) => [`${id}: ${name}`, Number(ratio.median.toFixed(3))] as const),
  );
  return { ...recorded, [machine]: { ...recorded[machine], ...Object.fromEntries(fresh) } };
}

/** One sentence that describes a regression. */
export function describeFall({ line, way, recorded, now }: Fall): string {
  return `${line}: "${way}" is at ${now.toFixed(2)} of the baseline, and was recorded at ${recorded.toFixed(2)}`;
}

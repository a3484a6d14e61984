/** One way to do the work of a line, open in its own process. */
export interface Contender {
  /** Does the work `count` times. */
  run(count: number): Promise<Told | undefined>;
  close?(): Promise<void>;
}

/** Figures that a contender measures itself. Each replaces the figure measured from outside. */
export interface Told {
  /** The value of the line in its unit, if that is neither calls per second nor milliseconds per call. */
  readonly value?: number;
  readonly seconds?: number;
  readonly cpuSeconds?: number;
  readonly childCpuSeconds?: number;
  readonly peakMb?: number;
}

/** How to open a contender: the module that exports `open`, and its options. */
export interface Way {
  readonly name: string;
  readonly module: string;
  readonly options: unknown;
  /** Memory that the process allocates and touches before it starts, in MB. */
  readonly residentMb?: number;
  /** For comparison only; omitted from the short form. */
  readonly aside?: boolean;
}

/** Work, and the ways to do it. The first way is the baseline of the others. */
export interface Line {
  /** `bench/what`, the name on the command line. */
  readonly id: string;
  readonly title: string;
  /** For `/s` higher is better, for other units lower. */
  readonly unit: '/s' | 'ms' | 's';
  /** Calls per round. Without it, as many as fill the time of a round. */
  readonly count?: number;
  /** With `count`: uncounted calls before the rounds. */
  readonly warmUp?: number;
  /** Whether the short form includes this line. */
  readonly short?: boolean;
  readonly ways: readonly Way[];
}

/** A group of lines. */
export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Whether it is measured only if it is named. */
  readonly isNamedOnly?: boolean;
  /** Its lines, or the reason why there are none on this machine. */
  lines(): Promise<readonly Line[] | string>;
}

/** Creates ways whose contenders the module at `url` opens from `Options`. */
export function defineWay<Options>(
  url: string,
): (name: string, options: Options, more?: Pick<Way, 'residentMb' | 'aside'>) => Way {
  return (name, options, more = {}) => ({ name, module: url, options, ...more });
}

/** Does `work` `count` times, `atOnce` at once. */
export async function spread(count: number, atOnce: number, work: () => Promise<void>): Promise<undefined> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  return undefined;
}

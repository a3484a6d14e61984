/** One way of doing the work of a line, alive in a process of its own. */
export interface Contender {
  /** Does the work `count` times. */
  run(count: number): Promise<Told | undefined>;
  close?(): Promise<void>;
}

/** What a contender knows better than those who watch its process: each member takes the place of what they saw. */
export interface Told {
  /** What the line is about, in its unit, where that is neither calls a second nor milliseconds of a call. */
  readonly value?: number;
  readonly seconds?: number;
  readonly cpuSeconds?: number;
  readonly childCpuSeconds?: number;
  readonly peakMb?: number;
}

/** How to open a contender: the module that exports `open`, and what to give it. */
export interface Way {
  readonly name: string;
  readonly module: string;
  readonly options: unknown;
  /** Memory that the process holds, and has touched, before it begins. */
  readonly residentMb?: number;
  /** For comparison only: the short form leaves it out. */
  readonly aside?: boolean;
}

/** Work, and the ways of doing it, of which the first is what the others are compared with. */
export interface Line {
  /** `bench/what`, as one names it on the command line. */
  readonly id: string;
  readonly title: string;
  /** Of `/s` more is better, of every other unit less. */
  readonly unit: '/s' | 'ms' | 's';
  /** Calls of a round; where it is missing, as many as fill the time of one. */
  readonly count?: number;
  /** With `count`: calls that come before the rounds and are not counted. */
  readonly warmUp?: number;
  /** Whether the short form has this line. */
  readonly short?: boolean;
  readonly ways: readonly Way[];
}

/** Lines that belong together. */
export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Its lines, or why there are none on this machine. */
  lines(): Promise<readonly Line[] | string>;
}

/** Makes ways whose contenders the module at `url` opens from `Options`. */
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

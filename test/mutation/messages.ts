/** What a worker is asked, one JSON text on a line: every test once, or those that meet a mutant until one fails. */
export type Asked =
  | {
      readonly run: 'all';
      /** Milliseconds that tests took at an earlier time, by id. */
      readonly timings: Readonly<Record<string, number>>;
      /** Tests that took longer are left out. */
      readonly slowestMs: number;
    }
  | {
      readonly run: 'mutant';
      readonly mutant: string;
      /** Ids; empty: all. */
      readonly tests: readonly string[];
      readonly hitLimit?: number | undefined;
      /** Milliseconds that these tests take without a mutant, by id. */
      readonly timings: Readonly<Record<string, number>>;
      /** After which no further test is begun. */
      readonly budgetMs: number;
    };

/** What a worker tells, one JSON text on a line. */
export type Told =
  | { readonly ready: number }
  | {
      readonly results: readonly {
        readonly id: string;
        readonly ms: number;
        readonly failure?: string | undefined;
      }[];
      readonly coverage: {
        readonly static: Record<string, number>;
        readonly perTest: Record<string, Record<string, number>>;
      };
    }
  | { readonly killedBy: string; readonly failure: string; readonly ran: number }
  | { readonly ran: number; readonly skipped: number }
  /** What an earlier mutant left in the process makes its tests fail. */
  | { readonly spoiled: string };

/** What is asked or told as one line, also for readers to whom U+2028 and U+2029 end one. */
export function toLine(value: Asked | Told): string {
  const escaped = JSON.stringify(value).replace(/[\u2028\u2029]/g, (end) =>
    end === '\u2028' ? '\\u2028' : '\\u2029',
  );
  return `${escaped}\n`;
}

/** What a worker is started for, in its environment. */
export interface WorkerPlan {
  /** The path of a socket. */
  readonly address: string;
  /** Test files from the root of the repository. */
  readonly tests: readonly string[];
  /** On from the first import. */
  readonly activeMutant?: string | undefined;
}

const variable = 'MUTATION_WORKER';

export function workerPlan(): WorkerPlan {
  return JSON.parse(process.env[variable] ?? '{"address":"","tests":[]}');
}

export function withPlan(plan: WorkerPlan): Record<string, string> {
  return { [variable]: JSON.stringify(plan) };
}

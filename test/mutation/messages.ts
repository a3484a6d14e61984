/** Requests to a worker, one JSON text on a line: every test once, or those for a mutant until one fails. */
export type Asked =
  | {
      readonly run: 'all';
      readonly timings: Readonly<Record<string, number>>;
      /** Slower tests are left out. */
      readonly slowestMs: number;
    }
  | {
      readonly run: 'mutant';
      readonly mutant: string;
      readonly tests: readonly string[];
      readonly hitLimit?: number | undefined;
      readonly timings: Readonly<Record<string, number>>;
      /** No test starts after that time. */
      readonly budgetMs: number;
    };

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
  /** An earlier mutant left effects that make its tests fail. */
  | { readonly spoiled: string };

/** One line, also for readers that treat U+2028 and U+2029 as line ends. */
export function toLine(value: Asked | Told): string {
  const escaped = JSON.stringify(value).replace(/[\u2028\u2029]/g, (end) =>
    end === '\u2028' ? '\\u2028' : '\\u2029',
  );
  return `${escaped}\n`;
}

/** The task of a worker, from its environment. */
export interface WorkerPlan {
  /** The path of a socket. */
  readonly address: string;
  /** Test files, relative to the repository. */
  readonly tests: readonly string[];
  /** Active from the first import. */
  readonly activeMutant?: string | undefined;
}

const variable = 'MUTATION_WORKER';

export function workerPlan(): WorkerPlan {
  return JSON.parse(process.env[variable] ?? '{"address":"","tests":[]}');
}

export function withPlan(plan: WorkerPlan): Record<string, string> {
  return { [variable]: JSON.stringify(plan) };
}

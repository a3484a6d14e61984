/** A value of a column, as it is kept: texts with the escapes that both kinds of store have. */
export type Cell = string | number | null;

/** The values of a row, in the order of its table's columns. */
export type CopiedRow = readonly Cell[];

/** A table that both kinds of store have. */
export interface CopiedTable {
  /** In a SQLite file, and in the schema `signalbox` of Postgres. */
  readonly sqlite: string;
  readonly postgres: string;
  readonly columns: readonly string[];
  /** Columns whose values tell rows apart, and by which they are read. */
  readonly order: readonly string[];
  /** Whether rows name in Postgres who made them, which a SQLite file does not know. */
  readonly hasToken: boolean;
  /** Which rows count in Postgres, where others may be on their way out. */
  readonly only: string;
}

/** Tables that are copied together, all of them or none; those that others refer to come first. */
export interface CopiedPart {
  readonly name: 'state' | 'results';
  readonly tables: readonly CopiedTable[];
}

const tableOf = (
  name: string,
  columns: string,
  more: Partial<Omit<CopiedTable, 'sqlite' | 'columns'>> = {},
): CopiedTable => ({
  ...{ sqlite: name, postgres: name, columns: columns.split(/\s+/) },
  ...{ order: ['seq'], hasToken: false, only: 'true', ...more },
});

/** Runs and all that belongs to them. */
export const stateTables: CopiedPart = {
  name: 'state',
  tables: [
    tableOf('runs', 'seq id kind name file source config input created_at status output error updated_at', {
      hasToken: true,
    }),
    tableOf('run_labels', 'run key value', { order: ['run', 'key'] }),
    tableOf('run_parents', 'id root parent step', { order: ['id'] }),
    tableOf('run_pipelines', 'run_id file text', { order: ['run_id', 'file'] }),
    tableOf('steps', 'seq run_id step attempts outcome sum began_at ended_at', { hasToken: true }),
    tableOf(
      'pendings',
      `seq id run_id step call_id tool args origin hook reason message members previous created_at expires_at
        ruling ruled_by ruling_reason edited_args result decided_at quorum`,
    ),
    tableOf('consents', 'seq pending_id name reason given_at'),
    tableOf('texts', 'run_id step number sum text', { order: ['run_id', 'step', 'number'] }),
    tableOf('parts', 'run_id step sum refs', { order: ['run_id', 'step'] }),
    tableOf('moments', 'seq run_id what subject'),
    tableOf('suspensions', 'run why since due_at tries step error calls', { order: ['run'] }),
    // What nobody has been told yet is told from there; which events are told is said by whoever opens the store.
    tableOf('notices', 'seq run_id target event pending_id made_at attempts due_at'),
  ],
};

/** Results of suites, and answers that may be used again. */
export const resultTables: CopiedPart = {
  name: 'results',
  tables: [
    tableOf('runs', 'seq id kind name file fingerprint created_at status header report', {
      ...{ postgres: 'result_runs', hasToken: true },
    }),
    tableOf('results', 'run number epoch case_id digest text sum', {
      order: ['run', 'number', 'epoch'],
      only: 'run IN (SELECT seq FROM signalbox.result_runs)',
    }),
    tableOf('answers', 'key kept_at text', { order: ['key'] }),
    tableOf('ratings', 'run key case_id eval rater rated_at text', { order: ['run', 'key'] }),
    tableOf('reopenings', 'run number scope at status report', { order: ['run', 'number'] }),
    tableOf('replaced_results', 'seq run reopening number epoch case_id digest text sum'),
  ],
};

const numbers: ReadonlySet<string> = new Set(
  `seq run number epoch attempts sum created_at updated_at began_at ended_at expires_at decided_at kept_at rated_at quorum given_at made_at since due_at tries calls reopening at`.split(
    ' ',
  ),
);

/** Whether a column of any of these tables holds whole numbers; all others hold texts. */
export function isNumeric(column: string): boolean {
  return numbers.has(column);
}

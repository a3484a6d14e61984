import {
  count,
  type Declarations,
  documentOf,
  flag,
  input,
  list,
  nullable,
  number,
  object,
  paging,
  text,
} from './schema.ts';

const started = {
  type: 'string',
  description: 'When it started; empty if the file cannot be read.',
} as const;

const suiteRun = object({
  id: text,
  kind: { type: 'string', enum: ['suite', 'shadow'] },
  suite: text,
  status: { type: 'string', enum: ['running', 'passed', 'failed', 'error', 'interrupted'] },
  started_at: started,
  cases: { ...count, description: 'How many cases were judged.' },
  pass_rate: nullable(number),
});

const side = object({ number: count, file: text, line: count, score: nullable(number), detail: text });
const changes = object({
  title: text,
  changes: list(object({ case: text, a: side, b: side }, { question: text })),
});

const comparison = object({
  title: text,
  isShadows: flag,
  a: text,
  b: text,
  tables: list(
    object({
      name: text,
      columns: list(object({ title: text }, { longTitle: text, isText: flag, isBad: flag, empty: text })),
      rows: list(list(text)),
    }),
  ),
  conclusions: list(object({ lines: list(text) }, { name: text })),
  unpaired: list(text),
  changes: list(object({ name: text, regressions: changes, improvements: changes })),
  lists: list(object({ title: text, lines: list(text) })),
});

const rated = { case: text } as const;
const place = {
  variant: { type: 'string', description: 'The variant of the case; required in a matrix.' },
  eval: { type: 'string', description: 'The rated eval. Default: the whole case.' },
} as const;

export const evals = {
  'GET /evals/runs': {
    about: 'Stored runs of suites, newest first.',
    scopes: ['runs:read'],
    query: input({}, { suite: text, ...paging }),
    response: object({ runs: list(suiteRun) }, { next: text }),
  },
  'GET /evals/runs/{id}/report': {
    about: 'What the page of a run shows, in lines of a kind, a space and JSON: `row` lines are the cases.',
    scopes: ['runs:read'],
    query: input(
      {},
      {
        details: { type: 'boolean', description: 'With a `detail` line, the whole record, after each row.' },
      },
    ),
    response: {
      stream: 'text/plain',
      description: 'The last line is a `notice`; without one it is not complete.',
    },
  },
  'GET /evals/runs/{id}/case': {
    about:
      'The record of a case. `page_cuts` lists the texts that were too long, and have only their beginning.',
    scopes: ['runs:read'],
    query: input(rated, {
      number: { ...count, description: 'The number of the row, if several have the id.' },
      variant: text,
    }),
    response: documentOf('A case as `eval run --reporter jsonl` writes it.'),
  },
  'GET /evals/compare': {
    about: 'The comparison of two runs.',
    scopes: ['runs:read'],
    query: input({ a: text, b: text }),
    response: comparison,
  },
  'GET /evals/history': {
    about: 'The pass rate and the gates of the ended runs of a suite, newest first.',
    scopes: ['runs:read'],
    query: input({ suite: text }, { limit: paging.limit }),
    response: object({
      runs: list(
        object({
          run_id: text,
          started_at: text,
          status: text,
          cases: count,
          pass_rate: nullable(number),
          gates: list(
            object(
              {
                metric: text,
                value: nullable(number),
                min: nullable(number),
                max: nullable(number),
                passed: flag,
              },
              { eval: text, tag: text, variant: text, better_than: text },
            ),
          ),
        }),
      ),
    }),
  },
  'POST /evals/runs/{id}/ratings': {
    about: 'Rates a case in the name of the credential, in place of its earlier rating.',
    scopes: ['evals:rate'],
    body: input(rated, {
      ...place,
      score: { type: 'number', minimum: 0, maximum: 1 },
      label: text,
      comment: text,
    }),
    response: object(
      {
        case: text,
        eval: nullable(text),
        by: text,
        at: text,
        score: nullable(number),
        label: nullable(text),
        comment: nullable(text),
      },
      { variant: text },
    ),
  },
  'DELETE /evals/runs/{id}/ratings': {
    about: 'Removes the rating of the credential.',
    scopes: ['evals:rate'],
    body: input(rated, place),
    response: object({ removed: flag }),
  },
} as const satisfies Declarations;

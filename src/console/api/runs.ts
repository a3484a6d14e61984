import type { RunDetails, RunDocument, RunSummary, StepDetails } from '../../contract/run.ts';
import { fault } from './pendings.ts';
import {
  count,
  type Declarations,
  documentOf,
  flag,
  input,
  list,
  mapOf,
  nullable,
  object,
  paging,
  text,
  time,
} from './schema.ts';

const status = {
  type: 'string',
  enum: [
    ...['queued', 'running', 'cut_off', 'pending', 'suspended', 'waiting'],
    ...['completed', 'failed', 'denied', 'cancelled'],
  ],
} as const;

const runInfo = object(
  {
    run_id: text,
    kind: { type: 'string', enum: ['pipeline', 'tool'] },
    name: text,
    file: nullable(text),
    status,
    created_at: time,
    updated_at: time,
    pending: { ...count, description: 'Calls that wait for a person.' },
  },
  {
    labels: mapOf(text),
    lacks_worker: { ...flag, description: 'The run waits, and no running worker can execute it.' },
    parent: object({ run_id: text, root_run_id: text, step: text }),
    suspended: object({ since: time, tries: count, due_at: time, error: fault }),
    waits_until: time,
  },
);

const shortened = {
  max_characters: {
    type: 'integer',
    minimum: 0,
    description: 'Longer texts are shortened. Default: 2,000; 0 shortens nothing.',
  },
} as const;

const ofDocuments = ['run_id', 'status', 'output', 'pending'] as const;
const ofSummaries = [
  ...ofDocuments,
  ...(['kind', 'name', 'file', 'created_at', 'updated_at', 'input', 'error', 'pendings'] as const),
] as const;
const ofSteps = ['step', 'kind', 'status', 'duration_ms', 'ended_at', 'view', 'work'] as const;

const begun = object({ run_id: text });

export const runs = {
  'GET /runs': {
    about: 'Runs, newest first.',
    scopes: ['runs:read'],
    query: input(
      {},
      {
        pipeline: { ...text, description: 'The name of the pipeline, or of the tool of a single call.' },
        status,
        label: {
          ...list({ type: 'string', pattern: '^[^=]+=' }),
          description: 'KEY=VALUE, which the run must have; may be repeated.',
        },
        since: { ...time, description: 'Runs started at this time or later.' },
        until: { ...time, description: 'Runs started before this time.' },
        parent: { ...text, description: 'Runs that steps of this run started, instead of top-level runs.' },
        children: { ...flag, description: 'Includes runs that steps of other runs started.' },
        ...paging,
      },
    ),
    response: object({ runs: list(runInfo) }, { next: text }),
  },
  'GET /runs/{id}': {
    about: 'A run without its steps. It costs the same for any number of steps.',
    scopes: ['runs:read'],
    query: input({}, shortened),
    response: documentOf<RunSummary>(
      'The run as in the list, with `input`, `output`, `error`, and `pendings`, the first thousand calls that wait.',
      ofSummaries,
    ),
  },
  'GET /runs/{id}/details': {
    about: 'A run with its timeline, its totals and the runs that its steps started. Reads all its steps.',
    scopes: ['runs:read'],
    query: input({}, shortened),
    response: documentOf<RunDetails>('The run as `signalbox runs show --json` prints it, without `steps`.', [
      ...ofSummaries,
      'timeline',
      'totals',
    ]),
  },
  'GET /runs/{id}/document': {
    about: 'What a run gave or waits for, in short.',
    scopes: ['runs:read'],
    response: documentOf<RunDocument>('The run as `signalbox runs resume --json` prints it.', [
      ...ofDocuments,
      'steps',
    ]),
  },
  'GET /runs/{id}/steps': {
    about:
      'Steps in the order in which they ended; on the first page also `open`, those that have not ended.',
    scopes: ['runs:read'],
    query: input(
      {},
      {
        step: { ...text, minLength: 1, description: 'Only this step and those inside it, by id or by path.' },
        ...shortened,
        ...paging,
      },
    ),
    response: object(
      {
        steps: list(
          documentOf<StepDetails>('A step as in `steps` of `signalbox runs show --json`.', ofSteps),
        ),
      },
      {
        open: list(documentOf<StepDetails>('A step that has not ended; at most a thousand.', ofSteps)),
        open_cut: { ...flag, description: 'Whether more steps have not ended.' },
        next: text,
      },
    ),
  },
  'POST /runs/{id}/cancel': {
    about: 'Cancels a run, with the calls that wait in it.',
    scopes: ['runs:control'],
    body: input({}, { reason: text }),
    response: object({ run_id: text, status }),
  },
  'POST /runs/{id}/resume': {
    about: 'Continues a run that is pending, suspended, waiting or cut off, in the process of the server.',
    scopes: ['runs:control'],
    body: input({}),
    status: 202,
    response: begun,
  },
  'POST /runs/{id}/retry': {
    about: 'Retries a run with the status failed or denied, in the process of the server.',
    scopes: ['runs:control'],
    body: input({}, { from: { ...text, description: 'Repeats this step and all later ones.' } }),
    status: 202,
    response: begun,
  },
} as const satisfies Declarations;

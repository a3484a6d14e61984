import type { AuditedCall } from '../../contract/decision.ts';
import {
  count,
  type Declarations,
  documentOf,
  input,
  list,
  nullable,
  number,
  object,
  paging,
  text,
  time,
} from './schema.ts';

const mode = { type: 'string', enum: ['filter', 'observe', 'shadow'] } as const;
const verdict = { type: 'string', enum: ['allow', 'deny', 'modify', 'ask', 'respond', 'abort'] } as const;

const filter = {
  hook: text,
  verdict,
  mode,
  operation: {
    ...text,
    description: 'The kind of the operation in which the hook ran, such as `tool` or `gateway`.',
  },
  run: { ...text, description: 'The id of the run.' },
  event: { ...text, description: 'The `event` of a decision. Give `since` and `until` around it too.' },
  since: { ...time, description: 'Decisions of this time or later.' },
  until: { ...time, description: 'Decisions before this time.' },
} as const;

const decision = object({
  ...{
    type: { const: 'decision' },
    at: time,
    hook: text,
    dialect: text,
    kind: text,
    phase: text,
    mode,
    verdict,
  },
  reason: text,
  error: { ...nullable(text), description: 'The code of the error of a hook that failed.' },
  duration_ms: number,
  event: { ...text, description: 'The same for all hooks that decide on one event.' },
  ...{
    operation: nullable(text),
    operation_id: nullable(text),
    run_id: nullable(text),
    step: nullable(text),
  },
});
const gap = object({
  type: { const: 'gap' },
  at: time,
  what: { type: 'string', enum: ['decisions', 'model_calls'] },
  dropped: { ...count, description: 'So many could not be stored here.' },
});

const counted = { hook: text, mode, verdict, count };

export const guard = {
  'GET /decisions': {
    about: 'What hooks decided, newest first; nothing without `spec.decisions`.',
    scopes: ['runs:read'],
    query: input({}, { ...filter, ...paging }),
    response: object({ decisions: list({ anyOf: [decision, gap] }) }, { next: text }),
  },
  'GET /decisions/counts': {
    about: 'How often each hook decided what; with `every`, also for each hour or day, in UTC.',
    scopes: ['runs:read'],
    query: input(
      {},
      {
        ...filter,
        every: {
          type: 'string',
          enum: ['hour', 'day'],
          description: 'Needs `since`; at most 10,000 hours or days.',
        },
      },
    ),
    response: object(
      { total: count, counts: list(object(counted)), dropped: count },
      { buckets: list(object({ at: time, ...counted })) },
    ),
  },
  'GET /audit': {
    about: 'Calls in the audit of the gateway, newest first; none without `spec.gateway.audit`.',
    scopes: ['runs:read'],
    query: input(
      {},
      {
        key: { ...text, description: 'The id of the key, or the name of the caller.' },
        model: text,
        outcome: {
          type: 'string',
          enum: ['allowed', 'modified', 'denied', 'failed', 'aborted', 'refused'],
        },
        since: { ...time, description: 'Calls of this time or later.' },
        ...paging,
      },
    ),
    response: object(
      { calls: list(documentOf<AuditedCall>('A call as `signalbox audit list --json` prints it.')) },
      { next: text },
    ),
  },
} as const satisfies Declarations;

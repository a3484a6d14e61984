import type { PendingInfo } from '../../contract/approval.ts';
import type { Conversation } from '../../contract/decision.ts';
import {
  anything,
  count,
  type Declarations,
  documentOf,
  input,
  list,
  mapOf,
  nullable,
  object,
  paging,
  text,
  time,
} from './schema.ts';

const statuses = ['open', 'approved', 'rejected', 'responded', 'expired', 'cancelled'] as const;
const uses = ['not_used', 'used', 'expired'] as const;

export const fault = object({ code: text, message: text, hint: text }, { details: anything });

const pendingInfo = object(
  {
    id: text,
    tool: text,
    step: text,
    reason: text,
    message: text,
    expires_at: nullable(time),
    run_id: text,
    call_id: text,
    args: anything,
    origin: { type: 'string', enum: ['tool', 'hook', 'approval', 'interrupted'] },
    hook: nullable(text),
    members: anything,
    previous: nullable(text),
    created_at: time,
    status: { type: 'string', enum: statuses },
    by: nullable(text),
    decision_reason: nullable(text),
    edited_args: anything,
    result: anything,
    decided_at: nullable(time),
    deciders: nullable(list(text)),
    choices: list({ type: 'string', enum: ['approve', 'edit', 'respond', 'answer', 'reject'] }),
    input_schema: { type: ['object', 'boolean', 'null'] },
    run: object({ kind: { type: 'string', enum: ['pipeline', 'tool'] }, name: text, labels: mapOf(text) }),
    caller: nullable(documentOf<NonNullable<PendingInfo['caller']>>('Who made the call.')),
    digest: { type: 'string', description: 'Of what a decision depends on. Send it with the decision.' },
    use: {
      anyOf: [{ type: 'string', enum: uses }, { type: 'null' }],
      description: 'Whether the caller came back for an approved or answered call; null for any other.',
    },
  },
  {
    args_cut: { type: 'boolean', description: 'Whether long texts of `args` are shortened.' },
    root_run_id: text,
    quorum: count,
    approvals: list(object({ by: text, reason: text, at: time })),
    error: fault,
  },
);

const counted = {
  tool: { type: 'string', description: 'The name of the tool; `@ask` for questions of `ask` steps.' },
  run: { type: 'string', description: 'The id of the run, or of its outermost run.' },
  since: { ...time, description: 'Calls that were made at this time or later.' },
  mine: { type: 'boolean', description: 'Only calls that the caller may decide.' },
} as const;

const decision = {
  decision: { type: 'string', enum: ['approve', 'reject', 'respond'] },
  digest: {
    type: 'string',
    description: 'The `digest` of the call as it was shown. If it has changed: 409.',
  },
} as const;

const decided = {
  args: { description: 'Only of `approve`: other arguments, an object.' },
  reason: { type: 'string', description: 'Why. Needed by `reject`.' },
  result: { description: 'Only of `respond`: the result in place of the tool.' },
} as const;

const error = object({ code: text, message: text }, { hint: text, path: text });

export const pendings = {
  'GET /pendings': {
    about: 'Calls that wait for a person, and decided ones, oldest first.',
    scopes: ['pendings:read'],
    query: input(
      {},
      {
        status: { type: 'string', enum: [...statuses, 'all'], description: 'Default: `open`.' },
        use: { type: 'string', enum: uses, description: 'Approved or answered calls by their use.' },
        max_characters: {
          type: 'integer',
          minimum: 0,
          description: 'Longer texts of a call are shortened; 0: none. Default: 2,000.',
        },
        ...counted,
        ...paging,
      },
    ),
    response: object({ pending: list(pendingInfo) }, { next: text }),
  },
  'GET /pendings/counts': {
    about: 'How many calls there are, by status and by tool.',
    scopes: ['pendings:read'],
    query: input({}, counted),
    response: object({ total: count, by_status: mapOf(count), by_tool: mapOf(count) }),
  },
  'GET /pendings/{id}': {
    about: 'One call, whole.',
    scopes: ['pendings:read'],
    response: pendingInfo,
  },
  'GET /pendings/{id}/conversation': {
    about:
      'The model calls before the call, as the hooks left them, if `spec.decisions` has `content: true`.',
    scopes: ['pendings:read'],
    query: input({}, paging),
    response: documentOf<Conversation>(
      '`calls`, the model calls in order, and `dropped`, how many were not recorded.',
    ),
  },
  'POST /pendings/{id}/check': {
    about: 'What `approve` by the caller would do. Changes nothing.',
    scopes: ['pendings:read'],
    body: input({}, { args: decided.args }),
    response: object(
      {
        id: text,
        outcome: {
          type: 'string',
          enum: ['resumes', 'needs_approvals', 'args_invalid', 'refused', 'decided', 'expired', 'unknown'],
        },
      },
      { approvals: object({ given: count, needed: count }), error: fault },
    ),
  },
  'POST /pendings/{id}/decision': {
    about:
      'Decides a call in the name of the credential. 409 with the call as it is now if somebody has decided or changed it.',
    scopes: ['pendings:decide'],
    body: input(decision, decided),
    response: pendingInfo,
  },
  'POST /pendings/decisions': {
    about:
      'Decides several calls. Each succeeds or fails on its own. The answer shortens long texts if there are several calls.',
    scopes: ['pendings:decide'],
    body: input({
      decisions: {
        type: 'array',
        minItems: 1,
        maxItems: 1000,
        items: input({ id: text, ...decision }, decided),
      },
    }),
    response: object({
      results: list(
        object(
          { id: text, status: { type: 'integer', description: 'The HTTP status of this decision.' } },
          { pending: pendingInfo, error },
        ),
      ),
    }),
  },
} as const satisfies Declarations;

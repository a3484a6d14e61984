import { section } from './requirement.ts';

/** Calls that wait for a person: how they are kept and decided. */
export const waiting = section('promptkit.md §8', [
  [
    'PK-8-03',
    'none',
    'The record holds id, run, call id, tool, args, reason, message, other members, created and expires; it is durable before anyone is told.',
  ],
  ['PK-8-04', 'none', 'If the store cannot keep the record, the outcome is failed, and nothing runs.'],
  [
    'PK-8-05',
    'none',
    'Calls of one round all run; their pendings are listed in call order; the model is called again once, when all are decided.',
  ],
  [
    'PK-8-06',
    'both',
    'Approve: the tool is called again with `approval` beside `args`; edited args pass schema and hooks again first.',
  ],
  ['PK-8-07', 'none', 'Reject: failed REJECTED, and the model reads `Tool "x" was rejected: reason`.'],
  ['PK-8-08', 'none', 'Answer: ok with the given result, checked by output_schema and after-filters.'],
  ['PK-8-09', 'none', 'Exactly one decision wins, across processes; a later one is told who won.'],
  ['PK-8-10', 'none', 'Expiry is a decision: failed PENDING_EXPIRED, which the model is told.'],
  [
    'PK-8-11',
    'none',
    'An approved call that answers pending again makes a new record that names the old one.',
  ],
]);

/** Who is asked before a tool runs. */
export const consent = section('design.md, Tools and people', [
  [
    'DS-ASK-01',
    'both',
    'A denial with `ask: true` before_execution leaves the decision to a person; anywhere else, enforced or twice it denies.',
  ],
  [
    'DS-ASK-02',
    'none',
    'A hook whose question is answered is not asked about these arguments again; other hooks are, and all of them once the arguments are edited.',
  ],
  ['DS-ASK-03', 'none', '`approval: required` asks a person every time, before the tool runs.'],
  ['DS-ASK-04', 'none', 'approval.when asks where it is true, fails, or gives no boolean, and only then.'],
  ['DS-ASK-05', 'none', 'A person consents to the arguments that the filters left, and to no others.'],
  ['DS-IDEM-01', 'both', 'An idempotent tool is given idempotency_key beside `args`; no other tool is.'],
  [
    'DS-IDEM-02',
    'none',
    'The key is the same when a call is repeated after a crash, and another one after an approval.',
  ],
  [
    'DS-IDEM-03',
    'none',
    'With `idempotent: false` a call that was cut off waits for a person; otherwise it is made again.',
  ],
]);

/** Runs of pipelines. */
export const runs = section('design.md, Files', [
  [
    'DS-RUN-01',
    'none',
    'Steps run in order, and each sees input, the steps before it, and in for_each the item.',
  ],
  ['DS-RUN-02', 'none', 'Arguments, results, views and output keep the digits of long numbers.'],
  ['DS-RUN-03', 'none', 'A run that was set down is finished by a fresh process, and nothing is done twice.'],
  ['DS-RUN-04', 'none', 'A run is finished by the text that it began with.'],
  ['DS-RUN-05', 'none', 'One process at a time executes a run; another is told RUN_BUSY.'],
  [
    'DS-RUN-06',
    'none',
    'A run that is cut off by its caller can be resumed, and the step it was in is done again.',
  ],
  ['DS-RUN-07', 'none', 'Where the store fails, the run stops with STORE_FAILED and can be resumed.'],
  ['DS-RUN-08', 'none', 'A wait for a person does not count towards timeout_ms.'],
  ['DS-RUN-09', 'none', 'run --json: {run_id, status, output, pending, steps}.'],
  [
    'DS-CHAT-01',
    'none',
    'The model is told of failed, denied, unknown and rejected tool calls, and may go on.',
  ],
  [
    'DS-CHAT-02',
    'none',
    'An answer that an enforcing guardrail failed reaches nobody: no output, view, session hook or event has it.',
  ],
  [
    'DS-CHAT-03',
    'none',
    'What a provider filter replaced is what the model is sent, and what the conversation goes on with: tool calls that it left out are not run.',
  ],
  [
    'DS-CHAT-04',
    'none',
    'Session hooks are told of the start, of each completed turn, and of the end of a run that failed too; not of a pause.',
  ],
]);

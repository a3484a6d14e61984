import { section } from '../../requirements/requirement.ts';

export const toolOrder = section('promptkit.md §4.3', [
  ['PK-4-23', 'oneshot', 'Arguments that miss the schema reach no before_execution filter.'],
  [
    'PK-4-25',
    'oneshot',
    'The result is checked against output_schema before after_execution filters see it.',
  ],
  [
    'PK-4-26',
    'both',
    'after_execution runs for a failed call: `error` is set and `content` is what the model would read.',
  ],
  ['PK-4-27', 'both', 'after_execution does not run for a pending call.'],
]);

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

export const consent = section('reference/approvals.md', [
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

export const approvers = section('guides/ask-a-person.md', [
  [
    'DS-APPROVER-01',
    'none',
    'A decision of somebody whom the approval of a tool does not name has no effect.',
  ],
  ['DS-APPROVER-02', 'none', 'Such a decision is refused, and the call waits on.'],
  [
    'DS-QUORUM-01',
    'none',
    'Of a quorum so many different people must approve, each counted once, also at once.',
  ],
  ['DS-QUORUM-02', 'none', 'One who rejects has rejected, and an expiry is one for all.'],
  [
    'DS-QUORUM-03',
    'none',
    'Nobody edits arguments or answers for a quorum, and no way of deciding is around it.',
  ],
  ['DS-QUORUM-04', 'none', 'A quorum that nobody can reach is an error of the config.'],
]);

import { section } from '../requirements/requirement.ts';

export const replicas = section('operate/gateway-replicas.md', [
  ['DS-REPLICAS-01', 'none', 'Places and budgets of a key are exact over all replicas'],
  [
    'DS-REPLICAS-02',
    'none',
    'What a replica that was killed has left is ended by the others, and counted as it was set aside',
  ],
  [
    'DS-REPLICAS-03',
    'none',
    'A call whose answers are lost with the connection is admitted and counted once',
  ],
  [
    'DS-REPLICAS-04',
    'none',
    'While the database is gone every call of a key is refused in time; what had ended is counted when it is back',
  ],
  ['DS-REPLICAS-05', 'none', 'A call that was admitted where nobody heard of it keeps no place'],
  ['DS-REPLICAS-06', 'none', 'A key that is revoked is refused by the next call at every replica'],
  [
    'DS-REPLICAS-07',
    'none',
    'A call that waits at one replica is decided anywhere, and its answer is given by another',
  ],
  ['DS-REPLICAS-08', 'none', 'What a hook has let pass at one replica is not shown to it at another'],
  ['DS-REPLICAS-09', 'none', 'Each replica writes a chain of its own; all of them are verified together'],
  [
    'DS-REPLICAS-10',
    'none',
    'Replicas that are killed leave chains that verify, with a row for every answer that was complete',
  ],
  ['DS-REPLICAS-11', 'none', 'A row whose answer is lost with the connection is kept once'],
  [
    'DS-REPLICAS-12',
    'none',
    'While rows cannot be kept calls are refused in time, and go on when they can be kept again',
  ],
  [
    'DS-REPLICAS-13',
    'none',
    'When one of several is killed under load, the budget holds, every call is counted once and no place is lost',
  ],
  [
    'DS-REPLICAS-14',
    'none',
    'A restart of the database is not noticed, and a longer absence ends no gateway',
  ],
]);

export const fallbacks = section('reference/gateway.md', [
  [
    'DS-UPSTREAM-01',
    'none',
    'Where an upstream is not there, not in time or overloaded, the next one is asked, at every endpoint, streamed or not',
  ],
  ['DS-UPSTREAM-02', 'none', 'What is sent to one upstream has no key, header or model of another'],
  [
    'DS-UPSTREAM-03',
    'none',
    'Nobody else is asked once an answer has begun, after a denial, for a fault of the request, or when the client has left',
  ],
  ['DS-UPSTREAM-04', 'none', 'Hooks judge what each upstream is sent, whatever they let pass to another'],
  [
    'DS-UPSTREAM-05',
    'none',
    'A budget suffices whoever answers, and counts what was answered once, at that price',
  ],
  ['DS-UPSTREAM-06', 'none', 'Logs and the audit name who was asked and who answered'],
  ['DS-UPSTREAM-07', 'none', 'A fallback that the gateway could not ask is an error at its line'],
]);

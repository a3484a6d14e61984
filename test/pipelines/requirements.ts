import { section } from '../requirements/requirement.ts';

export const going = section('operate/work.md', [
  [
    'DS-SUSPEND-01',
    'none',
    'A fault of a model that may be gone later suspends the run that it would fail; it is in no list as anything else, finally waits, and resume goes on from that call.',
  ],
  [
    'DS-WITHIN-01',
    'none',
    'A fault in a run below suspends the outermost run and all between; only that one is listed and due, and each goes on where it was.',
  ],
  ['DS-WITHIN-02', 'none', 'A second start with the id of the outermost run goes on inside those below it.'],
  ['DS-WITHIN-03', 'none', 'retry and on_error around a run below come before its suspension.'],
  ['DS-WITHIN-04', 'none', 'on_fault: fail holds for all runs below, and in one below it fails its step.'],
  ['DS-WITHIN-05', 'none', 'A wait in a run below frees the process as one of the outermost run.'],
  ['DS-WITHIN-06', 'none', 'A run is due when the calls of the runs below it are decided.'],
  ['DS-WITHIN-07', 'none', 'Who cancels the outermost run ends what is set down below it.'],
  ['DS-SUSPEND-02', 'none', 'A server tool that died suspends the run; its call is made again with its key.'],
  [
    'DS-SUSPEND-03',
    'none',
    'retry and on_error come first; on_fault: fail, a store in memory and any other failure end the run.',
  ],
  ['DS-SUSPEND-04', 'none', 'What is beside the fault finishes first, and is not done again.'],
  ['DS-SUSPEND-05', 'none', 'A tool that is idempotent: false and may have acted is asked about.'],
  ['DS-SUSPEND-06', 'none', 'Tries have growing pauses, heed Retry-After, and end after a hundred.'],
  [
    'DS-WORK-01',
    'none',
    'work goes on with a run when its pause is over or its calls are decided, and not before.',
  ],
  ['DS-WORK-02', 'none', 'A wait sets a run down where that is asked for, and it goes on when it is over.'],
  ['DS-WORK-03', 'none', 'A run that was killed or suspended goes on by work, and by a start with its id.'],
  ['DS-WORK-04', 'none', 'Several that work over one store execute no run twice, also when they are killed.'],
  ['DS-WORK-05', 'none', 'resume --all takes what can go on now, whatever becomes of one of them.'],
]);

export const runs = section('reference/pipelines.md', [
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
    'DS-RUN-17',
    'none',
    'Nothing of a run starts unless the run is held here, has not ended, and can be kept, at that moment.',
  ],
  [
    'DS-RUN-06',
    'none',
    'A run that is cut off by its caller can be resumed, and the step it was in is done again.',
  ],
  ['DS-RUN-07', 'none', 'Where the store fails, the run stops with STORE_FAILED and can be resumed.'],
  ['DS-RUN-08', 'none', 'A wait for a person does not count towards timeout_ms.'],
  [
    'DS-RUN-10',
    'none',
    'Expressions read what spec.env declares of the environment and nothing else; where it is not set, no step is begun and no run is kept.',
  ],
  [
    'DS-RUN-11',
    'none',
    'A step is tried again with the same idempotency key, never after a no and never where a second call may do harm; a killed run makes no attempt twice.',
  ],
  [
    'DS-SHOW-01',
    'none',
    'runs show tells of each step its arguments, its result, its calls, tokens, cost and hooks, and its error with the inner step that failed; in the order in which they ended.',
  ],
  [
    'DS-SHOW-02',
    'none',
    'Steps of a run are read a page at a time, and long texts of them not at all where they are shortened.',
  ],
  ['DS-SHOW-03', 'none', 'running is executed by a process that lives; cut_off was, by one that is gone.'],
  [
    'DS-RUN-12',
    'none',
    'With fail_fast the first failure, kept first, ends what is under way, and nothing else is begun, also by whoever goes on with the run.',
  ],
  [
    'DS-RUN-13',
    'none',
    'A while repeats its step until its condition is false, at most max times, and a killed run repeats no run of it that was kept.',
  ],
  ['DS-RETRY-01', 'none', 'A run that failed goes on from what failed, and everything before it is kept.'],
  [
    'DS-RETRY-02',
    'none',
    'A retried call has the idempotency key that it had, and one with other arguments than before a key of its own.',
  ],
  ['DS-RETRY-03', 'none', 'A run that did not fail is not retried, and of two retries at once one is made.'],
  [
    'DS-RETRY-04',
    'none',
    'A retry that is killed at any moment leaves a run that can be gone on with, and no effect is repeated.',
  ],
  [
    'DS-RETRY-05',
    'none',
    'An approval stands in a retry; a call that a person rejected is asked about again.',
  ],
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
    'DS-ANSWER-01',
    'none',
    'A schema goes to the API that keeps to one, and into the system prompt of any other.',
  ],
  [
    'DS-ANSWER-02',
    'none',
    'An answer that does not fit is asked for once more, by a model call that counts.',
  ],
  ['DS-ANSWER-03', 'none', 'What does not fit is OUTPUT_INVALID with the path, and gives no object.'],
  ['DS-ANSWER-04', 'none', 'The object is that of the text which filters let out.'],
  ['DS-ANSWER-05', 'none', 'A run that goes on has the same object, and asks no model again.'],
  ['DS-ANSWER-06', 'none', 'A setting that an API does not take is left out, and told once.'],
  [
    'DS-CHAT-04',
    'none',
    'Session hooks are told of the start, of each completed turn, and of the end of a run that failed too; not of a pause.',
  ],
  [
    'DS-RUN-14',
    'none',
    'A wait is over when it was to be over at its beginning, whatever process goes on with the run.',
  ],
  [
    'DS-RUN-15',
    'none',
    'The steps of finally run after success, failure and denial, once, never while the run can go on, and never take the place of an earlier failure.',
  ],
  [
    'DS-RUN-16',
    'none',
    'A question of a step is kept before anybody is told, is answered once, by whom it asks, with what fits its schema, and the run goes on with that.',
  ],
  [
    'DS-BELOW-01',
    'none',
    'A pipeline that is a step is a run of its own, whose output is the view of the step.',
  ],
  [
    'DS-BELOW-02',
    'none',
    'A retry goes on inside the run of a pipeline step that failed, and keeps what it did.',
  ],
  ['DS-BELOW-03', 'none', 'Attempts at a pipeline step give a call that asks for the same the same key.'],
  [
    'DS-BELOW-04',
    'none',
    'A run below another waits, goes on and ends with the outermost one, by the text that this began with.',
  ],
  [
    'DS-BELOW-05',
    'none',
    'After a crash the run of a pipeline step is gone on with, and never begun a second time.',
  ],
]);

import { section } from '../requirements/requirement.ts';

export const outcomes = section('reference/library.md', [
  ['DS-OUT-03', 'none', 'A name that is not declared throws NAME_UNKNOWN.'],
  ['DS-OUT-04', 'none', 'An event of the wrong shape throws EVENT_INVALID.'],
]);

export const library = section('reference/library.md', [
  [
    'DS-LIB-01',
    'none',
    'openRuntime gives tools.call, evals.call, hooks.fire and close; they return the documents as values.',
  ],
  ['DS-LIB-02', 'none', 'Every call takes an AbortSignal; an aborted one loses that call alone.'],
  ['DS-LIB-03', 'none', 'close() ends every server and leaves no process behind.'],
  ['DS-LIB-04', 'none', 'A call after close() is RUNTIME_CLOSED.'],
  ['DS-LIB-05', 'none', '`await using` closes the runtime.'],
]);

export const starts = section('reference/library.md', [
  ['DS-RUNS-01', 'none', 'Of several starts with one id exactly one runs; the others tell of it.'],
  ['DS-RUNS-02', 'none', 'Another pipeline or input under an id is RUN_ID_TAKEN.'],
  ['DS-RUNS-03', 'none', 'Labels are bounded, kept, and what runs are listed by, page by page.'],
  ['DS-RUNS-04', 'none', 'A run tells its id before its first step, and its events in order.'],
  ['DS-RUNS-05', 'none', 'A reader who is slow or stops neither holds a run nor lets memory grow.'],
]);

export const notices = section('guides/notify-people.md', [
  [
    'DS-NOTIFY-01',
    'none',
    'Told is what is kept: that a call waits with how to decide, its decision, the end of a run.',
  ],
  ['DS-NOTIFY-02', 'none', 'At least once: again after a failure, and by the next process after a kill.'],
  ['DS-NOTIFY-03', 'none', 'A target that hangs holds neither a run nor the end of a command for long.'],
  ['DS-NOTIFY-04', 'none', 'An address is posted to without following redirects.'],
  ['DS-NOTIFY-05', 'none', 'What an entry says wrong is told with its line.'],
]);

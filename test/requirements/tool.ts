import { section } from './requirement.ts';

/** From a caller's arguments to the request. */
export const toolRequests = section('promptkit.md §4.1', [
  ['PK-4-01', 'both', 'The request is {"args": {…}} and nothing else.'],
  ['PK-4-02', 'both', 'After an approval, `approval` {id, decision, by, reason} stands beside `args`.'],
  ['PK-4-03', 'oneshot', 'Absent, empty, blank and null arguments are {}.'],
  ['PK-4-04', 'oneshot', 'Invalid or truncated JSON arguments are ARGS_INVALID, and no process starts.'],
  [
    'PK-4-05',
    'oneshot',
    'Array, string, number and boolean arguments are ARGS_INVALID, and no process starts.',
  ],
  ['PK-4-06', 'oneshot', 'A key that stands twice, at any depth, is ARGS_INVALID, and no process starts.'],
  [
    'PK-4-07',
    'oneshot',
    'Arguments that miss input_schema are ARGS_INVALID with every violation; no process starts.',
  ],
  ['PK-4-08', 'both', 'Valid arguments are sent as the text they came in, big integers included.'],
]);

/** What a tool's reply means. */
export const toolReplies = section('promptkit.md §4.2', [
  [
    'PK-4-09',
    'oneshot',
    'A non-empty string `error` is TOOL_ERROR with that text, beside any result or pending.',
  ],
  ['PK-4-10', 'oneshot', '`error` that is "" or null counts as absent.'],
  ['PK-4-11', 'oneshot', '`pending` that is null counts as absent.'],
  [
    'PK-4-12',
    'oneshot',
    '`error` that is an object, array, number or boolean is REPLY_MALFORMED; details keep its text.',
  ],
  ['PK-4-13', 'oneshot', '`pending` together with `result`, null included, is REPLY_MALFORMED.'],
  ['PK-4-14', 'oneshot', '`pending` that is not an object is REPLY_MALFORMED.'],
  ['PK-4-15', 'both', 'A pending `reason` or `message` that is not a string is REPLY_MALFORMED.'],
  ['PK-4-16', 'both', 'A pending object, an empty one too, is pending.'],
  ['PK-4-17', 'both', 'Further members of a pending object are kept with it.'],
  ['PK-4-18', 'both', 'A present result is ok, null, false, 0 and "" included.'],
  [
    'PK-4-19',
    'oneshot',
    'A reply with none of the three keys is REPLY_MALFORMED; the hint shows {"result": …}.',
  ],
  ['PK-4-20', 'both', 'A result that misses output_schema is RESULT_INVALID.'],
  ['PK-4-21', 'both', 'The model reads a string result as it is and any other as its raw text.'],
  ['PK-4-22', 'both', 'The model reads a failure as `Tool "x" failed: message`.'],
]);

/** What happens in which order around one call. */
export const toolOrder = section('promptkit.md §4.3', [
  ['PK-4-23', 'oneshot', 'Arguments that miss the schema reach no before_execution filter.'],
  ['PK-4-24', 'oneshot', 'before_execution filters decide before the process starts.'],
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

/** What a pending reply means by itself; pipeline.ts has how it is kept and decided. */
export const pendings = section('promptkit.md §8', [
  ['PK-8-01', 'both', 'A pending without `reason` has "", without `message` `Tool "x" asks for a decision.`'],
  [
    'PK-8-02',
    'both',
    'Evals and hooks know no `pending`: alone it leaves an eval unscored and makes a hook deny.',
  ],
]);

import { section } from './requirement.ts';

/** The one reader of replies. */
export const replies = section('promptkit.md §3', [
  ['PK-3-01', 'oneshot', 'A byte order mark before the object is dropped.'],
  ['PK-3-02', 'oneshot', 'White space around the object is dropped.'],
  ['PK-3-03', 'oneshot', 'Bytes that are not UTF-8 are refused, naming the byte offset.'],
  [
    'PK-3-04',
    'oneshot',
    'Empty output and bare white space are refused; the hint says exit 0 and nothing printed.',
  ],
  ['PK-3-05', 'oneshot', 'Text before or after the object is refused.'],
  ['PK-3-06', 'oneshot', 'Two objects, on one line or several, are refused.'],
  [
    'PK-3-07',
    'oneshot',
    'If exactly one line of refused output is an object, the hint says to log to stderr.',
  ],
  ['PK-3-08', 'both', 'null, an array, a string, a number or a boolean in place of the object is refused.'],
  ['PK-3-09', 'both', 'Keys are case-sensitive: Result, ERROR, Score and Allow decide nothing.'],
  ['PK-3-10', 'both', 'Unknown keys beside a deciding one are ignored.'],
  ['PK-3-11', 'oneshot', 'Unknown keys are logged at debug, near misses of a known key at warn.'],
  ['PK-3-12', 'both', 'A data key that stands twice has its last value.'],
  ['PK-3-13', 'both', '`allow` twice denies, whatever the values.'],
  ['PK-3-14', 'both', '`allow` beside the same key in another letter case denies, whatever the values.'],
  ['PK-3-15', 'both', 'A refused reply is a failed tool with REPLY_MALFORMED.'],
  ['PK-3-16', 'both', 'A refused reply is an unscored eval with REPLY_MALFORMED.'],
  ['PK-3-17', 'both', 'A refused reply is a denial with REPLY_MALFORMED.'],
  ['PK-3-18', 'both', 'A tool’s result keeps its text: big integers, 1.0, escapes, key order.'],
  ['PK-3-19', 'both', 'An eval’s `data` keeps its text.'],
  ['PK-3-20', 'both', 'A hook’s `metadata` keeps its text.'],
  ['PK-3-21', 'both', 'A hook’s `replace` keeps its text, also as the args of the next process.'],
  ['PK-3-22', 'both', 'Members of a pending reply keep their text.'],
  ['PK-3-23', 'server', '`data` of a JSON-RPC error keeps its text.'],
  ['PK-3-24', 'none', '--json prints a big integer of a result digit by digit.'],
]);

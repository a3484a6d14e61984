import { section } from './requirement.ts';

/** What travels to a server, and which process it is. */
export const serverRequests = section('promptkit.md §5', [
  ['PK-5-01', 'server', 'A request is one line: jsonrpc "2.0", an id, method "execute", params.'],
  ['PK-5-02', 'server', '`params` is exactly what one-shot mode writes on stdin, for tool, eval and hook.'],
  ['PK-5-03', 'server', '`result` of an eval or a hook is exactly what it would print in one-shot mode.'],
  ['PK-5-04', 'server', '`result` of a tool is the bare value.'],
  ['PK-5-05', 'server', 'An observer gets a request with an id, and its reply is not read.'],
  ['PK-5-06', 'server', 'There is no greeting: the first line is the first request.'],
  ['PK-5-07', 'server', 'Entries never share a process, not even with the same command.'],
  ['PK-5-08', 'server', 'A server starts on first use, and simultaneous first calls start one process.'],
  ['PK-5-09', 'server', 'ids are integers from 1 in each process and never reused in it.'],
  ['PK-5-10', 'server', 'Many requests are in flight at once, and answers in any order find their callers.'],
  ['PK-5-11', 'server', '`concurrency: 1` sends the next request only after the last answer.'],
]);

/** What a line on a server's stdout means. */
export const serverLines = section('promptkit.md §5', [
  ['PK-5-12', 'server', 'A line that is not JSON, blank, or a bare scalar is noise: logged, without effect.'],
  ['PK-5-13', 'server', 'CRLF, a last line without newline and a byte order mark at the start are fine.'],
  ['PK-5-14', 'server', 'A line that is not UTF-8 fails the request whose id it shows: REPLY_MALFORMED.'],
  ['PK-5-15', 'server', 'A line that is not UTF-8 and shows no id in flight is noise.'],
  ['PK-5-16', 'server', 'An object with `method` and neither result nor error is ignored and logged.'],
  [
    'PK-5-17',
    'server',
    'A batch fails every request in flight that one of its elements names: REPLY_MALFORMED.',
  ],
  ['PK-5-18', 'server', 'A batch that names nothing in flight is noise.'],
  ['PK-5-19', 'server', 'The id 1.0 answers request 1.'],
  [
    'PK-5-20',
    'server',
    'An id "1" or a fraction that spells a request in flight fails it; the hint asks for the number.',
  ],
  ['PK-5-21', 'server', 'A reply without id fails the only request in flight, if none timed out unanswered.'],
  ['PK-5-22', 'server', 'A reply without id is otherwise dropped and logged.'],
  ['PK-5-23', 'server', 'The late reply of a timed-out request is dropped and disturbs no later call.'],
  ['PK-5-24', 'server', 'A second reply to an answered request is dropped.'],
  ['PK-5-25', 'server', 'A reply to an id that never existed is dropped with a warning.'],
  ['PK-5-26', 'server', 'A line over the limit is skipped, its request is OUTPUT_LIMIT, and others go on.'],
  [
    'PK-5-27',
    'server',
    'A line over the limit that shows no id in its first 4 KiB is OUTPUT_LIMIT for all in flight.',
  ],
  ['PK-5-28', 'server', 'An error object is TOOL_ERROR with its message, and wins over a result.'],
  ['PK-5-29', 'server', 'details.rpc keeps `code`, `message` and `data` of an error object.'],
  ['PK-5-30', 'server', 'An error that is null counts as absent.'],
  ['PK-5-31', 'server', 'An error of another type is REPLY_MALFORMED with its text kept.'],
  ['PK-5-32', 'server', 'A reply with neither result nor error is REPLY_MALFORMED.'],
  ['PK-5-33', 'server', 'A result whose only key is `pending` with an object is pending.'],
  ['PK-5-34', 'server', 'Any other result is data, also {"result": …}, {"error": …} and {"pending": null}.'],
  ['PK-5-35', 'server', 'A reply without jsonrpc "2.0" is accepted, with one warning per process.'],
]);

/** How a server lives, dies and comes back. */
export const serverLife = section('promptkit.md §5', [
  ['PK-5-36', 'server', 'A timeout forgets the request; the same process answers the next one.'],
  ['PK-5-37', 'server', 'If noise came while a call timed out, the hint says so.'],
  [
    'PK-5-38',
    'server',
    'A timed-out request that was not begun is never sent; a half-sent line is finished.',
  ],
  ['PK-5-39', 'server', 'The deadline holds while a server does not read its stdin.'],
  ['PK-5-40', 'server', 'More than max_output_bytes unsent is SERVER_BUSY for new calls.'],
  [
    'PK-5-41',
    'server',
    'Death fails what is in flight at once: SERVER_EXIT with code or signal and the last stderr line.',
  ],
  ['PK-5-42', 'server', 'A server that closes stdout and lives is SERVER_EXIT, and its group is killed.'],
  ['PK-5-43', 'server', 'A request that was in flight is never sent again.'],
  ['PK-5-44', 'server', 'After a first death the next call starts the server at once.'],
  ['PK-5-45', 'server', 'After further deaths a start waits 100 ms, doubling up to 5 s.'],
  ['PK-5-46', 'server', 'Callers wait for a restart inside their own timeout.'],
  [
    'PK-5-47',
    'server',
    'Five deaths without a good reply open the circuit: SERVER_CIRCUIT_OPEN at once, for 30 s.',
  ],
  [
    'PK-5-48',
    'server',
    'After the pause one call tries; its good reply closes the circuit, its death opens it again.',
  ],
  ['PK-5-49', 'server', 'A good reply resets the count of deaths.'],
  ['PK-5-50', 'server', 'A failed start counts as a death.'],
  ['PK-5-51', 'server', 'Closing ends stdin, and a server that then exits gets no signal.'],
  ['PK-5-52', 'server', 'A server that ignores the end of stdin gets SIGTERM, then SIGKILL, with its group.'],
  ['PK-5-53', 'server', 'A non-zero exit after the end of stdin is logged and is no error.'],
]);

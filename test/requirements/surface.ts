import { section } from './requirement.ts';

/** Throw when we failed, return a value when the peer answered. */
export const outcomes = section('design.md, Outcomes are values', [
  [
    'DS-OUT-01',
    'both',
    'A process that fails is a value to the caller: failed, unscored or deny, with the fault in `error`.',
  ],
  ['DS-OUT-02', 'both', 'A failing observer is logged at warn and swallowed.'],
  ['DS-OUT-03', 'none', 'A name that is not declared throws NAME_UNKNOWN.'],
  ['DS-OUT-04', 'none', 'An event of the wrong shape throws EVENT_INVALID.'],
]);

/** The command line. */
export const commandLine = section('design.md, Surfaces', [
  ['DS-CLI-01', 'none', 'Without --config the file is runtime.yaml in the current folder.'],
  ['DS-CLI-02', 'none', '--json prints exactly one JSON document on stdout; logs go to stderr.'],
  [
    'DS-CLI-03',
    'none',
    'init writes a runtime.yaml with a tool, an eval and a PII filter that all work at once.',
  ],
  ['DS-CLI-04', 'none', 'init never writes over a file that is there.'],
  ['DS-CLI-05', 'none', 'validate takes several files and prints every problem as FILE:LINE:COL.'],
  ['DS-CLI-06', 'none', 'validate exits 0 with warnings only and 2 with an error.'],
  ['DS-CLI-07', 'none', 'tool list shows every tool, those that cannot run too.'],
  ['DS-CLI-08', 'none', '--args, --content and --event take text, @FILE, or - for stdin.'],
  ['DS-CLI-09', 'none', 'eval call without bounds asks for 1.0; --min-score and --max-score set them.'],
  ['DS-CLI-10', 'none', 'hook fire runs the whole chain of one hook and phase and says who decided.'],
  ['DS-CLI-11', 'none', '--event is the native payload without `hook` and `phase`.'],
  ['DS-CLI-12', 'none', 'An unknown command, option or name, a missing file and a broken config exit 2.'],
]);

/** The exit codes. */
export const exitCodes = section('design.md, Surfaces', [
  ['DS-EXIT-01', 'none', 'A tool exits 0 for ok, 1 for failed and denied, 3 for pending.'],
  ['DS-EXIT-02', 'none', 'An eval exits 0 when it passed, 1 when it missed its threshold or is unscored.'],
  ['DS-EXIT-03', 'none', 'A hook exits 0 for allow and modify, 1 for deny.'],
  ['DS-EXIT-04', 'none', 'Ctrl-C exits 130 and leaves no process behind.'],
]);

/** The documents that --json prints. */
export const documents = section('design.md, Surfaces', [
  ['DS-JSON-01', 'none', 'tool call: {status: ok, result}.'],
  ['DS-JSON-02', 'none', 'tool call: {status: failed, error: {code, message, hint}}.'],
  ['DS-JSON-03', 'none', 'tool call: {status: denied, hook, reason, metadata}.'],
  ['DS-JSON-04', 'none', 'tool call: {status: pending, pending: {id, run_id, reason, message}}.'],
  ['DS-JSON-05', 'none', 'eval call: {status: scored, score, passed, detail, data}.'],
  ['DS-JSON-06', 'none', 'eval call: {status: unscored, reason, passed: false}.'],
  ['DS-JSON-07', 'none', 'hook fire: verdict, hook, dialect, reason, enforced, replace, result, metadata.'],
  [
    'DS-JSON-08',
    'none',
    'A failed, denied or unscored outcome that a fault caused has `error` {code, message, hint}.',
  ],
  ['DS-JSON-09', 'none', 'An exit 2 prints {error} with its problems: file, line, column, message, hint.'],
  ['DS-JSON-10', 'none', 'validate and hooks list print one document too.'],
]);

/** The library. */
export const library = section('design.md, Surfaces', [
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

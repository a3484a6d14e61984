import { section } from '../requirements/requirement.ts';

export const commandLine = section('reference/command-line.md', [
  ['DS-CLI-01', 'none', 'Without --config the file is runtime.yaml in the current folder.'],
  [
    'DS-CLI-02',
    'none',
    '--json prints exactly one JSON document on stdout, validate and hooks list too; logs go to stderr.',
  ],
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

export const exitCodes = section('reference/command-line.md', [
  ['DS-EXIT-01', 'none', 'A tool exits 0 for ok, 1 for failed and denied, 3 for pending.'],
  ['DS-EXIT-02', 'none', 'An eval exits 0 when it passed, 1 when it missed its threshold or is unscored.'],
  ['DS-EXIT-03', 'none', 'A hook exits 0 for allow and modify, 1 for deny.'],
  ['DS-EXIT-04', 'none', 'Ctrl-C exits 130 and leaves no process behind.'],
  [
    'DS-STOP-01',
    'none',
    'What has not ended --stop-timeout after a signal is killed: exit 130, STOP_TIMEOUT.',
  ],
  ['DS-STOP-02', 'none', 'signalbox-pii ends at a signal with 130, once what it has answered was read.'],
  [
    'DS-CRASH-01',
    'none',
    'An error that nobody handles ends the command and its processes: a coded last line, at most one document, no secret, exit 1, or 2 where 1 is a verdict.',
  ],
  ['DS-CRASH-02', 'none', 'A run that a crash or a full heap cut off can be resumed.'],
]);

export const documents = section('reference/command-line.md', [
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
]);

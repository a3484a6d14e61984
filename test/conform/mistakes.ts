import { join } from 'node:path';

/** A program with one mistake, how `conform` is called for it, and the one check that it breaks. */
export interface Mistake {
  readonly file: string;
  readonly args: string;
  readonly breaks: string;
  readonly says: RegExp;
}

const oneshot = (file: string, breaks: string, says: RegExp, args = '--kind filter'): Mistake => ({
  ...{ file, breaks, says, args },
});
/** Short, because the program never answers. */
const hangs = '--kind filter --timeout 1s';
const server = (mistake: string, breaks: string, says: RegExp, args = ''): Mistake => ({
  ...{ file: 'server.py', breaks, says },
  args: `--kind filter --server ${args} -- ${mistake}`,
});

export const mistakes: readonly Mistake[] = [
  oneshot('not-executable.sh', 'start', /is not executable/),
  oneshot('windows-line-ends.sh', 'start', /has Windows line ends \(CRLF\)/),
  oneshot('never-answers.sh', 'in-time', /PROCESS_TIMEOUT/, hangs),
  oneshot('asks-the-terminal.sh', 'in-time', /PROCESS_TIMEOUT/, hangs),
  oneshot('traps-term.sh', 'in-time', /PROCESS_TIMEOUT/, hangs),
  oneshot('forks.sh', 'in-time', /PROCESS_TIMEOUT/, hangs),
  oneshot('floods.sh', 'stdout', /OUTPUT_LIMIT/),
  oneshot('exits-with-1.sh', 'exit-code', /exited with code 1/),
  oneshot('crashes.py', 'exit-code', /ValueError: no list of words/),
  oneshot('prints-nothing.sh', 'stdout', /printed nothing/),
  oneshot('logs-to-stdout.sh', 'stdout', /checking the call/),
  oneshot('answers-twice.sh', 'stdout', /not one JSON object/),
  oneshot('latin-1.sh', 'stdout', /stdout is not UTF-8: byte 34/),
  oneshot('utf-16.sh', 'stdout', /stdout is not UTF-8/),
  oneshot('yes-as-text.sh', 'shape', /allow/),
  oneshot('percent-score.sh', 'shape', /the score is outside 0..1: 85/, '--kind eval'),
  oneshot('bare-result.sh', 'shape', /neither `result`/, `--kind tool --request '{"args":{}}'`),
  oneshot('refuses-new-members.py', 'unknown-members', /AssertionError/),
  oneshot('reads-a-line.sh', 'no-newline', /exited with code 1/),
  oneshot('ascii-only.py', 'unicode', /UnicodeDecodeError/),
  oneshot('uses-texts-as-names.py', 'escapes', /embedded null byte/),
  oneshot('reads-64-kib.py', 'large', /JSONDecodeError/),
  oneshot('one-at-a-time.py', 'at-once', /FileExistsError/, '--kind filter --env LOCK=%'),
  oneshot('allows-anything.sh', 'broken', /"allow": true/),
  oneshot('allows-on-error.py', 'broken', /"allow": true/),
  oneshot('scores-0-on-error.py', 'broken', /"score": 0/, '--kind eval'),
  server('greets', 'silence', /noise: not JSON: ready/),
  server('answers-before-it-is-asked', 'silence', /unknown reply: there never was a request 1/),
  server('id-as-text', 'reply-id', /id/),
  server('another-id', 'reply-id', /there never was a request 1001/, '--timeout 5s'),
  server('no-id', 'reply-id', /the reply has no id/),
  server('answers-twice', 'reply-id', /no call waits for a reply to request 1 any more/),
  server('no-envelope', 'stdout', /noise/, '--timeout 5s'),
  server('logs-to-stdout', 'stdout', /noise: not JSON: request 1/),
  server('several-lines', 'stdout', /noise/, '--timeout 5s'),
  server('does-not-flush', 'in-time', /PROCESS_TIMEOUT/, '--timeout 1s'),
  server('serves-one-call', 'stays', /ended/),
  server('prints-half-characters', 'half-characters', /SERVER_EXIT/),
  server('splits-at-u-2028', 'line-ends', /SERVER_EXIT/),
  server('drops-its-twentieth', 'in-flight', /PROCESS_TIMEOUT/, '--timeout 5s'),
  server('mixes-requests', 'broken', /"allow": true/),
  server('allows-bad-params', 'broken', /"allow": true/),
  server('dies-of-bad-params', 'survives', /SERVER_EXIT/),
  server('ignores-term', 'sigterm', /still running/),
  server('outlives-its-stdin', 'stdin-end', /still running/),
];

export const mistake = (file: string): string => join(import.meta.dirname, 'mistakes', file);
export const right = (file: string): string => join(import.meta.dirname, 'right', file);

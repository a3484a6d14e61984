import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { points } from '../../../src/dialects/chibi/points.ts';
import type { ProcessReply } from '../../../src/process/transport.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { answered } from '../verdicts.ts';
import { printed, questionAt, readAt, say, seatOf } from './asking.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly at: string;
  readonly says: string | Uint8Array;
  readonly exit?: Partial<ProcessReply>;
  readonly means: string;
}

const open = (cause: string) => `{"failed_open":{"hook":"guard","cause":"chibi.${cause}"}}`;
const block = '{"block": true, "message": "no"}';

const failures: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | at | says | exit | means
  a crash passes | CH-4-05@oneshot | pre_tool | ${block} | ${{ exitCode: 2 }} | allow "" ${open('exit_nonzero')}
  a signal passes | CH-4-05@oneshot | pre_tool | ${block} | ${{ exitCode: null, signal: 'SIGTERM' }} | allow "" ${open('exit_nonzero')}
  nothing passes | CH-4-06@oneshot | pre_tool | ${''} |  | allow "" ${open('empty')}
  white space passes | CH-4-06@oneshot | pre_tool | ${' \n\t'} |  | allow "" ${open('empty')}
  a banner before the JSON passes | CH-4-08@oneshot | pre_tool | ${`hello\n${block}`} |  | allow "" ${open('not_json')}
  two documents pass | CH-4-08@oneshot | pre_tool | ${`${block}\n${block}`} |  | allow "" ${open('not_json')}
  a list passes | CH-4-10@oneshot | pre_tool | [${block}] |  | allow "" ${open('no_object')}
  null passes | CH-4-10@oneshot | pre_tool | null |  | allow "" ${open('no_object')}
  a text passes | CH-4-10@oneshot | pre_tool | "block" |  | allow "" ${open('no_object')}
  a block that is a text passes | CH-4-11@oneshot | pre_tool | {"block": "true"} |  | allow "" ${open('wrong_type')}
  a denied that is a number passes | CH-4-11@oneshot | pre_shell_exec | {"denied": 1} |  | allow "" ${open('wrong_type')}
  negative fuel passes | CH-4-11@oneshot | pre_agentic_loop | {"fuel": -1} |  | allow "" ${open('wrong_type')}
  a delta with a point passes | CH-4-11@oneshot | post_tool_batch | {"fuel_delta": -5.0} |  | allow "" ${open('wrong_type')}
  fuel beyond 64 bits passes | CH-4-11@oneshot | pre_agentic_loop | {"fuel": 18446744073709551616} |  | allow "" ${open('wrong_type')}
  a delta beyond 64 bits passes | CH-4-11@oneshot | pre_agentic_loop | {"fuel_delta": 9223372036854775808} |  | allow "" ${open('wrong_type')}
`,
  {
    title: 'the members that fit count beside one that does not',
    cites: 'CH-4-11@oneshot',
    at: 'pre_agentic_loop',
    says: '{"fuel": -1, "fallback": "call_agent"}',
    means: `modify "" {"fallback":"call_agent"} ${open('wrong_type')}`,
  },
];

test.each(titled(failures))('$title', ({ at, says, exit, means }) => {
  expect(say(readAt(at, printed(says, exit)))).toBe(means);
});

test.each(failures)('on_failure: deny closes it if $title [CH-4-13@oneshot]', ({ at, says, exit }) => {
  const answer = readAt(at, printed(says, exit), 'deny');
  expect([answer.verdict, answer.metadata.text.includes('failed_closed')]).toEqual(['deny', true]);
});

test('a kept rule is a warning with its name [CH-4-12@oneshot]', () => {
  const { notes } = chibi.decode(seatOf('guard'), questionAt('pre_tool'), printed(''));
  expect(notes).toEqual([
    {
      level: 'warn',
      message:
        'it printed nothing, and the event passes by the rule chibi.empty; `on_failure: deny` would stop it',
    },
  ]);
});

test('a signal is a crash whatever the exit code says [CH-4-05@oneshot]', () => {
  const answer = readAt('pre_tool', printed('{}', { signal: 'SIGTERM' }), 'deny');
  expect(answer.reason).toBe('hook "guard" was ended by SIGTERM');
});

test('a closed guard that crashed has its stderr in the error [CH-4-12@oneshot]', () => {
  const answer = readAt('pre_tool', printed('', { exitCode: 2, stderr: 'jq: missing' }), 'deny');
  expect(answer).toMatchObject({
    reason: 'hook "guard" exited with code 2',
    error: { code: 'PROCESS_EXIT', details: { exit_code: 2, signal: null, stderr: 'jq: missing' } },
  });
});

test('a closed guard that printed nothing has no fault [CH-4-13@oneshot]', () => {
  expect(readAt('pre_tool', printed(''), 'deny')).not.toHaveProperty('error');
});

const timeout = new RuntimeError('PROCESS_TIMEOUT', 'late', { details: { timeout_ms: 1500 } });
const faults = [
  {
    title: 'a timeout',
    fault: timeout,
    text: 'Failed to execute hook pre_tool on guard_tool: Timed out after 1.5s: hook pre_tool on guard_tool',
  },
  {
    title: 'a timeout of unknown length',
    fault: new RuntimeError('PROCESS_TIMEOUT', 'late'),
    text: 'Failed to execute hook pre_tool on guard_tool: Timed out: hook pre_tool on guard_tool',
  },
  {
    title: 'a failed spawn',
    fault: new RuntimeError('PROCESS_START', 'no such file'),
    text: 'Failed to spawn hook pre_tool on guard_tool: no such file',
  },
  {
    title: 'too much output',
    fault: new RuntimeError('OUTPUT_LIMIT', 'too much'),
    text: 'Failed to execute hook pre_tool on guard_tool: too much',
  },
  {
    title: 'a limit of ours',
    fault: new RuntimeError('LIMIT_EXCEEDED', 'too much memory'),
    text: 'Failed to execute hook pre_tool on guard_tool: too much memory',
  },
];

test.each(faults)('$title ends the turn [CH-5-01@oneshot CH-5-05@oneshot DS-LIM-08]', ({ fault, text }) => {
  const expected = `abort ${JSON.stringify(text)} turn`;
  const [open, closed] = [readAt('pre_tool', fault), readAt('pre_tool', fault, 'deny')];
  expect([say(open), say(closed)]).toEqual([expected, expected]);
  expect(open).toMatchObject({ error: { code: fault.code } });
});

const told = Object.entries(points).flatMap(([point, { isFilter }]) => (isFilter ? [] : [point]));

test('17 points only inform [CH-7-40@oneshot]', () => {
  expect(told).toHaveLength(17);
  expect(Object.keys(points)).toHaveLength(33);
});

const served = answered('{"block": true}');

test('an answer of a server stops where possible, and fails elsewhere', () => {
  expect(say(readAt('pre_tool', served))).toBe('deny "REPLY_MALFORMED"');
  const { output, notes } = chibi.decode(seatOf('g'), questionAt('post_tool'), served);
  const message = 'it failed at post_tool: answered like a server';
  expect([say(output), notes]).toEqual(['allow ""', [{ level: 'warn', message }]]);
});

test('a failed observer causes a warning', () => {
  const { notes } = chibi.decode(seatOf('g'), questionAt('post_tool'), printed('', { exitCode: 1 }));
  expect(notes).toEqual([{ level: 'warn', message: 'it failed at post_tool: exited with code 1' }]);
});

test.each(told)('%s passes whatever the plugin does [CH-5-03@oneshot CH-7-26@oneshot]', (point) => {
  const replies = [printed('{"denied": true, "block": true}'), printed('', { exitCode: 1 }), timeout];
  expect(replies.map((reply) => say(readAt(point, reply, 'deny')))).toEqual([
    'allow ""',
    'allow ""',
    'allow ""',
  ]);
  const warnings = replies.map((reply) => chibi.decode(seatOf('g'), questionAt(point), reply).notes.length);
  expect(warnings).toEqual([0, 1, 1]);
});

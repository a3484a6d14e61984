import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { titled } from '../../cite.ts';
import { left, posted, readAt, type SeatChoice, say, sayAt, specific } from './handler.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point?: string;
  readonly reply: Reply | RuntimeError;
  readonly seat?: SeatChoice;
  readonly means: string;
}

const open = (cause: string) => `#{"failed_open":{"hook":"guard","cause":"claude.${cause}"}}`;
const closed: SeatChoice = { onFailure: 'deny' };
const allow = (members: object = {}) => specific('PreToolUse', { permissionDecision: 'allow', ...members });
/** A text in UTF-16, its mark before it. */
function marked(text: string, form: 'utf-16le' | 'utf-16be'): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return form === 'utf-16le' ? bytes : bytes.swap16();
}

const exit2 = (stdout = '', stderr = 'no\n') => left(stdout, { exitCode: 2, stderr });

const exitCodes: readonly Row[] = [
  {
    title: 'a handler that writes to stderr and exits 2 blocks',
    cites: 'CC-6-01@oneshot CC-3-10@oneshot',
    reply: exit2(),
    means: 'deny "no"',
  },
  {
    title: 'exit 2 blocks in silence',
    cites: 'CC-6-01@oneshot',
    reply: exit2('', ''),
    means: 'deny "PreToolUse hook \\"guard\\" blocked without a message"',
  },
  {
    title: 'exit 2 blocks whatever text is printed',
    cites: 'CC-6-01@oneshot',
    reply: exit2('fine'),
    means: 'deny "no"',
  },
  {
    title: 'exit 2 blocks beside an object that is not JSON',
    cites: 'CC-6-01@oneshot',
    reply: exit2('{"a"}'),
    means: 'deny "no"',
  },
  { title: 'no allow lifts exit 2', cites: 'CC-6-02', reply: exit2(allow()), means: 'deny "no"' },
  {
    title: 'no answer that breaks the schema lifts exit 2',
    cites: 'CC-6-02',
    reply: exit2('{"continue":"yes"}'),
    means: 'deny "no"',
  },
  {
    title: 'the reason of a blocking JSON goes before stderr',
    cites: 'CC-6-02',
    reply: exit2('{"decision":"block","reason":"why"}'),
    means: 'deny "why"',
  },
  {
    title: 'other fields of a JSON beside exit 2 count',
    cites: 'CC-6-02',
    reply: exit2(
      specific('PreToolUse', { additionalContext: 'c', updatedInput: {} }, { systemMessage: 'm' }),
    ),
    means: 'deny "no" +["c"] #{"system_message":"m"}',
  },
  {
    title: 'an object counts on any exit code',
    cites: 'CC-6-03',
    reply: left('{"decision":"block","reason":"why"}', { exitCode: 1 }),
    means: 'deny "why"',
  },
  {
    title: 'an allow counts on any exit code',
    cites: 'CC-6-03',
    reply: left(allow({ permissionDecisionReason: 'ok' }), { exitCode: 1 }),
    means: 'allow "ok"',
  },
  {
    title: 'a handler that reads nothing and says nothing decides nothing',
    cites: 'CC-6-04@oneshot CC-3-11@oneshot',
    reply: left(),
    means: 'allow',
  },
  {
    title: 'silence is not closed',
    cites: 'CC-9-04 CC-6-04@oneshot',
    reply: left(' \n'),
    seat: closed,
    means: 'allow',
  },
  {
    title: 'an empty answer over HTTP decides nothing',
    cites: 'CC-6-04@http',
    reply: posted(204),
    seat: closed,
    means: 'allow',
  },
  {
    title: 'text is for the log',
    cites: 'CC-6-05',
    reply: left('all good'),
    seat: closed,
    means: 'allow',
  },
  ...['SessionStart', 'UserPromptSubmit', 'UserPromptExpansion', 'PostModelSwitch'].map((point) => ({
    title: `text at ${point} is context`,
    cites: 'CC-6-05',
    point,
    reply: left('be kind\n'),
    means: 'allow +["be kind"]',
  })),
  ...['[1]', '"quoted"', '12'].map((text) => ({
    title: `${text} is text`,
    cites: 'CC-6-05',
    point: 'SessionStart',
    reply: left(text),
    means: `allow +${JSON.stringify([text])}`,
  })),
  {
    title: 'JSON behind a banner is not read',
    cites: 'CC-6-06@oneshot CC-9-01',
    reply: left('welcome\n{"decision":"block","reason":"why"}'),
    means: `allow ${open('text_before_json')}`,
  },
  {
    title: 'JSON behind a banner can be closed',
    cites: 'CC-6-06@oneshot CC-9-02',
    reply: left('welcome\n{"decision":"block"}'),
    seat: closed,
    means:
      'deny "hook \\"guard\\" printed text before what may be its JSON answer" #{"failed_closed":{"hook":"guard","cause":"claude.text_before_json"}}',
  },
  {
    title: 'JSON behind a banner stays context',
    cites: 'CC-6-06@oneshot',
    point: 'SessionStart',
    reply: left('welcome\n{}'),
    means: `allow +["welcome\\n{}"] ${open('text_before_json')}`,
  },
  {
    title: 'an object that is not JSON passes by its rule',
    cites: 'CC-6-07@oneshot CC-9-01',
    reply: left("{'decision': 'block'}"),
    means: `allow ${open('bad_json')}`,
  },
  {
    title: 'text that begins like an object stays context',
    cites: 'CC-6-07@oneshot',
    point: 'SessionStart',
    reply: left('{"decision": "bl'),
    means: `allow +["{\\"decision\\": \\"bl"] ${open('bad_json')}`,
  },
  ...[
    { what: 'is cut off', reply: left('{"decision":"block","reason":"n') },
    { what: 'has text behind it', reply: left('{"decision":"block"}\ndone') },
    { what: 'has a second one behind it', reply: left('{"decision":"block"}{}') },
    {
      what: 'is in UTF-16 without a mark',
      reply: left(Buffer.from('{"decision":"block"}', 'utf16le')),
    },
    {
      what: 'is in big-endian UTF-16 without a mark',
      reply: left(Buffer.from('{"decision":"block"}', 'utf16le').swap16()),
    },
  ].flatMap(({ what, reply }): Row[] => [
    {
      title: `an object that ${what} passes by its rule`,
      cites: 'CC-6-07@oneshot CC-9-01',
      reply,
      means: `allow ${open('bad_json')}`,
    },
    {
      title: `an object that ${what} can be closed`,
      cites: 'CC-6-07@oneshot CC-9-02',
      reply,
      seat: closed,
      means:
        'deny "hook \\"guard\\" printed what begins as a JSON object and is none" #{"failed_closed":{"hook":"guard","cause":"claude.bad_json"}}',
    },
  ]),
  ...(['utf-16le', 'utf-16be'] as const).map((form) => ({
    title: `a denial in ${form} with its mark denies`,
    cites: 'CC-6-19@oneshot',
    reply: left(marked('{"decision":"block","reason":"né"}', form)),
    means: 'deny "né"',
  })),
  {
    title: 'UTF-16 with half a character allows nothing',
    cites: 'CC-6-08 CC-6-19@oneshot',
    reply: left(Buffer.concat([marked(allow(), 'utf-16le'), Buffer.from(' ')])),
    means: `allow ${open('bad_json')}`,
  },
  ...[
    '{"decision":"block","decision":"approve"}',
    '{"\\u0064ecision":"block","decision":"approve"}',
    '{"Decision":"block","decision":"approve"}',
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecision":"allow"}}',
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{},"updatedInput":{"a":1}}}',
    '{"hookSpecificOutput":{},"HookSpecificOutput":{}}',
  ].map((text) => ({
    title: `${text} says its word twice`,
    cites: 'CC-6-20',
    reply: left(text),
    means: 'deny REPLY_MALFORMED',
  })),
  {
    title: 'exit 1 blocks nothing',
    cites: 'CC-6-11 CC-9-01',
    reply: left('', { exitCode: 1, stderr: 'no' }),
    means: `allow ${open('exit_other')}`,
  },
  {
    title: 'a command that is not found blocks nothing',
    cites: 'CC-6-11',
    reply: left('text', { exitCode: 127 }),
    means: `allow ${open('exit_other')}`,
  },
  {
    title: 'an end by a signal is another exit code',
    cites: 'CC-6-11',
    reply: left('', { exitCode: null, signal: 'SIGKILL' }),
    means: `allow ${open('exit_other')}`,
  },
  {
    title: 'bytes that are no UTF-8 allow nothing',
    cites: 'CC-6-08',
    reply: left(Buffer.from(allow({ permissionDecisionReason: 'é' }), 'latin1')),
    means: `allow ${open('bad_schema')}`,
  },
  {
    title: 'bytes that are no UTF-8 deny what they deny',
    cites: 'CC-6-09',
    reply: left(Buffer.from('{"decision":"block","reason":"é"}', 'latin1')),
    means: 'deny "\ufffd"',
  },
];

const timeout = new RuntimeError('PROCESS_TIMEOUT', 'too late');
const spawn = new RuntimeError('PROCESS_START', 'no such file');
const refused = new RuntimeError('PROCESS_START', 'refused', { details: { http: true } });

const faults: readonly Row[] = [
  {
    title: 'no answer in time passes',
    cites: 'CC-6-12 CC-9-01',
    reply: timeout,
    means: `allow ${open('timeout')}`,
  },
  { title: 'no start passes', cites: 'CC-6-12 CC-9-01', reply: spawn, means: `allow ${open('spawn')}` },
  {
    title: 'a late model switch is denied',
    cites: 'CC-6-12',
    point: 'PreModelSwitch',
    reply: timeout,
    means: 'deny "hook \\"guard\\" did not answer in time"',
  },
  {
    title: 'a model switch whose handler cannot start is denied',
    cites: 'CC-6-12',
    point: 'PreModelSwitch',
    reply: spawn,
    means: 'deny "hook \\"guard\\" could not be started (no such file)"',
  },
  {
    title: 'no connection passes',
    cites: 'CC-6-13@http',
    reply: refused,
    means: `allow ${open('http_error')}`,
  },
  ...[403, 500, 302, 0].map((status) => ({
    title: `status ${status} blocks nothing, whatever the body`,
    cites: 'CC-6-13@http',
    reply: posted(status, '{"decision":"block","reason":"why"}'),
    means: `allow ${open('http_error')}`,
  })),
  {
    title: 'a 2xx with text passes by its rule',
    cites: 'CC-6-13@http',
    reply: posted(200, 'ok'),
    means: `allow ${open('http_error')}`,
  },
  {
    title: 'a 2xx with an object is read',
    cites: 'CC-6-13@http',
    reply: posted(201, '{"decision":"block","reason":"why"}'),
    means: 'deny "why"',
  },
  {
    title: 'too much output is let pass by no rule',
    cites: 'CC-9-01',
    reply: new RuntimeError('OUTPUT_LIMIT', 'too much'),
    means: 'deny OUTPUT_LIMIT',
  },
  {
    title: 'a limit of ours is let pass by no rule',
    cites: 'DS-LIM-08',
    reply: new RuntimeError('LIMIT_EXCEEDED', 'too much memory'),
    means: 'deny LIMIT_EXCEEDED',
  },
  {
    title: 'a defect of ours is let pass by no rule',
    cites: 'CC-9-01',
    reply: new RuntimeError('INTERNAL', 'defect'),
    means: 'deny INTERNAL',
  },
];

test.each(titled([...exitCodes, ...faults]))('$title', ({ point = 'PreToolUse', reply, seat, means }) => {
  expect(sayAt(point, reply, seat)).toBe(means);
});

const causes: readonly (readonly [string, Reply | RuntimeError])[] = [
  ['exit_other', left('', { exitCode: 1 })],
  ['bad_json', left('{no}')],
  ['bad_schema', left('{"continue":"no"}')],
  ['text_before_json', left('hi\n{}')],
  ['timeout', timeout],
  ['spawn', spawn],
  ['http_error', posted(500)],
];

const closable = [
  ...['UserPromptSubmit', 'UserPromptExpansion', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure'],
  ...['PostToolBatch', 'SubagentStop', 'TaskCreated', 'TaskCompleted', 'Stop', 'TeammateIdle'],
  ...['ConfigChange', 'PreCompact', 'PreModelSwitch', 'Elicitation', 'ElicitationResult'],
];

test.each(causes)('%s is closed wherever there is something to deny [CC-9-02]', (_cause, reply) => {
  const verdicts = closable.map((point) => readAt(point, reply, closed).output.verdict);
  expect(verdicts).toEqual(closable.map(() => 'deny'));
});

test.each(causes)('%s passes by default with a warning that names it [CC-9-01]', (cause, reply) => {
  const { output, notes } = readAt('Stop', reply);
  expect([
    say(output),
    notes.map(({ level, message }) => [level, message.includes(`claude.${cause}`)]),
  ]).toEqual([`allow ${open(cause)}`, [['warn', true]]]);
});

test('where nothing can be denied nothing is closed [CC-9-02]', () => {
  expect(sayAt('SessionStart', left('', { exitCode: 1 }), closed)).toBe(`allow ${open('exit_other')}`);
});

test('an interpreter without its script blocks, and the trap is named [CC-9-06]', () => {
  const { output, notes } = readAt('PreToolUse', exit2('', "python3: can't open file 'gone.py'"));
  expect([
    say(output),
    notes.map(({ level, message }) => [level, message.includes('script is missing')]),
  ]).toEqual(["deny \"python3: can't open file 'gone.py' (a file cannot be opened)\"", [['warn', true]]]);
});

test('a message of exit 2 where it stops nothing is for the log [CC-5-01]', () => {
  expect(readAt('CwdChanged', exit2()).notes).toEqual([{ level: 'warn', message: 'no' }]);
});

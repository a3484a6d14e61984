import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { Reply } from '../../../src/process/transport.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
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
/** UTF-16 with a byte order mark. */
function marked(text: string, form: 'utf-16le' | 'utf-16be'): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return form === 'utf-16le' ? bytes : bytes.swap16();
}

const exit2 = (stdout = '', stderr = 'no\n') => left(stdout, { exitCode: 2, stderr });

const exitCodes: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | reply | seat | means
  a handler that writes to stderr and exits 2 blocks | CC-6-01@oneshot CC-3-10@oneshot |  | ${exit2()} |  | deny "no"
  exit 2 blocks in silence | CC-6-01@oneshot |  | ${exit2('', '')} |  | ${'deny "PreToolUse hook \\"guard\\" blocked without a message"'}
  exit 2 blocks whatever text is printed | CC-6-01@oneshot |  | ${exit2('fine')} |  | deny "no"
  exit 2 blocks beside an object that is not JSON | CC-6-01@oneshot |  | ${exit2('{"a"}')} |  | deny "no"
  no allow lifts exit 2 | CC-6-02 |  | ${exit2(allow())} |  | deny "no"
  no answer that breaks the schema lifts exit 2 | CC-6-02 |  | ${exit2('{"continue":"yes"}')} |  | deny "no"
  the reason of a blocking JSON goes before stderr | CC-6-02 |  | ${exit2('{"decision":"block","reason":"why"}')} |  | deny "why"
  an object counts on any exit code | CC-6-03 |  | ${left('{"decision":"block","reason":"why"}', { exitCode: 1 })} |  | deny "why"
  an allow counts on any exit code | CC-6-03 |  | ${left(allow({ permissionDecisionReason: 'ok' }), { exitCode: 1 })} |  | allow "ok"
  a handler that reads nothing and says nothing decides nothing | CC-6-04@oneshot CC-3-11@oneshot |  | ${left()} |  | allow
  silence is not closed | CC-9-04 CC-6-04@oneshot |  | ${left(' \n')} | ${closed} | allow
  an empty answer over HTTP decides nothing | CC-6-04@http |  | ${posted(204)} | ${closed} | allow
  text is for the log | CC-6-05 |  | ${left('all good')} | ${closed} | allow
  JSON behind a banner is not read | CC-6-06@oneshot CC-9-01 |  | ${left('welcome\n{"decision":"block","reason":"why"}')} |  | allow ${open('text_before_json')}
  JSON behind a banner stays context | CC-6-06@oneshot | SessionStart | ${left('welcome\n{}')} |  | ${`allow +["welcome\\n{}"] ${open('text_before_json')}`}
  an object that is not JSON passes by its rule | CC-6-07@oneshot CC-9-01 |  | ${left("{'decision': 'block'}")} |  | allow ${open('bad_json')}
  text that begins like an object stays context | CC-6-07@oneshot | SessionStart | ${left('{"decision": "bl')} |  | ${`allow +["{\\"decision\\": \\"bl"] ${open('bad_json')}`}
  exit 1 blocks nothing | CC-6-11 CC-9-01 |  | ${left('', { exitCode: 1, stderr: 'no' })} |  | allow ${open('exit_other')}
  a command that is not found blocks nothing | CC-6-11 |  | ${left('text', { exitCode: 127 })} |  | allow ${open('exit_other')}
  an end by a signal is another exit code | CC-6-11 |  | ${left('', { exitCode: null, signal: 'SIGKILL' })} |  | allow ${open('exit_other')}
  bytes that are no UTF-8 allow nothing | CC-6-08 |  | ${left(Buffer.from(allow({ permissionDecisionReason: 'é' }), 'latin1'))} |  | allow ${open('bad_schema')}
  bytes that are no UTF-8 deny what they deny | CC-6-09 |  | ${left(Buffer.from('{"decision":"block","reason":"é"}', 'latin1'))} |  | deny "�"
`,
  {
    title: 'other fields of a JSON beside exit 2 count',
    cites: 'CC-6-02',
    reply: exit2(
      specific('PreToolUse', { additionalContext: 'c', updatedInput: {} }, { systemMessage: 'm' }),
    ),
    means: 'deny "no" +["c"] #{"system_message":"m"}',
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
    title: 'JSON behind a banner can be closed',
    cites: 'CC-6-06@oneshot CC-9-02',
    reply: left('welcome\n{"decision":"block"}'),
    seat: closed,
    means:
      'deny "hook \\"guard\\" printed text before what may be its JSON answer" #{"failed_closed":{"hook":"guard","cause":"claude.text_before_json"}}',
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
        'deny "hook \\"guard\\" printed something that begins like a JSON object but is not one" #{"failed_closed":{"hook":"guard","cause":"claude.bad_json"}}',
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
];

const timeout = new RuntimeError('PROCESS_TIMEOUT', 'too late');
const spawn = new RuntimeError('PROCESS_START', 'no such file');
const refused = new RuntimeError('PROCESS_START', 'refused', { details: { http: true } });

const faults: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | reply | means
  no answer in time passes | CC-6-12 CC-9-01 |  | ${timeout} | allow ${open('timeout')}
  no start passes | CC-6-12 CC-9-01 |  | ${spawn} | allow ${open('spawn')}
  a late model switch is denied | CC-6-12 | PreModelSwitch | ${timeout} | ${'deny "hook \\"guard\\" did not answer in time"'}
  a model switch whose handler cannot start is denied | CC-6-12 | PreModelSwitch | ${spawn} | ${'deny "hook \\"guard\\" could not be started (no such file)"'}
  no connection passes | CC-6-13@http |  | ${refused} | allow ${open('http_error')}
  a 2xx with text passes by its rule | CC-6-13@http |  | ${posted(200, 'ok')} | allow ${open('http_error')}
  a 2xx with an object is read | CC-6-13@http |  | ${posted(201, '{"decision":"block","reason":"why"}')} | deny "why"
  too much output is let pass by no rule | CC-9-01 |  | ${new RuntimeError('OUTPUT_LIMIT', 'too much')} | deny OUTPUT_LIMIT
  a limit of ours is let pass by no rule | DS-LIM-08 |  | ${new RuntimeError('LIMIT_EXCEEDED', 'too much memory')} | deny LIMIT_EXCEEDED
  a defect of ours is let pass by no rule | CC-9-01 |  | ${new RuntimeError('INTERNAL', 'defect')} | deny INTERNAL
`,
  ...[403, 500, 302, 0].map((status) => ({
    title: `status ${status} blocks nothing, whatever the body`,
    cites: 'CC-6-13@http',
    reply: posted(status, '{"decision":"block","reason":"why"}'),
    means: `allow ${open('http_error')}`,
  })),
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

test.each(causes)('%s is closed wherever something can be denied [CC-9-02]', (_cause, reply) => {
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

test('nothing is closed where nothing can be denied [CC-9-02]', () => {
  expect(sayAt('SessionStart', left('', { exitCode: 1 }), closed)).toBe(`allow ${open('exit_other')}`);
});

test('an interpreter without its script blocks, and the error names the trap [CC-9-06]', () => {
  const { output, notes } = readAt('PreToolUse', exit2('', "python3: can't open file 'gone.py'"));
  expect([
    say(output),
    notes.map(({ level, message }) => [level, message.includes('script is missing')]),
  ]).toEqual(["deny \"python3: can't open file 'gone.py' (a file cannot be opened)\"", [['warn', true]]]);
});

test('an exit 2 message goes to the log where it stops nothing [CC-5-01]', () => {
  expect(readAt('CwdChanged', exit2()).notes).toEqual([{ level: 'warn', message: 'no' }]);
});

import { expect, test } from 'vitest';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { printed, questionAt, readAt, say, seatOf } from './asking.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly at: string;
  readonly says: string | Uint8Array;
  readonly means: string;
}

const block = '{"block": true, "message": "no"}';

const verdicts: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | at | says | means
  an empty object is no opinion | CH-4-09@oneshot | pre_tool | {} | allow ""
  unknown members are no opinion | CH-4-09@oneshot | pre_tool | {"output": 5} | allow ""
  invalid UTF-8 is replaced | CH-4-07@oneshot | pre_message | ${Buffer.from('{"prompt": "a\xff"}', 'latin1')} | modify "" {"prompt":"a�"}
  a prompt modifies | CH-7-03@oneshot | pre_message | ${' {"prompt": ""}\n'} | modify "" {"prompt":""}
  an empty inject is nothing | CH-7-05@oneshot | pre_system_prompt | {"inject": ""} | allow ""
  a block denies | CH-7-07@oneshot | pre_tool | ${block} | deny "no"
  a block has a stock reason | CH-7-07@oneshot | pre_tool | {"block": true} | deny "Tool call blocked by hook"
  a block beats arguments | CH-7-07@oneshot | pre_tool | {"arguments": {}, "block": true} | deny "Tool call blocked by hook"
  a block stands with a wrong message | CH-4-14@oneshot | pre_tool | {"block": true, "message": 5} | deny "Tool call blocked by hook"
  arguments keep their digits | CH-7-07@oneshot | pre_tool | {"arguments": {"n": 12345678901234567890}} | modify "" {"args":{"n": 12345678901234567890}}
  arguments that are a list deny | CH-7-34@oneshot | pre_tool | {"arguments": []} | deny "REPLY_MALFORMED"
  arguments that are null deny | CH-7-34@oneshot | pre_tool | {"arguments": null} | deny "REPLY_MALFORMED"
  a block beats output | CH-7-09@oneshot | pre_tool_output | {"block": true, "output": "x"} | deny "Output blocked by hook"
  an output modifies | CH-7-09@oneshot | pre_tool_output | {"output": ""} | modify "" {"content":""}
  names that are no texts are dropped | CH-7-11@oneshot | pre_api_tools | {"include": ["a", 5, null]} | modify "" {"include":["a"]}
  a body modifies | CH-7-12@oneshot | pre_api_request | {"request_body": {"temperature": 0.30, "top_p": null}} | modify "" {"request_body":{"temperature": 0.30, "top_p": null}}
  a typo in fallback is call_user | CH-7-35@oneshot | pre_agentic_loop | {"fallback": "call_agnet"} | modify "" {"fallback":"call_user"}
  a denied denies | CH-6-01@oneshot | pre_file_read | {"denied": true, "reason": "secret"} | deny "secret"
  a denied has a stock reason | CH-6-01@oneshot | pre_file_write | {"denied": true} | deny "denied by plugin"
  an old refusal denies | CH-6-05@oneshot | pre_fetch_url | {"approved": false, "reason": "old"} | deny "old"
  an old approval is nothing | CH-6-05@oneshot | pre_fetch_url | {"approved": true} | allow ""
  a denied stands beside an old approval | CH-6-05@oneshot | pre_fetch_url | {"approved": true, "denied": true} | deny "denied by plugin"
  a response beats a block | CH-7-19@oneshot | pre_spawn_agent | {"response": "r", "block": true} | respond "" {"response":"r"}
  a block of a sub-agent denies | CH-7-19@oneshot | pre_spawn_agent | {"block": true} | deny "Sub-agent call blocked by hook"
  a block keeps output out of the cache | CH-7-21@oneshot | pre_cache_output | {"block": true, "summary": "s"} | modify "" {"cache":false}
  a summary modifies | CH-7-21@oneshot | pre_cache_output | {"summary": "s"} | modify "" {"summary":"s"}
  a cache without a word is as it was | CH-7-21@oneshot | pre_cache_output | {"block": false} | allow ""
  a delivery names its way | CH-7-23@oneshot | pre_send_message | {"delivered": true, "via": "mail"} | respond "" {"delivered":true,"via":"mail"}
  a delivery goes by the tool by default | CH-7-23@oneshot | pre_send_message | {"delivered": true} | respond "" {"delivered":true,"via":"guard_tool"}
  no delivery is nothing | CH-7-23@oneshot | pre_send_message | {"delivered": false, "via": "x"} | allow ""
`,
  ...[(bytes: Buffer) => bytes, (bytes: Buffer) => bytes.swap16()].map((order, index) => ({
    title: `a block in UTF-16 with its mark blocks, ${['little', 'big'][index]}-endian`,
    cites: 'CH-4-07@oneshot',
    at: 'pre_tool',
    says: order(Buffer.from(`\ufeff${block}`, 'utf16le')),
    means: 'deny "no"',
  })),
];

const refusers = ['pre_tool', 'pre_tool_output', 'pre_file_read', 'pre_fetch_url', 'pre_spawn_agent'];

test.each([
  '{"block": true}',
  '{"denied": true}',
  '{"approved": false}',
  '{"Block": true}',
  '{"DENIED": true, "arguments": {}}',
  '{"block": true, "block": false}',
  '{"denied": true, "denied": false}',
  '{"approved": true, "Approved": false}',
  '{"block": false, "denied": true, "output": "x"}',
])('%s denies at every point that can deny', (says) => {
  expect(refusers.map((at) => readAt(at, printed(says)).verdict)).toEqual(refusers.map(() => 'deny'));
});

test('a denial in another point’s words keeps its reason, and is reported', () => {
  const told = chibi.decode(
    seatOf('guard'),
    questionAt('pre_tool'),
    printed('{"denied": true, "reason": "no"}'),
  );
  expect([say(told.output), told.notes]).toEqual([
    'deny "no"',
    [
      { level: 'debug', message: `the reply's member "reason" is unknown and ignored` },
      {
        level: 'warn',
        message: 'it gave `denied: true`, which belongs to other points than pre_tool, which denies',
      },
    ],
  ]);
  const plain = chibi.decode(seatOf('guard'), questionAt('pre_tool'), printed('{"block": true}'));
  expect(plain.notes).toEqual([]);
});

test.each([
  ['{"denied": true, "message": "no"}', 'pre_tool', 'no'],
  ['{"denied": true, "message": 5}', 'pre_tool', 'Tool call blocked by hook'],
  ['{"denied": true, "message": 5, "reason": "no"}', 'pre_tool', 'no'],
  ['{"denied": true, "reason": "own", "block": true, "message": "other"}', 'pre_file_read', 'own'],
])('%s at %s denies for the reason %s', (says, at, reason) => {
  expect(readAt(at, printed(says))).toMatchObject({ verdict: 'deny', reason });
});

const notesOn = (at: string, says: string) =>
  chibi.decode(seatOf('guard'), questionAt(at), printed(says)).notes;

test('members beside a denial or a change are reported', () => {
  expect(notesOn('pre_tool', '{"block": true, "message": 5}')).toEqual([
    { level: 'warn', message: 'it gave `message` of the wrong type' },
  ]);
  expect(notesOn('pre_tool_output', '{"block": true, "message": 5, "output": 5, "x": 1}')).toMatchObject([
    { level: 'debug' },
    { level: 'warn', message: 'it gave `message` and `output` of the wrong type' },
  ]);
  expect(notesOn('pre_message', '{"block": true}')).toEqual([
    { level: 'debug', message: `the reply's member "block" is unknown and ignored` },
  ]);
});

test.each(['{"denied": false}', '{"approved": true}', '{"block": false}'])('%s denies nowhere', (says) => {
  expect(refusers.map((at) => readAt(at, printed(says)).verdict)).toEqual(refusers.map(() => 'allow'));
});

test('where nothing can be denied, a denial has no effect', () => {
  expect(say(readAt('pre_message', printed('{"block": true, "denied": true}')))).toBe('allow ""');
});

test.each(['null', '[]', '"x"', '5'])('a request_body %s denies [CH-7-12@oneshot]', (body) => {
  const says = printed(`{"request_body": ${body}}`);
  expect(say(readAt('pre_api_request', says))).toBe('deny "REPLY_MALFORMED"');
});

test.each(titled(verdicts))('$title', ({ at, says, means }) => {
  expect(say(readAt(at, printed(says)))).toBe(means);
});

test.each(['{}', '{"x": 1}'])('%s is never closed [CH-4-09@oneshot]', (says) => {
  expect(say(readAt('pre_tool', printed(says), 'deny'))).toBe('allow ""');
});

test('a refusal keeps its words even if a failure would be closed [CH-4-14@oneshot]', () => {
  expect(say(readAt('pre_tool', printed('{"block": true, "message": "no", "arguments": {}}'), 'deny'))).toBe(
    'deny "no"',
  );
});

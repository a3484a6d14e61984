import { expect, test } from 'vitest';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { titled } from '../../cite.ts';
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
  {
    title: 'an empty object is no opinion',
    cites: 'CH-4-09@oneshot',
    at: 'pre_tool',
    says: '{}',
    means: 'allow ""',
  },
  {
    title: 'unknown members are no opinion',
    cites: 'CH-4-09@oneshot',
    at: 'pre_tool',
    says: '{"output": 5}',
    means: 'allow ""',
  },
  {
    title: 'invalid UTF-8 is replaced',
    cites: 'CH-4-07@oneshot',
    at: 'pre_message',
    says: Buffer.from('{"prompt": "a\xff"}', 'latin1'),
    means: 'modify "" {"prompt":"a\ufffd"}',
  },
  ...[(bytes: Buffer) => bytes, (bytes: Buffer) => bytes.swap16()].map((order, index) => ({
    title: `a block in UTF-16 with its mark blocks, ${['little', 'big'][index]}-endian`,
    cites: 'CH-4-07@oneshot',
    at: 'pre_tool',
    says: order(Buffer.from(`\ufeff${block}`, 'utf16le')),
    means: 'deny "no"',
  })),
  {
    title: 'a prompt modifies',
    cites: 'CH-7-03@oneshot',
    at: 'pre_message',
    says: ' {"prompt": ""}\n',
    means: 'modify "" {"prompt":""}',
  },
  {
    title: 'an empty inject is nothing',
    cites: 'CH-7-05@oneshot',
    at: 'pre_system_prompt',
    says: '{"inject": ""}',
    means: 'allow ""',
  },
  { title: 'a block denies', cites: 'CH-7-07@oneshot', at: 'pre_tool', says: block, means: 'deny "no"' },
  {
    title: 'a block has a stock reason',
    cites: 'CH-7-07@oneshot',
    at: 'pre_tool',
    says: '{"block": true}',
    means: 'deny "Tool call blocked by hook"',
  },
  {
    title: 'a block beats arguments',
    cites: 'CH-7-07@oneshot',
    at: 'pre_tool',
    says: '{"arguments": {}, "block": true}',
    means: 'deny "Tool call blocked by hook"',
  },
  {
    title: 'a block stands with a wrong message',
    cites: 'CH-4-14@oneshot',
    at: 'pre_tool',
    says: '{"block": true, "message": 5}',
    means: 'deny "Tool call blocked by hook"',
  },
  {
    title: 'arguments keep their digits',
    cites: 'CH-7-07@oneshot',
    at: 'pre_tool',
    says: '{"arguments": {"n": 12345678901234567890}}',
    means: 'modify "" {"args":{"n": 12345678901234567890}}',
  },
  {
    title: 'arguments that are a list deny',
    cites: 'CH-7-34@oneshot',
    at: 'pre_tool',
    says: '{"arguments": []}',
    means: 'deny "REPLY_MALFORMED"',
  },
  {
    title: 'arguments that are null deny',
    cites: 'CH-7-34@oneshot',
    at: 'pre_tool',
    says: '{"arguments": null}',
    means: 'deny "REPLY_MALFORMED"',
  },
  {
    title: 'a block beats output',
    cites: 'CH-7-09@oneshot',
    at: 'pre_tool_output',
    says: '{"block": true, "output": "x"}',
    means: 'deny "Output blocked by hook"',
  },
  {
    title: 'an output modifies',
    cites: 'CH-7-09@oneshot',
    at: 'pre_tool_output',
    says: '{"output": ""}',
    means: 'modify "" {"content":""}',
  },
  {
    title: 'names that are no texts are dropped',
    cites: 'CH-7-11@oneshot',
    at: 'pre_api_tools',
    says: '{"include": ["a", 5, null]}',
    means: 'modify "" {"include":["a"]}',
  },
  {
    title: 'a body modifies',
    cites: 'CH-7-12@oneshot',
    at: 'pre_api_request',
    says: '{"request_body": {"temperature": 0.30, "top_p": null}}',
    means: 'modify "" {"request_body":{"temperature": 0.30, "top_p": null}}',
  },
  {
    title: 'a typo in fallback is call_user',
    cites: 'CH-7-35@oneshot',
    at: 'pre_agentic_loop',
    says: '{"fallback": "call_agnet"}',
    means: 'modify "" {"fallback":"call_user"}',
  },
  {
    title: 'a denied denies',
    cites: 'CH-6-01@oneshot',
    at: 'pre_file_read',
    says: '{"denied": true, "reason": "secret"}',
    means: 'deny "secret"',
  },
  {
    title: 'a denied has a stock reason',
    cites: 'CH-6-01@oneshot',
    at: 'pre_file_write',
    says: '{"denied": true}',
    means: 'deny "denied by plugin"',
  },
  {
    title: 'an old refusal denies',
    cites: 'CH-6-05@oneshot',
    at: 'pre_fetch_url',
    says: '{"approved": false, "reason": "old"}',
    means: 'deny "old"',
  },
  {
    title: 'an old approval is nothing',
    cites: 'CH-6-05@oneshot',
    at: 'pre_fetch_url',
    says: '{"approved": true}',
    means: 'allow ""',
  },
  {
    title: 'a denied stands beside an old approval',
    cites: 'CH-6-05@oneshot',
    at: 'pre_fetch_url',
    says: '{"approved": true, "denied": true}',
    means: 'deny "denied by plugin"',
  },
  {
    title: 'a response beats a block',
    cites: 'CH-7-19@oneshot',
    at: 'pre_spawn_agent',
    says: '{"response": "r", "block": true}',
    means: 'respond "" {"response":"r"}',
  },
  {
    title: 'a block of a sub-agent denies',
    cites: 'CH-7-19@oneshot',
    at: 'pre_spawn_agent',
    says: '{"block": true}',
    means: 'deny "Sub-agent call blocked by hook"',
  },
  {
    title: 'a block keeps output out of the cache',
    cites: 'CH-7-21@oneshot',
    at: 'pre_cache_output',
    says: '{"block": true, "summary": "s"}',
    means: 'modify "" {"cache":false}',
  },
  {
    title: 'a summary modifies',
    cites: 'CH-7-21@oneshot',
    at: 'pre_cache_output',
    says: '{"summary": "s"}',
    means: 'modify "" {"summary":"s"}',
  },
  {
    title: 'a cache without a word is as it was',
    cites: 'CH-7-21@oneshot',
    at: 'pre_cache_output',
    says: '{"block": false}',
    means: 'allow ""',
  },
  {
    title: 'a delivery names its way',
    cites: 'CH-7-23@oneshot',
    at: 'pre_send_message',
    says: '{"delivered": true, "via": "mail"}',
    means: 'respond "" {"delivered":true,"via":"mail"}',
  },
  {
    title: 'a delivery goes by the tool by default',
    cites: 'CH-7-23@oneshot',
    at: 'pre_send_message',
    says: '{"delivered": true}',
    means: 'respond "" {"delivered":true,"via":"guard_tool"}',
  },
  {
    title: 'no delivery is nothing',
    cites: 'CH-7-23@oneshot',
    at: 'pre_send_message',
    says: '{"delivered": false, "via": "x"}',
    means: 'allow ""',
  },
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
])('%s denies at every point that can', (says) => {
  expect(refusers.map((at) => readAt(at, printed(says)).verdict)).toEqual(refusers.map(() => 'deny'));
});

test('a denial in the word of another point keeps its reason, and is told of', () => {
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
        message: 'it gave `denied: true`, a word of other points than pre_tool, which denies',
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

test('what a denial or a change gave beside is told of', () => {
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

test('where nothing can be denied, the words of a denial are nothing', () => {
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

test('a refusal keeps its words where a failure would be closed [CH-4-14@oneshot]', () => {
  expect(say(readAt('pre_tool', printed('{"block": true, "message": "no", "arguments": {}}'), 'deny'))).toBe(
    'deny "no"',
  );
});

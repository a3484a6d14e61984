import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { PicoclawSettings } from '../../../src/dialects/picoclaw/config/settings.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { answered, answerTo, ask, say, sayReply, seatOf } from './seat.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly point: string;
  readonly object: string;
  readonly doc: string;
  readonly head: string;
}

const big = '12345678901234567890';
const bad = 'allow by picoclaw.bad_result';

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | point | object | doc | head
  arguments keep their bytes | PC-4-08 PC-6-13 | before_tool | "call":{"tool":"echo","arguments":{"n":${big}}} | modify {"args":{"n":${big}}} | modify {"args":{"n":${big}}}
  a name that changes is a rename | PC-6-13 | before_tool | "call":{"tool":"other","arguments":{}} | modify {"args":{},"name":"other"} | modify {"args":{},"name":"other"}
  a call without a name or arguments | PC-1-06 PC-1-07 PC-6-13 | before_tool | "call":{} | allow | modify {"args":{},"name":""}
  a nested result | PC-6-14 | after_tool | "result":{"tool":"echo","result":{"for_llm":"***"}} | modify {"content":"***"} | modify {"content":"***"}
  a flat result | PC-1-08 PC-1-09 PC-6-14 | after_tool | "result":{"for_llm":"***"} | modify {"content":"***"} | ${bad}
  a flat result in other letters | PC-6-45 | after_tool | "result":{"For_LLM":"***"} | modify {"content":"***"} | ${bad}
  a result in other letters | PC-6-45 | after_tool | "Result":{"RESULT":{"For_Llm":"first","for_llm":"***"}} | modify {"content":"***"} | modify {"content":"***"}
  a call in other letters | PC-6-45 | before_tool | "Call":{"Tool":"other","ARGUMENTS":{"B":2}} | modify {"args":{"B":2},"name":"other"} | modify {"args":{"B":2},"name":"other"}
  cleared arguments | PC-6-44 | before_tool | "call":{"tool":"echo","arguments":null} | modify {"args":{}} | modify {"args":{}}
  a request without a model | PC-6-11 PC-1-06 | before_llm | "request":{"options":{"temperature":1}} | modify {"options":{"max_tokens":5,"temperature":1}} | deny
`,
  ...['[]', '1', '{"tool":1}', '{"arguments":[]}', '{"arguments":"{}"}'].map((call) => ({
    title: `the call ${call} fits no form`,
    cites: 'PC-6-15',
    point: 'before_tool',
    object: `"call":${call}`,
    doc: bad,
    head: bad,
  })),
  ...['{"is_error":true}', '{}', '{"for_llm":null}', '{"For_LLM":""}'].map((result) => ({
    title: `the result ${result} is empty`,
    cites: 'PC-6-43',
    point: 'after_tool',
    object: `"result":{"result":${result}}`,
    doc: 'modify {"content":""}',
    head: 'modify {"content":""}',
  })),
  {
    title: 'a request in other letters',
    cites: 'PC-6-45',
    point: 'before_llm',
    object: '"Request":{"Model":"n","Messages":[{"Role":"user","Content":"***"}]}',
    doc: 'modify {"model":"n","messages":[{"Role":"user","Content":"***"}]}',
    head: 'modify {"model":"n","options":{}}',
  },
  {
    title: 'tools and options in other letters',
    cites: 'PC-6-45',
    point: 'before_llm',
    object: '"request":{"Tools":[],"Options":{"temperature":1}}',
    doc: 'modify {"tools":[],"options":{"max_tokens":5,"temperature":1}}',
    head: 'deny',
  },
  ...['{}', '{"model":""}', '{"model":null,"messages":null}'].map((request) => ({
    title: `the request ${request} changes nothing by the page`,
    cites: 'PC-1-06',
    point: 'before_llm',
    object: `"request":${request}`,
    doc: 'allow',
    head: 'deny',
  })),
  ...['{}', '"***"', '{"result":"***"}', '{"result":{"for_llm":1}}', '{"result":null}'].map((result) => ({
    title: `the result ${result} fits no form`,
    cites: 'PC-1-08 PC-6-15',
    point: 'after_tool',
    object: `"result":${result}`,
    doc: 'deny',
    head: bad,
  })),
  {
    title: 'a nested response',
    cites: 'PC-6-12 PC-1-06 PC-1-07',
    point: 'after_llm',
    object: '"response":{"model":"x","response":{"content":"***"}}',
    doc: 'modify {"response":{"role":"assistant","finish_reason":"stop","reasoning":"","reasoning_details":null,"content":"***","reasoning_content":"hm"}}',
    head: 'modify {"response":{"content":"***"}}',
  },
  {
    title: 'a flat response',
    cites: 'PC-1-08 PC-1-09',
    point: 'after_llm',
    object: '"response":{"content":"***","reasoning_content":"","model":"m"}',
    doc: 'modify {"response":{"role":"assistant","finish_reason":"stop","reasoning":"","reasoning_details":null,"content":"***","reasoning_content":""}}',
    head: bad,
  },
  ...['{}', '{"content":null}', '{"Content":""}'].map((response) => ({
    title: `the response ${response} is empty`,
    cites: 'PC-6-43',
    point: 'after_llm',
    object: `"response":{"response":${response}}`,
    doc: 'modify {"response":{"role":"assistant","finish_reason":"stop","reasoning":"","reasoning_details":null,"content":"","reasoning_content":"hm"}}',
    head: 'modify {"response":{"content":""}}',
  })),
  {
    title: 'a response in other letters',
    cites: 'PC-6-45',
    point: 'after_llm',
    object: '"Response":{"Response":{"Content":"***","Reasoning_Content":""}}',
    doc: 'modify {"response":{"role":"assistant","finish_reason":"stop","reasoning":"","reasoning_details":null,"content":"***","reasoning_content":""}}',
    head: 'modify {"response":{"content":"***","reasoning_content":""}}',
  },
  ...[
    '{}',
    '"x"',
    '{"response":null}',
    '{"response":{"content":1}}',
    '{"content":null}',
    '{"response":{"content":"a","tool_calls":[{"id":"1"}]}}',
  ].map((response) => ({
    title: `the response ${response} fits no form`,
    cites: 'PC-1-08 PC-6-15',
    point: 'after_llm',
    object: `"response":${response}`,
    doc: 'deny',
    head: bad,
  })),
  {
    title: 'a request with another system prompt',
    cites: 'PC-1-04 PC-1-05 PC-1-06 PC-1-07',
    point: 'before_llm',
    object: '"request":{"model":"m2","messages":[{"role":"system","content":"x"}]}',
    doc: 'modify {"model":"m2","messages":[{"role":"system","content":"x"}]}',
    head: 'modify {"model":"m2","options":{}}',
  },
  {
    title: 'a request with other messages and tools',
    cites: 'PC-1-04 PC-1-05 PC-6-10',
    point: 'before_llm',
    object:
      '"request":{"model":"m","messages":[{"content":"Be kind.","role":"system"}],"tools":[{"type":"function","function":{"name":"t"}}],"options":{"temperature":0}}',
    doc: 'modify {"model":"m","messages":[{"content":"Be kind.","role":"system"}],"tools":[{"type":"function","function":{"name":"t"}}],"options":{"max_tokens":5,"temperature":0}}',
    head: 'modify {"model":"m","messages":[{"content":"Be kind.","role":"system"}],"options":{"temperature":0}}',
  },
  ...[
    '[]',
    '{"messages":1}',
    '{"messages":[{"role":"x"}]}',
    '{"model":1}',
    '{"tools":[{}]}',
    '{"options":{"max_tokens":"5"}}',
    '{"options":{"max_tokens":0}}',
    '{"options":{"max_tokens":-1}}',
    '{"options":{"max_tokens":1.5}}',
    '{"options":{"temperature":"hot"}}',
    '{"options":[]}',
  ].map((request) => ({
    title: `the request ${request} fits no form`,
    cites: 'PC-6-15',
    point: 'before_llm',
    object: `"request":${request}`,
    doc: bad,
    head: bad,
  })),
];

const versions: readonly PicoclawSettings['version'][] = ['0.2.8-doc', 'head'];

test.each(titled(rows))('$title', ({ point, object, doc, head }) => {
  for (const action of ['continue', 'modify']) {
    const said = versions.map((version) => sayReply(point, `{"action":"${action}",${object}}`, { version }));
    expect(said.map((text) => text.replace(/^deny .*/, 'deny'))).toEqual([doc, head]);
  }
});

test('a change without an action counts, with a note [PC-5-09]', () => {
  expect(sayReply('after_tool', '{"result":{"for_llm":"***"}}')).toBe(
    'modify {"content":"***"} by picoclaw.no_action',
  );
  expect(sayReply('after_tool', '{"result":{}}')).toMatch(/^deny /);
});

test('at head a request without messages denies where there was no system prompt [PC-6-11]', () => {
  const question = {
    ...ask('before_llm'),
    payload: { ...ask('before_llm').payload, messages: [{ role: 'user', content: 'a' }] },
  };
  const { output } = picoclaw.decode(
    seatOf({ version: 'head' }),
    question,
    answered('{"action":"modify","request":{"model":"m"}}'),
  );
  expect(say(output)).toBe('deny "hook "gate" left no messages"');
});

test('undone changes and those without effect cause warnings [PC-1-05 PC-6-10]', () => {
  const request =
    '{"model":"m","messages":[],"tools":[{"function":{"name":"t"}}],"options":{"top_p":1,"constructor":1}}';
  const { notes } = picoclaw.decode(
    seatOf({ version: 'head' }),
    ask('before_llm'),
    answered(`{"action":"modify","request":${request}}`),
  );
  expect(notes.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'warn it changed system messages, so its changes to messages are undone',
    'warn its changes to `tools` are undone',
    'warn its `request.options.top_p` has no effect here',
    'warn its `request.options.constructor` has no effect here',
  ]);
});

const responds = [
  { title: 'a result', cites: 'PC-6-07', says: '"result":{"for_llm":"r"}', means: 'respond "r"' },
  {
    title: 'a hook_result',
    cites: 'PC-6-07',
    says: '"call":{"hook_result":{"for_llm":"h"}}',
    means: 'respond "h"',
  },
  {
    title: 'a hook_result in other letters',
    cites: 'PC-6-07 PC-6-45',
    says: '"call":{"Hook_Result":{"For_LLM":"h"}}',
    means: 'respond "h"',
  },
  {
    title: 'both: the result',
    cites: 'PC-6-07',
    says: '"call":{"hook_result":{"for_llm":"h"}},"result":{"for_llm":"r"}',
    means: 'respond "r"',
  },
  ...[
    '',
    '"result":null',
    '"result":"r"',
    '"result":{}',
    '"result":{"for_llm":1}',
    '"result":{"for_llm":"r","is_error":"no"}',
    '"call":{}',
  ].map((says) => ({ title: `{${says}}: denies`, cites: 'PC-5-12 PC-6-17', says, means: 'deny' })),
];

test.each(titled(responds))('respond with $title', ({ says, means }) => {
  const text = `{"action":"respond"${says === '' ? '' : `,${says}`}}`;
  expect(sayReply('before_tool', text).replace(/^deny "hook .*/, 'deny')).toBe(means);
});

test('a respond reports all its other members [PC-6-17 PC-6-18]', () => {
  const result =
    '{"for_llm":"r","for_user":"u","is_error":true,"response_handled":true,"artifact_tags":["t"]}';
  const answer = answerTo('before_tool', answered(`{"action":"respond","message":"m","result":${result}}`));
  expect(answer).toEqual({
    verdict: 'respond',
    result: new Json('"r"'),
    reason: 'm',
    metadata: new Json(
      '{"picoclaw":{"message":"m","is_error":true,"for_user":"u","response_handled":true,"artifact_tags":["t"]}}',
    ),
    isError: true,
    handled: 'u',
  });
});

test.each([
  ['"for_user":"u"', undefined],
  ['"for_user":"u","response_handled":false', undefined],
  ['"for_user":5,"response_handled":true', ''],
  ['"response_handled":true', ''],
  ['"for_user":"u","silent":false,"response_handled":true', 'u'],
  ['"for_user":"u","silent":true,"response_handled":true', ''],
  ['"for_user":"u","silent":true', undefined],
  ['"for_user":"u","media":[],"response_handled":true', 'u'],
  ['"for_user":"u","media":null,"response_handled":true', 'u'],
  ['"for_user":"u","media":["media://1"],"response_handled":true', undefined],
])('of {"for_llm":"r",%s} the person receives: %s [PC-6-18]', (more, handled) => {
  const says = `{"action":"respond","result":{"for_llm":"r","x":1,${more}}}`;
  const answer = answerTo('before_tool', answered(says));
  expect(answer).toStrictEqual({
    verdict: 'respond',
    result: new Json('"r"'),
    reason: '',
    metadata: new Json(`{"picoclaw":{${more}}}`),
    ...(handled !== undefined && { handled }),
  });
});

test('the next hook sees the previous one’s changes, and the rest unchanged [PC-6-02]', () => {
  const next = (point: string, says: string) => {
    const { payload } = ask(point);
    const carried = picoclaw.nextPayload(ask(point), answerTo(point, answered(says)));
    const changed = Object.entries(carried).filter(
      ([key, value]) => Json.from(value).text !== Json.from(payload[key]).text,
    );
    return Json.from(Object.fromEntries(changed)).value;
  };
  expect(
    next('before_tool', '{"action":"modify","call":{"tool":"b","arguments":{"c":2},"meta":{}}}'),
  ).toEqual({
    tool: 'b',
    arguments: { c: 2 },
  });
  expect(
    next('after_tool', '{"action":"modify","result":{"duration":9,"result":{"for_llm":"x","for_user":"y"}}}'),
  ).toEqual({
    result: {
      for_llm: 'x',
      for_user: 'y',
      silent: false,
      is_error: false,
      async: false,
      media: [],
      artifact_tags: [],
      response_handled: false,
    },
  });
  expect(
    next(
      'before_llm',
      '{"action":"modify","request":{"model":"z","messages":[{"role":"user","content":"a"}]}}',
    ),
  ).toEqual({
    model: 'z',
    messages: [{ role: 'user', content: 'a' }],
  });
  expect(next('before_tool', '{"action":"continue"}')).toEqual({});
});

test.each(['{}', '{"model":""}', '{"messages":[]}'])('at head %s leaves no model [PC-6-11]', (request) => {
  const says = `{"action":"modify","request":${request}}`;
  expect(sayReply('before_llm', says, { version: 'head' })).toBe('deny "hook "gate" left no model"');
});

test('an unusable answer denies with its fault [PC-6-15]', () => {
  const says = answered('{"action":"modify","result":5}');
  expect(answerTo('after_tool', says)).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED' } });
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const nested = answered(`{"action":"modify","request":{"messages":${deep}}}`);
  expect(answerTo('before_llm', nested, { version: 'head', onFailure: 'deny' })).toMatchObject({
    verdict: 'deny',
    error: { code: 'REPLY_MALFORMED' },
  });
});

test('of a changed result the members beside its text are recorded [PC-6-14]', () => {
  const metadataOf = (result: string) =>
    answerTo('after_tool', answered(`{"action":"modify","result":${result}}`)).metadata.text;
  expect([metadataOf('{"for_llm":"r"}'), metadataOf('{"for_llm":"r","silent":true,"x":1}')]).toEqual([
    '{}',
    '{"picoclaw":{"result":{"silent":true}}}',
  ]);
});

test('an empty list of messages denies in the page’s version too [PC-1-04]', () => {
  expect(sayReply('before_llm', '{"action":"modify","request":{"messages":[]}}')).toBe(
    'deny "hook "gate" left no messages"',
  );
});

const lead = (content: string) => `{"role":"user","content":"Hi"},{"role":"system","content":${content}}`;
const system = '{"role":"system","content":"Be kind."}';

test.each([
  { title: 'moved', messages: lead('"Be kind."') },
  { title: 'added', messages: `${system},${lead('"More."')}` },
  {
    title: 'given a number with other last digits',
    messages: `{"role":"system","content":"Be kind.","n":${big}}`,
  },
])('at head a system message that is $title restores all messages [PC-1-05]', ({ messages }) => {
  const { payload } = ask('before_llm');
  const numbered = new Json(`[{"role":"system","content":"Be kind.","n":12345678901234567891}]`);
  const sent = messages.includes('"n"') ? { ...payload, messages: numbered } : payload;
  const says = `{"action":"modify","request":{"model":"m","messages":[${messages}]}}`;
  const question = { ...ask('before_llm'), payload: sent };
  const { output } = picoclaw.decode(seatOf({ version: 'head' }), question, answered(says));
  expect(say(output)).toBe('modify {"model":"m","options":{}}');
});

test('a failed start names its stage [PC-3-08]', () => {
  const error = new RuntimeError('PROCESS_START', 'no such file');
  expect(say(answerTo('before_tool', error))).toBe('deny "hook "gate" could not be started: no such file"');
});

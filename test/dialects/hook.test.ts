import { expect, test } from 'vitest';
import { readEvent } from '../../src/calls/hooks/event-input.ts';
import { callHook } from '../calls/capability/asking.ts';
import { answering, openBench } from '../calls/capability/bench.ts';
import { onTransports } from '../cite.ts';
import { rowsOf } from '../table.ts';
import { answered, decodeHook, printed, sayHook } from './verdicts.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly says: string;
  readonly means: string;
}

const noVerdict = 'deny REPLY_MALFORMED';
const exact = '{ "n" : 12345678901234567890,"p":[1.10, 1e2],\t"é":"\\u00e9\\/" }';

const rows: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | says | means
  an allow allows | PK-6-21@both | {"allow": true} | allow "" {}
  reason and metadata travel with an allow | PK-6-21@both | {"metadata": {"a": 1}, "reason": "fine", "allow": true} | allow "fine" {"a": 1}
  metadata keeps its bytes | PK-3-20@both | {"allow": true, "metadata": ${exact}} | allow "" ${exact}
  a fitting replace modifies | PK-6-22@both | {"allow": true, "reason": "masked", "metadata": {"a": 1}, "replace": {"args": {}}} | modify {"args": {}} "masked" {"a": 1}
  replace keeps its bytes | PK-3-21@both | {"allow": true, "replace": {"args" : ${exact}}} | modify {"args" : ${exact}} "" {}
  an allow that enforces denies | PK-6-24@both | {"allow": true, "enforced": true} | ${noVerdict}
  a modify that enforces denies | PK-6-24@both | {"allow": true, "enforced": true, "replace": {"args": {}}} | ${noVerdict}
  an allow that does not enforce allows | PK-6-24@both | {"allow": true, "enforced": false} | allow "" {}
  companions of an allow that are null are absent | PK-6-25@both | {"allow": true, "reason": null, "enforced": null, "metadata": null} | allow "" {}
  a denial has its reason and metadata | PK-6-26@both | {"allow": false, "reason": "not today", "metadata": {"rule": "weekday"}} | deny "not today" {"rule": "weekday"}
  wrong companions of a denial are dropped | PK-6-28@both | {"allow": false, "reason": 1, "enforced": "true", "metadata": []} | deny "" {}
  each wrong companion goes alone | PK-6-28@both | {"allow": false, "reason": [], "enforced": true, "metadata": {"a": 1}} | deny enforced "" {"a": 1}
  the replace of a denial is ignored | PK-6-28@both | {"allow": false, "reason": "no", "replace": {"args": {}}} | deny "no" {}
  a denial may enforce | PK-6-29@both | {"allow": false, "enforced": true, "reason": "unsafe"} | deny enforced "unsafe" {}
  a verdict in other letters decides nothing | PK-3-09@both | {"ALLOW": true} | ${noVerdict}
  unknown keys beside a verdict are ignored | PK-3-10@both | {"ack": true, "allow": true, "took_ms": 3} | allow "" {}
  of a reason that stands twice the last is taken | PK-3-12@both | {"allow": false, "reason": "a", "reason": "b"} | deny "b" {}
  a denial beside Allow is in doubt, and denies | PK-3-14@both | {"allow": false, "Allow": true} | ${noVerdict}
  a replace beside a question is ignored | DS-ASK-01@both | {"allow": false, "ask": true, "reason": "why", "replace": {"args": {}}} | ask "why" {}
  a question that enforces denies | DS-ASK-01@both | {"allow": false, "ask": true, "enforced": true, "reason": "no"} | deny enforced "no" {}
  a question alone is no verdict | DS-ASK-01@both | {"ask": true} | ${noVerdict}
  a pending is no verdict | PK-8-02@both | {"pending": {"reason": "requires_approval"}} | ${noVerdict}
`,
  ...[
    'null',
    '{}',
    '[]',
    'true',
    'false',
    '""',
    '"args"',
    '{"args": null}',
    '{"args": []}',
    '{"args": "{}"}',
    '[{"args": {}}]',
  ].map((replace) => ({
    title: `the replace ${replace} denies`,
    cites: 'PK-6-23@both',
    says: `{"allow": true, "replace": ${replace}}`,
    means: noVerdict,
  })),
  ...[
    '"reason": 1',
    '"reason": {}',
    '"enforced": "false"',
    '"enforced": 0',
    '"metadata": []',
    '"metadata": "a"',
    '"metadata": 0',
  ].map((companion) => ({
    title: `an allow beside ${companion} denies`,
    cites: 'PK-6-25@both',
    says: `{"allow": true, ${companion}}`,
    means: noVerdict,
  })),
  ...['null', '"true"', '"false"', '1', '0', '[true]', '{}', '"yes"'].map((allow) => ({
    title: `the verdict ${allow} is none`,
    cites: 'PK-6-30@both',
    says: `{"allow": ${allow}}`,
    means: noVerdict,
  })),
  ...[
    '{}',
    '{"ack": true}',
    '{"reason": "fine"}',
    '{"result": {"allow": true}}',
    '{"Allow": true}',
    '{"allow ": true}',
  ].map((says) => ({
    title: `${says} has no verdict`,
    cites: 'PK-6-30@both',
    says,
    means: noVerdict,
  })),
  ...[
    'true, "allow": true',
    'true, "allow": false',
    'false, "allow": true',
    'false, "\\u0061llow": true',
    'null, "allow": true',
  ].map((twice) => ({
    title: `the verdict ${twice} stands twice`,
    cites: 'PK-3-13@both',
    says: `{"allow": ${twice}}`,
    means: noVerdict,
  })),
  ...['"Allow": true', '"ALLOW": false', '"aLLow": null', '"\\u0041llow": true'].map((cased) => ({
    title: `a verdict beside ${cased} is in doubt`,
    cites: 'PK-3-14@both',
    says: `{"allow": true, ${cased}}`,
    means: noVerdict,
  })),
  {
    title: 'a denial that asks leaves it to a person',
    cites: 'DS-ASK-01@both',
    says: '{"allow": false, "ask": true, "reason": "a large sum", "metadata": {"limit": 1.0}}',
    means: 'ask "a large sum" {"limit": 1.0}',
  },
  ...['false', 'null', '"true"', '1', '[]', '{}'].map((ask) => ({
    title: `a denial with the question ${ask} denies`,
    cites: 'DS-ASK-01@both',
    says: `{"allow": false, "ask": ${ask}, "reason": "no"}`,
    means: 'deny "no" {}',
  })),
  ...['true, "ask": true', 'true, "ask": false', 'true, "Ask": true', 'false, "ask": true'].map((twice) => ({
    title: `a denial with the question ${twice} denies`,
    cites: 'DS-ASK-01@both',
    says: `{"allow": false, "ask": ${twice}, "reason": "no"}`,
    means: 'deny "no" {}',
  })),
  ...['true', 'false', '"true"', '1'].map((ask) => ({
    title: `an allow with the question ${ask} is in doubt`,
    cites: 'DS-ASK-01@both',
    says: `{"allow": true, "ask": ${ask}}`,
    means: noVerdict,
  })),
];

test.each(onTransports(rows))('filter: $title', async ({ on, says, means }) => {
  const reply = on === 'oneshot' ? printed(says) : answered(says);
  expect(sayHook(decodeHook(reply))).toBe(means);
  const answer = await callHook(openBench(), answering(on, says));
  expect(sayHook(answer)).toBe(means.replace(/^(deny(?: enforced)?) ""/, '$1 "hook \\"entry\\" denied"'));
});

const unnamed = [
  {
    title: 'a denial without a reason says who denied',
    cites: 'PK-6-27@both',
    says: '{"allow": false}',
    reason: 'hook "entry" denied',
  },
  {
    title: 'so does one whose reason is empty',
    cites: 'PK-6-27@both',
    says: '{"allow": false, "reason": ""}',
    reason: 'hook "entry" denied',
  },
  {
    title: 'what is no verdict says who gave none',
    cites: 'PK-6-30@both',
    says: '{"ack": true}',
    reason: expect.stringMatching(/^hook "entry" gave no verdict: ./),
  },
];

test.each(onTransports(unnamed))('$title', async ({ on, says, reason }) => {
  expect(await callHook(openBench(), answering(on, says))).toMatchObject({ verdict: 'deny', reason });
});

const warned = [
  {
    title: 'a denial warns of each companion that it drops',
    cites: 'PK-6-28@both',
    says: '{"allow": false, "reason": 1, "enforced": "x", "metadata": [], "replace": {}}',
    warnings: ['reason', 'enforced', 'metadata', 'replace'],
  },
  {
    title: 'a denial without any warns of nothing',
    cites: 'PK-6-26@both',
    says: '{"allow": false, "reason": null, "enforced": null, "metadata": null}',
    warnings: [],
  },
];

test.each(onTransports(warned))('$title', async ({ on, says, warnings }) => {
  const bench = openBench();
  await callHook(bench, answering(on, says));
  const notes = bench.events.flatMap((event) => (event.type === 'note' ? [event] : []));
  expect(notes.map(({ level, message }) => `${level} ${/`(\w+)`/.exec(message)?.[1]}`)).toEqual(
    warnings.map((key) => `warn ${key}`),
  );
});

const questions = onTransports([
  {
    title: 'before_call',
    cites: 'DS-ASK-01@both',
    at: { hook: 'provider', phase: 'before_call', request: {} },
  },
  {
    title: 'after_call',
    cites: 'DS-ASK-01@both',
    at: { hook: 'provider', phase: 'after_call', request: {}, response: { message: { content: 'a' } } },
  },
  {
    title: 'after_execution',
    cites: 'DS-ASK-01@both',
    at: { hook: 'tool', phase: 'after_execution', request: { name: 'w' }, response: {} },
  },
] as const);

test.each(questions)('a question at $title denies, and says that it has no meaning', async ({ on, at }) => {
  const bench = openBench();
  const says = '{"allow": false, "ask": true, "reason": "a large sum"}';
  expect(sayHook(await callHook(bench, answering(on, says), readEvent(at)))).toBe('deny "a large sum" {}');
  expect(bench.events).toContainEqual(
    expect.objectContaining({ type: 'note', level: 'warn', message: expect.stringContaining('`ask`') }),
  );
});

const user = '{"role":"user","content":"hi"}';
const assistant = '{"role":"assistant","content":"hi"}';

/** Every phase with valid and invalid replacements. */
const shapes = [
  {
    phase: 'before_call',
    cites: 'PK-6-22@both PK-6-40@both',
    event: readEvent({
      hook: 'provider',
      phase: 'before_call',
      request: { messages: [{ role: 'user', content: 'a' }] },
    }),
    fits: [
      `{"messages":[${user}]}`,
      '{"messages":[]}',
      '{"system_prompt":""}',
      `{"system_prompt":"s","messages":[${user},${assistant},{"role":"tool","content":"","x":1},{"role":"system","content":""}]}`,
      '{"messages":[{"role":"user","content":"hi","parts":null,"tool_calls":[]}]}',
      '{"messages":[{"role":"user","content":"hi","parts":[{"type":"image"},{"type":"text","text":"hi"}]}]}',
    ],
  },
  {
    phase: 'after_call',
    cites: 'PK-6-22@both PK-6-41@both',
    event: readEvent({
      hook: 'provider',
      phase: 'after_call',
      request: {},
      response: { message: { content: 'a' } },
    }),
    fits: [`{"message":${assistant}}`, '{"message":{"role":"assistant","content":"","tool_calls":[]}}'],
  },
  {
    phase: 'before_execution',
    cites: 'PK-6-22@both PK-6-42@both',
    event: readEvent({ hook: 'tool', phase: 'before_execution', request: { name: 'w' } }),
    fits: ['{"args":{}}', '{"args":{"args":null}}'],
  },
  {
    phase: 'after_execution',
    cites: 'PK-6-22@both PK-6-44@both',
    event: readEvent({ hook: 'tool', phase: 'after_execution', request: { name: 'w' }, response: {} }),
    fits: ['{"content":""}', '{"content":"{\\"a\\":1}"}'],
  },
];

const fitting = shapes.flatMap(({ phase, cites, event, fits }) =>
  onTransports([{ title: phase, cites }]).flatMap((row) =>
    fits.map((replace) => ({ ...row, event, replace })),
  ),
);

test.each(fitting)('replace $replace fits $title', async ({ on, event, replace }) => {
  const says = `{"allow": true, "replace": ${replace}}`;
  expect(sayHook(decodeHook(printed(says), event))).toBe(`modify ${replace} "" {}`);
  const answer = await callHook(openBench(), answering(on, says), event);
  expect(sayHook(answer)).toBe(`modify ${replace} "" {}`);
});

const misfits: Readonly<Record<string, readonly string[]>> = {
  before_call: [
    '{"messages":{}}',
    '{"messages":null}',
    '{"messages":"hi"}',
    '{"messages":["hi"]}',
    '{"messages":[null]}',
    '{"messages":[{"role":"user"}]}',
    '{"messages":[{"role":"user","content":null}]}',
    '{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
    '{"messages":[{"role":"developer","content":"hi"}]}',
    '{"messages":[{"content":"hi"}]}',
    `{"messages":[${user},{"Role":"user","Content":"hi"}]}`,
    '{"messages":[{"role":"user","content":"hi","parts":"hi"}]}',
    '{"messages":[{"role":"user","content":"hi","parts":["hi"]}]}',
    '{"messages":[{"role":"user","content":"hi","parts":[{"type":"text","text":["hi"]}]}]}',
    '{"messages":[{"role":"tool","content":"hi","tool_result":{"parts":{}}}]}',
    '{"system_prompt":null}',
    '{"system_prompt":["s"]}',
    `{"messages":[${user}],"system_prompt":1}`,
    `{"message":${assistant}}`,
  ],
  after_call: [
    `{"message":${user}}`,
    '{"message":{"role":"assistant"}}',
    '{"message":"hi"}',
    '{"message":null}',
    `{"message":[${assistant}]}`,
    `{"messages":[${assistant}]}`,
    '{"content":"hi"}',
  ],
  before_execution: ['{"args":[]}', '{"args":null}', '{"args":"{}"}', '{"arguments":{}}', '{"content":"hi"}'],
  after_execution: ['{"content":1}', '{"content":null}', '{"content":{}}', '{"args":{}}', '{"result":1}'],
};

const misfitting = shapes.flatMap(({ phase, event }) =>
  onTransports([{ title: phase, cites: 'PK-6-23@both' }]).flatMap((row) =>
    (misfits[phase] ?? []).map((replace) => ({ ...row, event, replace })),
  ),
);

test.each(misfitting)('replace $replace does not fit $title', async ({ on, event, replace }) => {
  const says = `{"allow": true, "replace": ${replace}}`;
  expect(sayHook(decodeHook(printed(says), event))).toBe(noVerdict);
  const answer = await callHook(openBench(), answering(on, says), event);
  expect(sayHook(answer)).toBe(noVerdict);
});

/** One unknown member of the phase beside a known one. */
const strays = shapes.flatMap(({ phase, event, fits: [fit = ''] }) =>
  onTransports([{ title: phase, cites: 'PK-6-47@both' }]).flatMap((row) =>
    ['mesages', 'Messages', 'role', 'toString', 'constructor', '__proto__', 'hasOwnProperty', ''].map(
      (key) => ({
        ...row,
        event,
        replace: `${fit.slice(0, -1)},${JSON.stringify(key)}:"hi"}`,
      }),
    ),
  ),
);

test.each(strays)('replace $replace has a key that $title does not have', async ({ on, event, replace }) => {
  const says = `{"allow": true, "replace": ${replace}}`;
  expect(sayHook(decodeHook(printed(says), event))).toBe(noVerdict);
  const answer = await callHook(openBench(), answering(on, says), event);
  expect(sayHook(answer)).toBe(noVerdict);
});

const pascal = [
  { title: 'messages', replace: '{"Messages":[{"role":"user","content":"[redacted]"}]}' },
  { title: 'the prompt', replace: '{"SystemPrompt":"[redacted]"}' },
  { title: 'a message', replace: '{"messages":[{"Role":"user","Content":"[redacted]"}]}' },
].flatMap((row) => onTransports([{ ...row, cites: 'PK-6-20@both' }]));

test.each(pascal)('a hook that reads Go’s keys may not write them: $title', async ({ on, replace }) => {
  const [{ event } = { event: readEvent({ hook: 'provider', phase: 'before_call', request: {} }) }] = shapes;
  const entry = {
    ...answering(on, `{"allow": true, "replace": ${replace}}`),
    dialect: 'promptkit-go',
  } as const;
  expect(sayHook(await callHook(openBench(), entry, event))).toBe(noVerdict);
});

const snake = onTransports([
  { title: 'an allow', cites: 'PK-6-20@both', says: '{"allow": true}', means: 'allow "" {}' },
  { title: 'a verdict in Go’s letters', cites: 'PK-6-20@both', says: '{"Allow": true}', means: noVerdict },
  {
    title: 'a modify',
    cites: 'PK-6-20@both',
    says: '{"allow": true, "replace": {"args": {"a": 1}}}',
    means: 'modify {"args": {"a": 1}} "" {}',
  },
]);

test.each(snake)('replies of the Go dialect are in snake_case: $title', async ({ on, says, means }) => {
  const entry = { ...answering(on, says), dialect: 'promptkit-go' } as const;
  expect(sayHook(await callHook(openBench(), entry))).toBe(means);
});

test('a replace has no meaning where nothing can be replaced', () => {
  const event = readEvent({ hook: 'session', phase: 'session_start', event: {} });
  expect(sayHook(decodeHook(answered('{"allow": true, "replace": {"messages": []}}'), event))).toBe(
    noVerdict,
  );
  expect(sayHook(decodeHook(answered('{"allow": true}'), event))).toBe('allow "" {}');
});

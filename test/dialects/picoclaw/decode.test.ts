import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ErrorCode, RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import type { PicoclawSettings } from '../../../src/dialects/picoclaw/config/settings.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { titled } from '../../cite.ts';
import { rowsOf } from '../../table.ts';
import { answered, answerTo, ask, say, sayReply, seatOf } from './seat.ts';

const stages = ['before_llm', 'after_llm', 'before_tool', 'after_tool'];

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly says: string;
  readonly own: string;
  readonly closed: string;
}

const failing: readonly Row[] = [
  ...['null', '{}', '{"action":""}', '{"action":null}', '{"reason":1}'].map((says) => ({
    title: `${says} has no action`,
    cites: 'PC-5-09 PC-5-10',
    says,
    own: 'allow by picoclaw.no_action',
    closed: 'deny',
  })),
  ...['[]', '"continue"', 'true', '1', '{"action":1}', '{"action":["continue"]}'].map((says) => ({
    title: `${says} has the wrong type`,
    cites: 'PC-5-07 PC-5-10',
    says,
    own: 'allow by picoclaw.bad_result',
    closed: 'deny',
  })),
  ...['"allow"', '"Continue"', '"continue "', '"deny"', '"approve"'].map((action) => ({
    title: `the action ${action} is unknown`,
    cites: 'PC-5-08 PC-5-10',
    says: `{"action":${action}}`,
    own: 'allow by picoclaw.unknown_action',
    closed: 'deny',
  })),
  ...[
    '{"allow":false}',
    '{"approved":false}',
    '{"Allow":false}',
    '{"verdict":"deny"}',
    '{"decision":"deny"}',
    '{"decision":{"action":"deny_tool"}}',
    '{"decision":{"action":"abort_turn"}}',
    '{"decision":{"action":"hard_abort"}}',
    '{"Action":"deny_tool"}',
    '{"allow":false,"allow":true}',
    '{"action":"block","allow":false}',
  ].map((says) => ({
    title: `${says} is a denial in foreign words`,
    cites: 'PC-10-02',
    says,
    own: 'deny',
    closed: 'deny',
  })),
  ...[
    '{"action":"continue","action":"continue"}',
    '{"action":"deny_tool","Action":"continue"}',
    '{"action":"continue","\\u0061ction":"deny_tool"}',
    '{"action":"continue","approved":true,"approved":true}',
  ].map((says) => ({
    title: `${says} gives its verdict twice`,
    cites: 'PC-4-04',
    says,
    own: 'deny',
    closed: 'deny',
  })),
  ...['{"allow":true}', '{"approved":true}', '{"args":{}}', '{"decision":{"action":"continue"}}'].map(
    (says) => ({
      title: `${says} is no permission`,
      cites: 'PC-10-01 PC-10-03',
      says,
      own: 'allow by picoclaw.no_action',
      closed: 'deny',
    }),
  ),
];

const withoutReason = (said: string) => said.replace(/ ".*"/, '');

test.each(titled(failing))('$title', ({ says, own, closed }) => {
  for (const point of stages) {
    expect(withoutReason(sayReply(point, says))).toBe(own);
    expect(withoutReason(sayReply(point, says, { onFailure: 'deny' }))).toBe(closed);
    expect(withoutReason(sayReply(point, says, { version: 'head' }))).toBe(own);
  }
});

const lacking = ['before_llm', 'after_llm', 'after_tool'].flatMap((point) =>
  ['deny_tool', 'respond'].map((action) => ({
    title: `${point} has no ${action}`,
    cites: 'PC-5-08',
    point,
    action,
  })),
);

test.each(titled(lacking))('$title', ({ point, action }) => {
  const says = `{"action":"${action}"}`;
  expect(withoutReason(sayReply(point, says))).toBe('allow by picoclaw.unknown_action');
  expect(withoutReason(sayReply(point, says, { onFailure: 'deny' }))).toBe('deny');
});

const verdicts = stages.flatMap((point) => [
  { title: `${point} continues`, cites: 'PC-6-03', point, says: '{"action":"continue"}', means: 'allow' },
  {
    title: `${point} modifies nothing`,
    cites: 'PC-6-03',
    point,
    says: '{"action":"modify","reason":"ok"}',
    means: 'allow "ok"',
  },
  {
    title: `${point} ends the turn`,
    cites: 'PC-6-05',
    point,
    says: '{"action":"abort_turn","reason":"enough","message":"m"}',
    means: 'abort turn "enough"',
  },
  {
    title: `${point} ends the session without a word`,
    cites: 'PC-6-06',
    point,
    says: '{"action":"hard_abort"}',
    means: 'abort session "hook "gate" ended the session"',
  },
  {
    title: `${point} ends the session`,
    cites: 'PC-6-06 PC-6-08',
    point,
    says: '{"action":"hard_abort","message":"stop it"}',
    means: 'abort session "stop it"',
  },
]);

test.each(titled(verdicts))('$title', ({ point, says, means }) => {
  expect(sayReply(point, says)).toBe(means);
});

test.each(
  titled([
    {
      title: 'its reason',
      cites: 'PC-6-04',
      says: '{"action":"deny_tool","reason":"no","message":"m"}',
      means: 'deny "no"',
    },
    {
      title: 'its message',
      cites: 'PC-6-08',
      says: '{"action":"deny_tool","message":"m"}',
      means: 'deny "m"',
    },
    {
      title: 'its message beside an empty reason',
      cites: 'PC-6-08',
      says: '{"action":"deny_tool","reason":"","message":"m"}',
      means: 'deny "m"',
    },
    {
      title: 'its reason in other letters',
      cites: 'PC-6-45',
      says: '{"action":"deny_tool","Reason":"no"}',
      means: 'deny "no"',
    },
    {
      title: 'its message in other letters',
      cites: 'PC-6-45',
      says: '{"action":"deny_tool","MESSAGE":"m"}',
      means: 'deny "m"',
    },
    {
      title: 'a stock text',
      cites: 'PC-6-08',
      says: '{"action":"deny_tool","reason":1}',
      means: 'deny "hook "gate" denied the call"',
    },
  ]),
)('before_tool denies with $title', ({ says, means }) => {
  expect(sayReply('before_tool', says)).toBe(means);
});

test('reason and message are kept [PC-6-08]', () => {
  const { metadata } = answerTo('before_tool', answered('{"action":"deny_tool","reason":"r","message":"m"}'));
  expect(metadata.value).toEqual({ picoclaw: { reason: 'r', message: 'm' } });
});

interface Fault {
  readonly title: string;
  readonly cites: string;
  readonly code: ErrorCode;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly means: string;
}

const faults: readonly Fault[] = [
  ...rowsOf<Fault>`
  title | cites | code | details | means
  a timeout | PC-5-04 | PROCESS_TIMEOUT |  | allow by picoclaw.timeout
  its death | PC-5-06 | SERVER_EXIT |  | allow by picoclaw.dead
  too long a line | PC-5-07 | OUTPUT_LIMIT |  | allow by picoclaw.bad_result
  an id that is text | PC-5-07 | REPLY_MALFORMED | ${{ problem: 'id' }} | allow by picoclaw.bad_result
  neither result nor error | PC-5-09 | REPLY_MALFORMED | ${{ problem: 'no_result' }} | allow by picoclaw.no_action
  an error of another type | PC-4-05 | REPLY_MALFORMED | ${{ problem: 'error_type' }} | allow by picoclaw.rpc_error
  text that is no UTF-8, or two results | PC-5-15 | REPLY_MALFORMED |  | deny
  a failed start | PC-3-08 | PROCESS_START |  | deny
  an open circuit | PC-3-08 | SERVER_CIRCUIT_OPEN |  | deny
  a full pipe | PC-5-15 | SERVER_BUSY |  | deny
  a limit of ours | DS-LIM-08 | LIMIT_EXCEEDED |  | deny
  a timeout at a stage of another name | PC-5-04 | PROCESS_TIMEOUT | ${{ stage: 'answer' }} | allow by picoclaw.timeout
`,
  ...(['SERVER_EXIT', 'REPLY_MALFORMED', 'PROCESS_TIMEOUT', 'OUTPUT_LIMIT'] as const).flatMap((code) =>
    ['start', 'hello'].map((stage) => ({
      title: `${code} at the ${stage}`,
      cites: 'PC-3-08',
      code,
      details: { stage, problem: 'no_result' },
      means: 'deny',
    })),
  ),
];

test.each(titled(faults))('$title', ({ code, details = {}, means }) => {
  const error = new RuntimeError(code, 'it failed', { details });
  for (const point of stages) {
    expect(withoutReason(say(answerTo(point, error)))).toBe(means);
    expect(answerTo(point, error, { onFailure: 'deny' })).toMatchObject({ verdict: 'deny', error: { code } });
  }
  expect(answerTo('approve_tool', error)).toMatchObject({ verdict: 'deny', error: { code } });
});

test('an error reply lets pass [PC-5-05 PC-4-05]', () => {
  const error = { via: 'rpc', error: new Json('{"code":-32601,"message":"no such method"}') } as const;
  expect(say(answerTo('before_tool', error))).toBe('allow by picoclaw.rpc_error');
  expect(say(answerTo('before_tool', error, { onFailure: 'deny' }))).toBe(
    'deny "hook "gate" answered with the error "no such method""',
  );
});

test('a method that only its pair enabled may be missing [PC-2-06]', () => {
  const named: PicoclawSettings['intercept'] = ['before_tool'];
  const silent = new RuntimeError('PROCESS_TIMEOUT', 'late');
  const error = { via: 'rpc', error: new Json('{"code":1}') } as const;
  for (const reply of [silent, error]) {
    const answer = answerTo('after_tool', reply, { intercept: named, onFailure: 'deny' });
    expect([say(answer), answer.metadata.value]).toEqual([
      'allow',
      { picoclaw: { not_implemented: 'after_tool' } },
    ]);
    expect(withoutReason(say(answerTo('before_tool', reply, { intercept: named, onFailure: 'deny' })))).toBe(
      'deny',
    );
  }
  const dead = new RuntimeError('SERVER_EXIT', 'gone');
  expect(withoutReason(say(answerTo('after_tool', dead, { intercept: named, onFailure: 'deny' })))).toBe(
    'deny',
  );
});

test.each([
  ['{"approved":true}', 'allow'],
  ['{"approved":true,"reason":"fine"}', 'allow "fine"'],
  ['{"approved":true,"Message":"fine"}', 'allow "fine"'],
  ['{"approved":false,"reason":"no"}', 'deny "no"'],
  ['{"approved":false}', 'deny "hook "gate" did not approve the call"'],
])('the approval %s is %s [PC-5-13]', (says, means) => {
  expect(sayReply('approve_tool', says)).toBe(means);
});

test.each([
  'null',
  '{}',
  '[]',
  'true',
  '{"approved":"true"}',
  '{"approved":1}',
  '{"approved":null}',
  '{"Approved":true}',
  '{"allow":true}',
  '{"action":"continue"}',
  '{"approved":true,"approved":true}',
  '{"approved":true,"Approved":false}',
  '{"approved":true,"allow":false}',
  '{"approved":true,"action":"deny_tool"}',
  '{"approved":true,"reason":7}',
  '{"approved":true,"Reason":{}}',
  '{"Approved":true}',
])('%s does not approve [PC-5-13 PC-10-01 PC-4-04]', (says) => {
  expect(sayReply('approve_tool', says)).toMatch(/^deny "hook "gate" /);
});

test('a reply in the words of the documentation site causes a warning with the right key [PC-10-03]', () => {
  const warnings = (point: string, says: string) =>
    picoclaw
      .decode(seatOf(), ask(point), answered(says))
      .notes.filter(({ message }) => message.includes('documentation site'))
      .map(({ message }) => message.split('right key is ')[1]);
  expect(warnings('approve_tool', '{"allow":true}')).toEqual(['`approved`']);
  expect(warnings('before_tool', '{"args":{}}')).toEqual(['`action`']);
  expect(warnings('before_tool', '{"action":"continue"}')).toEqual([]);
});

test('output of a process is no answer', () => {
  const printed = {
    via: 'process',
    exitCode: 0,
    signal: null,
    stdout: Buffer.from('{"action":"continue"}'),
    stderr: '',
  } as const;
  expect(say(answerTo('before_tool', printed))).toBe('deny "threw REPLY_MALFORMED"');
});

test('nesting deeper than recursion allows never passes silently', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const says = `{"action":"modify","request":{"messages":${deep}}}`;
  expect(withoutReason(sayReply('before_llm', says, { version: 'head' }))).toMatch(
    /^(deny|allow by picoclaw.bad_result)$/,
  );
});

const actions = ['continue', 'modify', 'respond', 'deny_tool', 'abort_turn', 'hard_abort', '', 'allow'];
const anyResult = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      action: fc.oneof(fc.constantFrom(...actions), fc.jsonValue()),
      approved: fc.oneof(fc.boolean(), fc.jsonValue()),
      allow: fc.boolean(),
      reason: fc.jsonValue(),
      request: fc.jsonValue(),
      response: fc.jsonValue(),
      call: fc.jsonValue(),
      result: fc.oneof(fc.record({ for_llm: fc.string() }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  ),
);

test('nothing passes without an explicit answer', () => {
  const points = [...stages, 'approve_tool'];
  const versions = fc.constantFrom<PicoclawSettings['version']>('0.2.8-doc', 'head');
  fc.assert(
    fc.property(fc.constantFrom(...points), anyResult, versions, (point, result, version) => {
      const answer = answerTo(point, answered(JSON.stringify(result)), { version });
      const given = Object(result) as { action?: unknown; approved?: unknown };
      const affirmed =
        point === 'approve_tool'
          ? given.approved === true
          : given.action === 'continue' || given.action === 'modify' || / by picoclaw\./.test(say(answer));
      const passes = answer.verdict === 'allow' || answer.verdict === 'modify';
      expect(passes && !affirmed).toBe(false);
    }),
    { numRuns: 500 },
  );
});

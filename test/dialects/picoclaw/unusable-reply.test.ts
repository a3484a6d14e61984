import { expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { attachUnusableLine } from '../../../src/contract/exchange.ts';
import { messageOf } from '../../../src/dialects/picoclaw/decode.ts';
import { picoclaw } from '../../../src/dialects/picoclaw/dialect.ts';
import { answered, answerTo, ask, say, sayReply, seatOf } from './seat.ts';

const deny = '{"action":"deny_tool"}';
const goOn = '{"action":"continue"}';

function answerToLine(line: string, problem = 'id') {
  const error = new RuntimeError('REPLY_MALFORMED', 'it cannot be used', { details: { problem } });
  return answerTo('before_tool', attachUnusableLine(error, Buffer.from(line)));
}

test.each([
  `{"id":"1","result":${deny}}`,
  `{"Result":${deny}}`,
  `[{"id":1,"result":${goOn}},{"id":2,"result":${deny}}]`,
  `{"result":${goOn},"RESULT":${deny}}`,
  '{"result":{"approved":false}}',
])('the denial in the unusable line %s is one, with its fault [PC-10-04@server PC-10-02]', (line) => {
  expect(answerToLine(line)).toMatchObject({ verdict: 'deny', error: { code: 'REPLY_MALFORMED' } });
});

test.each([
  [`{"id":"1","result":${goOn}}`, 'id', 'bad_result'],
  [`{"id":"1","params":${deny}}`, 'id', 'bad_result'],
  [`[{"id":1,"result":${goOn}}]`, 'batch', 'bad_result'],
  ['{"result":"deny_tool"}', 'id', 'bad_result'],
  ['{"result":null}', 'no_result', 'no_action'],
  ['{"id":1', 'id', 'bad_result'],
  ['', 'id', 'bad_result'],
])('the unusable line %s with the problem %s denies nothing: %s [PC-5-07]', (line, problem, cause) => {
  expect(say(answerToLine(line, problem))).toBe(`allow by picoclaw.${cause}`);
});

const failure = new Json('{"code":1,"message":"boom"}');
const beside = (ignoredResult: string) =>
  say(answerTo('before_tool', { via: 'rpc', error: failure, ignoredResult: new Json(ignoredResult) }));

test('beside an error only a denial counts [PC-10-04@server PC-5-05]', () => {
  expect([deny, '{"decision":{"reason":"no","action":"deny_tool"}}'].map(beside)).toEqual([
    expect.stringMatching(/^deny /),
    expect.stringMatching(/^deny /),
  ]);
  const lenient = [goOn, 'null', '[]', '"deny"', '{"action":"continue","reason":"deny_tool"}'];
  expect(lenient.map(beside)).toEqual(lenient.map(() => 'allow by picoclaw.rpc_error'));
});

test.each(['{"decision":{"reason":"no","action":"deny_tool"}}', '{"Decision":{"ACTION":"abort_turn"}}'])(
  '%s is a denial, whatever other members there are [PC-10-02]',
  (says) => {
    expect(answerTo('before_tool', answered(says)).verdict).toBe('deny');
  },
);

test.each([
  '{"verdict":"allow"}',
  '{"decision":{"reason":"deny_tool"}}',
  '{"decision":"allow"}',
  '{"decision":5}',
  '{"decision":["action","deny_tool"]}',
])('%s neither denies nor permits [PC-10-01]', (says) => {
  expect(sayReply('before_tool', says)).toBe('allow by picoclaw.no_action');
});

test('an error’s text is its message, else all of it', () => {
  const given = ['{"message":"m"}', '{"message":""}', '{"message":5}', '{"code":1}', '"m"', '{'];
  expect(given.map((text) => messageOf(new Json(text)))).toEqual(['"m"', ...given.slice(1)]);
});

test('nesting deeper than recursion allows denies with a code', () => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  expect(sayReply('before_tool', `{"action":${deep}}`)).toBe('deny "threw NESTING_TOO_DEEP"');
});

test('no reply is expected at a point without a request', () => {
  const event = { ...ask('before_tool'), point: 'event' };
  expect(() => picoclaw.decode(seatOf(), event, answered('{"approved":true}'))).toThrow(
    expect.objectContaining({ code: 'INTERNAL' }),
  );
});

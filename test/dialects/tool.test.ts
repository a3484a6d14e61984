import { expect, test } from 'vitest';
import { callTool } from '../calls/capability/asking.ts';
import { answering, openBench } from '../calls/capability/bench.ts';
import { onTransports } from '../cite.ts';
import { rowsOf } from '../table.ts';
import { answered, decodeTool, printed, sayTool } from './verdicts.ts';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly says: string;
  readonly means: string;
}

const asked = '{"reason":"requires_approval","message":"Refund 250 EUR?"}';
const said = '["requires_approval","Refund 250 EUR?"]';
const asks = 'Tool \\"refund\\" asks for a decision.';
const refused = 'failed REPLY_MALFORMED';

const oneshot: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | says | means
  an error is the tool’s own words | PK-4-09@oneshot | {"error": "city not found"} | failed TOOL_ERROR city not found
  an error wins over a result | PK-4-09@oneshot | {"result": 1, "error": "city not found"} | failed TOOL_ERROR city not found
  an error wins over a pending, also a broken one | PK-4-09@oneshot | {"error": "city not found", "pending": [], "result": 1} | failed TOOL_ERROR city not found
  a blank error is an error | PK-4-09@oneshot | {"error": " ", "result": 1} | ${'failed TOOL_ERROR  '}
  an empty error is none | PK-4-10@oneshot | {"error": "", "result": 1} | ok 1
  a null error is none | PK-4-10@oneshot | {"error": null, "result": 1} | ok 1
  an empty error beside a pending is none | PK-4-10@oneshot | {"error": "", "pending": ${asked}} | pending ${said} ${asked}
  a null pending is none | PK-4-11@oneshot | {"pending": null, "result": 1} | ok 1
  of a result that stands twice the last is taken | PK-3-12@oneshot | {"result": 1, "result": {"a": 1, "a": 2}} | ok {"a": 1, "a": 2}
  of an error that stands twice the last is taken | PK-3-12@oneshot | {"error": "no", "error": "", "result": 1} | ok 1
  keys in other letters decide nothing | PK-3-09@oneshot | {"ERROR": "no", "Pending": {}, "result": 1} | ok 1
  keys in other letters alone decide nothing | PK-3-09@oneshot | {"ERROR": "no", "Pending": {}, "Result": 1} | ${refused}
  unknown keys beside a result are ignored | PK-3-10@oneshot | {"status": "ok", "result": 1, "took_ms": 3} | ok 1
  keys may be spelt with escapes | PK-4-18@oneshot | ${'{"\\u0072esult": 1}'} | ok 1
`,
  ...['{"code": 4}', '["no"]', '4', '0', 'true', 'false', '{}', '[]'].map((error) => ({
    title: `an error that is ${error} is no error`,
    cites: 'PK-4-12@oneshot',
    says: `{"error": ${error}, "result": 1}`,
    means: refused,
  })),
  ...['1', 'null', '""'].map((result) => ({
    title: `a pending beside the result ${result} is refused`,
    cites: 'PK-4-13@oneshot',
    says: `{"pending": ${asked}, "result": ${result}}`,
    means: refused,
  })),
  ...['true', 'false', '"yes"', '0', '[]', '[{}]'].map((pending) => ({
    title: `a pending that is ${pending} is refused`,
    cites: 'PK-4-14@oneshot',
    says: `{"pending": ${pending}}`,
    means: refused,
  })),
  ...['{"status": "ok"}', '{}', '{"error": ""}', '{"error": null, "pending": null}', '{"Result": 1}'].map(
    (says) => ({
      title: `${says} says nothing`,
      cites: 'PK-4-19@oneshot',
      says,
      means: refused,
    }),
  ),
];

/** A one-shot tool prints these as a member; a server returns them as its result. */
const results = ['null', 'false', '0', '""', '{}', '[]', '"text"', '{"result": 1}', '{"error": "data"}'];
const exact = '{ "z" : 12345678901234567890,"a":[1.10, 1.0,1e2,-0],\t"é":"\\u00e9\\/\\ud83d\\ude00<&>" }';

const both: readonly (Row & { readonly member: 'result' | 'pending' })[] = [
  ...rowsOf<Row & { readonly member: 'result' | 'pending' }>`
  title | cites | member | says | means
  a result keeps its bytes | PK-3-18@both | result | ${exact} | ok ${exact}
  a pending asks | PK-4-16@both | pending | ${asked} | pending ${said} ${asked}
  an empty pending asks in our words | PK-4-16@both PK-8-01@both | pending | {} | pending ["","${asks}"] {}
  a pending without a message has a reason | PK-8-01@both | pending | {"reason": "why"} | pending ["why","${asks}"] {"reason": "why"}
`,
  ...results.map((result) => ({
    title: `the result ${result} is ok`,
    cites: 'PK-4-18@both',
    member: 'result' as const,
    says: result,
    means: `ok ${result}`,
  })),
  {
    title: 'further members of a pending are kept, with their bytes',
    cites: 'PK-4-17@both PK-3-22@both',
    member: 'pending',
    says: '{"reason":"r", "message":"m", "ticket":12345678901234567890, "due":[1.10]}',
    means: 'pending ["r","m"] {"reason":"r", "message":"m", "ticket":12345678901234567890, "due":[1.10]}',
  },
  ...['{"reason": 1}', '{"reason": null}', '{"message": {}}', '{"message": null, "reason": "r"}'].map(
    (says) => ({
      title: `the pending ${says} is refused`,
      cites: 'PK-4-15@both',
      member: 'pending' as const,
      says,
      means: refused,
    }),
  ),
];

const server: readonly Row[] = [
  ...rowsOf<Row>`
  title | cites | says | means
  a lone pending object asks | PK-5-33@server | { "pending" : ${asked} } | pending ${said} ${asked}
  keys in other letters are data | PK-3-09@server PK-5-04@server | {"Result": 1, "ERROR": "no"} | ok {"Result": 1, "ERROR": "no"}
  unknown keys are data | PK-3-10@server | {"status": "ok"} | ok {"status": "ok"}
  a key that stands twice stays as it came | PK-3-12@server | {"a": 1, "a": 2} | ok {"a": 1, "a": 2}
`,
  ...[
    '{"pending": null}',
    '{"pending": true}',
    '{"pending": []}',
    `{"pending": ${asked}, "result": null}`,
    '{"Pending": {}}',
  ].map((says) => ({
    title: `the result ${says} is data`,
    cites: 'PK-5-34@server',
    says,
    means: `ok ${says}`,
  })),
];

const table = [
  ...onTransports(oneshot),
  ...onTransports(server),
  ...onTransports(both).map((row) => ({
    ...row,
    says: row.on === 'server' && row.member === 'result' ? row.says : `{"${row.member}": ${row.says}}`,
  })),
];

test.each(table)('tool: $title', async ({ on, says, means }) => {
  const reply = on === 'oneshot' ? printed(says) : answered(says);
  expect(sayTool(decodeTool(reply))).toBe(means);
  expect(sayTool(await callTool(openBench(), answering(on, says)))).toBe(means);
});

const go = onTransports([
  { title: 'a result', cites: 'PK-1-06@both', member: 'result', says: '{"a": 1.0}', means: 'ok {"a": 1.0}' },
  {
    title: 'a pending',
    cites: 'PK-1-06@both',
    member: 'pending',
    says: asked,
    means: `pending ${said} ${asked}`,
  },
]);

test.each(go)('the Go dialect reads $title like the other one', async ({ on, member, says, means }) => {
  const reply = on === 'server' && member === 'result' ? says : `{"${member}": ${says}}`;
  const outcome = await callTool(openBench(), { ...answering(on, reply), dialect: 'promptkit-go' });
  expect(sayTool(outcome)).toBe(means);
});

test('an error that is not a text is kept in the details [PK-4-12@oneshot]', () => {
  expect(decodeTool(printed('{"error": {"code": 12345678901234567890}}'))).toEqual({
    status: 'failed',
    error: {
      code: 'REPLY_MALFORMED',
      message: expect.any(String),
      hint: expect.any(String),
      details: { error: '{"code": 12345678901234567890}' },
    },
  });
});

test('if none of the three keys is left, the hint shows what to print [PK-4-19@oneshot]', () => {
  expect(decodeTool(printed('{"status": "ok"}'))).toMatchObject({
    error: { hint: expect.stringContaining('{"result": …}'), details: { text: '{"status": "ok"}' } },
  });
});

import { expect, test } from 'vitest';
import type { Fault } from '../../../src/base/errors.ts';
import { Json, stringifyJson } from '../../../src/base/json/json.ts';
import {
  type FinishedCallResult,
  toDecisionDocument,
  toEvalDocument,
  toHookInfos,
  toToolDocument,
  toToolInfo,
} from '../../../src/calls/tool-call/document.ts';
import { scored, unscored } from '../../../src/contract/eval.ts';
import type { Decision } from '../../../src/contract/hook.ts';
import { failed, ok } from '../../../src/contract/tool.ts';

const exact = '{ "n":12345678901234567890, "p":[1.10], "é":"\\u00e9" }';
const rounded = { n: 12345678901234567000, p: [1.1], é: 'é' };
const fault: Fault = { code: 'TOOL_ERROR', message: 'no', hint: 'ask', details: { rpc: new Json(exact) } };
const faultText = `{"code":"TOOL_ERROR","message":"no","hint":"ask","details":{"rpc":${exact}}}`;
const plainFault = { code: 'TOOL_ERROR', message: 'no', hint: 'ask', details: { rpc: rounded } };

function called(outcome: FinishedCallResult['outcome'], metadata = '{}'): FinishedCallResult {
  return { outcome, metadata: new Json(metadata) };
}

const calls = [
  {
    title: 'ok',
    result: called(ok(new Json(exact))),
    document: { status: 'ok', result: rounded },
    text: `{"status":"ok","result":${exact}}`,
  },
  {
    title: 'ok, with what the hooks said',
    result: called(ok(new Json('null')), exact),
    document: { status: 'ok', result: null, metadata: rounded },
    text: `{"status":"ok","result":null,"metadata":${exact}}`,
  },
  {
    title: 'ok, with texts for the model',
    result: { ...called(ok(new Json('null'))), context: ['so'] },
    document: { status: 'ok', result: null, context: ['so'] },
    text: '{"status":"ok","result":null,"context":["so"]}',
  },
  {
    title: 'failed',
    result: called(failed(fault)),
    document: { status: 'failed', error: plainFault },
    text: `{"status":"failed","error":${faultText}}`,
  },
  {
    title: 'denied by its word',
    result: called({ status: 'denied', hook: 'h', reason: 'no' }, exact),
    document: { status: 'denied', hook: 'h', reason: 'no', metadata: rounded },
    text: `{"status":"denied","hook":"h","reason":"no","metadata":${exact}}`,
  },
  {
    title: 'denied with all that follows',
    result: called({ status: 'denied', hook: 'h', reason: 'no', abort: 'session' }),
    document: { status: 'denied', hook: 'h', reason: 'no', metadata: {}, abort: 'session' },
    text: '{"status":"denied","hook":"h","reason":"no","metadata":{},"abort":"session"}',
  },
  {
    title: 'denied by a fault',
    result: called({ status: 'denied', hook: 'h', reason: 'no', error: fault }),
    document: { status: 'denied', hook: 'h', reason: 'no', metadata: {}, error: plainFault },
    text: `{"status":"denied","hook":"h","reason":"no","metadata":{},"error":${faultText}}`,
  },
];

test.each(calls)(
  'a call that is $title reads as plain values and writes its bytes',
  ({ result, document, text }) => {
    expect(toToolDocument(result)).toStrictEqual(document);
    expect(stringifyJson(toToolDocument(result))).toBe(text);
  },
);

const evals = [
  {
    title: 'scored',
    outcome: scored(0.5, 'half', new Json(exact)),
    document: { status: 'scored', score: 0.5, passed: true, detail: 'half', data: rounded },
    text: `{"status":"scored","score":0.5,"passed":true,"detail":"half","data":${exact}}`,
  },
  {
    title: 'scored without more',
    outcome: scored(0.5, ''),
    document: { status: 'scored', score: 0.5, passed: true, detail: '', data: null },
    text: '{"status":"scored","score":0.5,"passed":true,"detail":"","data":null}',
  },
  {
    title: 'unscored by its word',
    outcome: unscored('asleep'),
    document: { status: 'unscored', reason: 'asleep', passed: false },
    text: '{"status":"unscored","reason":"asleep","passed":false}',
  },
  {
    title: 'unscored by a fault',
    outcome: unscored('no', fault),
    document: { status: 'unscored', reason: 'no', passed: false, error: plainFault },
    text: `{"status":"unscored","reason":"no","passed":false,"error":${faultText}}`,
  },
];

test.each(evals)(
  'an eval that is $title reads as plain values and writes its bytes',
  ({ outcome, document, text }) => {
    expect(toEvalDocument(outcome, true)).toStrictEqual(document);
    expect(stringifyJson(toEvalDocument(outcome, true))).toBe(text);
  },
);

const allowed: Decision = {
  verdict: 'allow',
  hook: null,
  dialect: null,
  reason: '',
  enforced: false,
  replace: null,
  result: null,
  context: [],
  abort: null,
  metadata: new Json(exact),
};

const decisions = [
  {
    title: 'allows',
    decision: allowed,
    text: `{"verdict":"allow","hook":null,"dialect":null,"reason":"","enforced":false,"replace":null,"result":null,"context":[],"abort":null,"metadata":${exact}}`,
  },
  {
    title: 'modifies',
    decision: {
      ...allowed,
      verdict: 'modify',
      hook: 'h',
      dialect: 'promptkit',
      replace: new Json(exact),
      metadata: new Json('{}'),
    },
    text: `{"verdict":"modify","hook":"h","dialect":"promptkit","reason":"","enforced":false,"replace":${exact},"result":null,"context":[],"abort":null,"metadata":{}}`,
  },
  {
    title: 'denies by a fault',
    decision: {
      ...allowed,
      verdict: 'deny',
      hook: 'h',
      dialect: 'promptkit',
      metadata: new Json('{}'),
      error: fault,
    },
    text: `{"verdict":"deny","hook":"h","dialect":"promptkit","reason":"","enforced":false,"replace":null,"result":null,"context":[],"abort":null,"metadata":{},"error":${faultText}}`,
  },
] as const;

test.each(decisions)(
  'a decision that $title reads as plain values and writes its bytes',
  ({ decision, text }) => {
    const document = toDecisionDocument(decision);
    expect(document).toStrictEqual(JSON.parse(text));
    expect(stringifyJson(document)).toBe(text);
    expect(stringifyJson({ fired: [document] })).toBe(`{"fired":[${text}]}`);
  },
);

const position = { file: 'runtime.yaml', line: 1, column: 1 };
const exec = {
  command: 'x',
  args: [],
  env: [],
  runtime: 'server',
  dialect: 'promptkit-go',
  position,
} as const;

const bare = { title: null, annotations: {}, approval: null, mcp: { result: null, task: null } };

test('a tool is listed with its input and output, empty where it declares none', () => {
  const inputSchema = { type: 'object' };
  const tool = { name: 'w', description: 'the weather', position };
  const infos = [toToolInfo({ ...tool, exec, inputSchema }), toToolInfo({ ...tool, outputSchema: true })];
  expect(infos).toStrictEqual([
    {
      name: 'w',
      description: 'the weather',
      runtime: 'server',
      dialect: 'promptkit-go',
      input_schema: inputSchema,
      output_schema: null,
      ...bare,
    },
    {
      name: 'w',
      description: 'the weather',
      runtime: 'none',
      dialect: null,
      input_schema: null,
      output_schema: true,
      ...bare,
    },
  ]);
});

test('hooks are listed in running order, with their phases and places', () => {
  const native = { name: 'h', hook: 'tool', phases: ['before_execution'], mode: 'shadow', exec } as const;
  const settings = { event: 'Stop', stopReentryCap: 5, projectDir: '/desk' };
  const rule = { name: 'Stop-1', dialect: 'agentao', source: position, settings } as const;
  const hooks = [
    { ...native, fileIndex: 0 },
    { ...native, name: 'last', fileIndex: 2 },
  ];
  const own = {
    ...{ hook: 'tool', phases: ['before_execution'], mode: 'shadow', dialect: 'promptkit-go' },
    ...{ points: [], on_failure: 'deny', source: position },
  };
  const strange = {
    ...{ name: 'Stop-1', dialect: 'agentao', hook: null, phases: [], mode: null },
    ...{ points: ['Stop'], on_failure: 'own', source: position },
  };
  expect(toHookInfos({ hooks, foreign: [{ ...rule, fileIndex: 1 }] })).toStrictEqual([
    { name: 'h', ...own },
    strange,
    { name: 'last', ...own },
  ]);
  const closed = toHookInfos({ hooks: [], foreign: [{ ...rule, fileIndex: 0, onFailure: 'deny' }] });
  expect(closed).toStrictEqual([{ ...strange, on_failure: 'deny' }]);
  // Its points are in its own files or nowhere.
  const silent = { ...rule, dialect: 'chibi', settings: { points: [] }, fileIndex: 0 } as const;
  expect(toHookInfos({ hooks: [], foreign: [silent] })).toMatchObject([{ points: [] }]);
});

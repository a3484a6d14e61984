import { expect, test } from 'vitest';
import { RuntimeError, toFault, withCatalogueText } from '../../../src/base/errors.ts';
import { Json } from '../../../src/base/json/json.ts';
import { decisionOf } from '../../../src/calls/hooks/hook-chain.ts';
import { resultFrom } from '../../../src/calls/hooks/replace.ts';
import {
  type CallPaused,
  deniedResult,
  modelText,
  pendingResult,
  rejectedResult,
  resultOf,
  withContent,
} from '../../../src/calls/tool-call/callable-tool.ts';
import { answers } from '../../../src/contract/hook.ts';
import { failed, ok } from '../../../src/contract/tool.ts';

const json = (text: string) => new Json(text);
const names = { tool: 'w', callId: 'c1' };
const fault = { ...toFault(new RuntimeError('TOOL_ERROR', 'no city')), details: { stderr: 'secret' } };
const metadata = json('{"x":1}');

test.each([
  ['"caf\\u00e9"', 'café'],
  ['{ "a":1.10 }', '{ "a":1.10 }'],
  ['null', 'null'],
])('a model reads the result %s as %s', (result, text) => {
  expect(modelText('w', ok(json(result)))).toBe(text);
  expect(resultOf(names, ok(json(result)))).toEqual({
    outcome: ok(json(result)),
    callId: 'c1',
    content: text,
    metadata: json('{}'),
  });
});

test('a failure is shown by its message', () => {
  const content = 'Tool "w" failed: no city';
  expect(resultOf(names, failed(fault), metadata)).toEqual({
    outcome: failed(fault),
    callId: 'c1',
    content,
    metadata,
  });
});

test('a waiting call reads as its question to the person', () => {
  const outcome: CallPaused = {
    ...{ status: 'pending', origin: 'tool', hook: null, args: json('{}'), reason: 'r', message: 'Pay?' },
    ...{ members: json('{}'), expiresMs: null },
  };
  expect(pendingResult(names, outcome)).toEqual({
    outcome,
    callId: 'c1',
    content: 'Pay?',
    metadata: json('{}'),
  });
  expect(pendingResult(names, outcome, metadata).metadata).toBe(metadata);
});

test('a denied call names its hook, and what else it ends', () => {
  const by = (hook: string | null) => ({ hook, dialect: 'd' });
  const plain = deniedResult(names, decisionOf(by('h'), answers.deny('no', { metadata })));
  const content = 'Tool "w" was blocked by hook "h": no';
  expect(plain).toEqual({
    outcome: { status: 'denied', hook: 'h', reason: 'no' },
    callId: 'c1',
    content,
    metadata,
  });
  expect(plain.outcome).not.toHaveProperty('error');
  expect(plain.outcome).not.toHaveProperty('abort');
  const withheld = `the hook failed: ${withCatalogueText(fault).message}`;
  const aborted = deniedResult(names, decisionOf(by(null), answers.abort('no', 'turn', { error: fault })));
  expect(aborted.outcome).toEqual({
    status: 'denied',
    hook: '',
    reason: withheld,
    abort: 'turn',
    error: withCatalogueText(fault),
  });
});

test.each([
  ['', 'Tool "w" was rejected'],
  ['too much', 'Tool "w" was rejected: too much'],
])('a call that a person rejected with the reason %j', (reason, content) => {
  expect(rejectedResult(names, fault, reason)).toEqual({
    outcome: failed(fault),
    callId: 'c1',
    content,
    metadata: json('{}'),
  });
});

test.each([
  ['"text"', '7', '"7"'],
  ['"text"', '{"a":1}', '"{\\"a\\":1}"'],
  ['{"a":1}', ' {"a":2.50} ', '{"a":2.50}'],
  ['{"a":1}', 'masked', '"masked"'],
  ['1', '2', '2'],
])('of %s the text %j makes the result %s', (old, content, result) => {
  expect(resultFrom(json(old), content).text).toBe(result);
  expect(withContent(ok(json(old)), content)).toEqual(ok(json(result)));
});

test('a failure stays one, with the filter’s text and no other details', () => {
  const { code, hint } = fault;
  expect(withContent(failed(fault), 'masked')).toStrictEqual(failed({ code, message: 'masked', hint }));
});

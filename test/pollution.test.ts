import { afterEach, expect, test } from 'vitest';
import { compileExpressions } from '../src/base/expression/expression.ts';
import { stringifyJson } from '../src/base/json/json.ts';
import { open } from './runtime/open.ts';
import { readFile } from './suites/dataset/support.ts';

// Members that pollute the prototype of every object if they are assigned or merged.
const members = '"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}';
const hostile = `{${members}}`;
const own = ['__proto__', 'constructor'];

afterEach(() => {
  const reached = [{}, [], () => {}, ''].map((value) => Reflect.get(Object(value), 'polluted'));
  expect(reached).toEqual([undefined, undefined, undefined, undefined]);
});

const spec = `
defaults: {tool: {__proto__: {polluted: 1}}}
tools:
  echo:
    input_schema: {type: object, properties: {__proto__: {type: object}}}
    exec: {command: $bin/echo-args}
    approval: {when: "\${'polluted' in args || args == 1}"}
hooks:
  renames: {hook: tool, phases: [before_execution], command: $bin/prints.sh, args: ['{"allow": true, "replace": {"args": ${hostile}}, "metadata": ${hostile}}']}
`;

test('arguments, replacements, metadata and results keep such members as their own', async () => {
  const { runtime } = await open(spec.replace(/^defaults.*$/m, ''));
  const done = await runtime.tools.call('echo', JSON.parse(hostile));
  expect(done.status).toBe('ok');
  const result: unknown = done.status === 'ok' ? done.result : undefined;
  expect(Object.keys(Object(result))).toEqual(own);
});

test.each(['jsonl', 'json', 'yaml'])('a row of %s has them as its own', async (format) => {
  const [row] = await readFile(`rows.${format}`, `${hostile}\n`);
  expect(row?.content.usable === true ? Object.keys(row.content.value) : row?.content).toEqual(own);
});

test('a column of CSV may have such a name', async () => {
  const [row] = await readFile('rows.csv', '__proto__,constructor\na,b\n');
  expect(row?.content.usable === true ? stringifyJson(row.content.value) : '').toBe(
    '{"__proto__":"a","constructor":"b"}',
  );
});

test('an expression reads own members only, and makes objects without a prototype', () => {
  const evaluate = (code: string, args: unknown) => {
    try {
      return compileExpressions(`\${${code}}`, ['args']).evaluate({ args });
    } catch {
      return 'refused';
    }
  };
  expect(evaluate('args.__proto__.polluted', {})).toBe('refused');
  expect(evaluate('args.constructor.prototype', {})).toBe('refused');
  expect(evaluate('args.__proto__.polluted', JSON.parse(hostile))).toBe(1);
  const made = [evaluate('{"__proto__": {"polluted": 1}}', {})];
  made.push(evaluate('{args.key: {"polluted": 1}}', { key: '__proto__' }));
  expect(made.map((value) => Reflect.get(Object(value), 'polluted'))).toEqual([undefined, undefined]);
  expect(
    Object.keys(Object(compileExpressions(JSON.parse(hostile), ['args']).evaluate({ args: {} }))),
  ).toEqual(own);
  expect(
    Object.keys(
      Object(compileExpressions(JSON.parse(`{${members}, "a": "\${args}"}`), ['args']).evaluate({ args: 1 })),
    ),
  ).toEqual([...own, 'a']);
});

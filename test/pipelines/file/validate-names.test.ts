import { describe, expect, test } from 'vitest';
import type { ExecConfig } from '../../../src/config/config.ts';
import type { PipelineRuntime } from '../../../src/pipelines/file/validate-names.ts';
import { loadSteps } from '../validate-support.ts';

const exec: ExecConfig = {
  command: 'sh',
  args: [],
  runtime: 'exec',
  env: [],
  dialect: 'promptkit',
  position: { file: 'runtime.yaml', line: 1, column: 1 },
};

const runtime: PipelineRuntime = {
  tools: [
    { name: 'lookup', exec },
    { name: 'listed' },
    {
      name: 'refund',
      exec,
      inputSchema: {
        type: 'object',
        required: ['order', 'amount'],
        properties: { order: { type: 'string' }, amount: { type: 'number', maximum: 100 }, note: {} },
        additionalProperties: false,
      },
    },
    {
      name: 'open',
      exec,
      inputSchema: { required: ['order'], patternProperties: { '^x-': {} }, additionalProperties: false },
    },
    { name: 'never', exec, inputSchema: false },
  ],
  evals: [{ name: 'politeness' }],
  providers: [
    { type: 'mock', id: 'main' },
    { type: 'mock', id: 'cloud', refused: 'its platform bedrock is not supported' },
  ],
};

function problemsOf(...steps: readonly string[]): readonly string[] {
  return loadSteps(steps, runtime).problems;
}

describe('names', () => {
  test.each([
    { title: 'a tool', steps: ['{id: a, tool: lookup}'], problems: [] },
    {
      title: 'a misspelt tool',
      steps: ['{id: a, tool: lokup}'],
      problems: ['5:21 steps[0].tool: no tool named lokup is declared | did you mean `lookup`?'],
    },
    {
      title: 'a tool that is nowhere near',
      steps: ['{id: a, tool: x}'],
      problems: [
        '5:21 steps[0].tool: no tool named x is declared | known tools: lookup, listed, refund, open, never',
      ],
    },
    {
      title: 'a tool without exec',
      steps: ['{id: a, tool: listed}'],
      problems: [
        '5:21 steps[0].tool: the tool listed has no exec binding, so it cannot be called | Add `exec: {command: …}` to the tool.',
      ],
    },
    {
      title: 'the tools of a chat',
      steps: ['{id: a, chat: {provider: main, messages: x, tools: [lookup, listed, lokup]}}'],
      problems: [
        '5:67 steps[0].chat.tools[1]: the tool listed has no exec binding, so it cannot be called | Add `exec: {command: …}` to the tool.',
        '5:75 steps[0].chat.tools[2]: no tool named lokup is declared | did you mean `lookup`?',
      ],
    },
    { title: 'an eval', steps: ['{id: a, eval: politeness, content: x}'], problems: [] },
    {
      title: 'an unknown eval, and one of a guardrail',
      steps: [
        '{id: a, eval: polite, content: x}',
        '{id: b, chat: {provider: main, messages: x, guardrails: [{eval: politness}]}}',
      ],
      problems: [
        '5:21 steps[0].eval: no eval named polite is declared | did you mean `politeness`?',
        '6:71 steps[1].chat.guardrails[0].eval: no eval named politness is declared | did you mean `politeness`?',
      ],
    },
    {
      title: 'an unknown provider',
      steps: ['{id: a, chat: {provider: mian, messages: x}}'],
      problems: ['5:32 steps[0].chat.provider: no provider named mian is declared | did you mean `main`?'],
    },
    {
      title: 'a provider that is refused',
      steps: ['{id: a, chat: {provider: cloud, messages: x}}'],
      problems: [
        '5:32 steps[0].chat.provider: the provider cloud cannot be used: its platform bedrock is not supported',
      ],
    },
    {
      title: 'names deep inside',
      steps: [
        '{id: a, for_each: [1], parallel: [{id: b, tool: lookup, on_error: {steps: [{id: c, tool: nope}]}}]}',
      ],
      problems: [
        '5:96 steps[0].parallel[0].on_error.steps[0].tool: no tool named nope is declared | did you mean `open`?',
      ],
    },
  ])('$title', ({ steps, problems }) => {
    expect(problemsOf(...steps)).toEqual(problems);
  });

  test('are ignored if the runtime is unknown', () => {
    const steps = [
      '{id: a, tool: x}',
      '{id: b, eval: y, content: z}',
      '{id: c, chat: {provider: p, messages: m, tools: [q]}}',
    ];
    expect(loadSteps(steps).problems).toEqual([]);
  });
});

describe('arguments that can never fit', () => {
  test.each([
    {
      title: 'every key, from expressions',
      args: 'refund, args: {order: "${input.o}", amount: "${input.a}"}',
      problems: [],
    },
    { title: 'an expression in the place of all', args: 'refund, args: "${input}"', problems: [] },
    { title: 'literals that fit', args: 'refund, args: {order: a, amount: 5}', problems: [] },
    {
      title: 'no arguments at all',
      args: 'refund',
      problems: [
        '5:7 steps[0].args.order: is required by the tool’s input_schema | Write `order: …` below `args`.',
        '5:7 steps[0].args.amount: is required by the tool’s input_schema | Write `amount: …` below `args`.',
      ],
    },
    {
      title: 'a missing key',
      args: 'refund, args: {order: "${input.o}"}',
      problems: [
        '5:29 steps[0].args.amount: is required by the tool’s input_schema | Write `amount: …` below `args`.',
      ],
    },
    {
      title: 'a misspelt key',
      args: 'refund, args: {order: "${input.o}", amount: 1, nte: x}',
      problems: ['5:68 steps[0].args.nte: is not allowed by the tool’s input_schema | did you mean `note`?'],
    },
    {
      title: 'literals that do not fit',
      args: 'refund, args: {order: 5, amount: 101}',
      problems: [
        '5:35 steps[0].args: does not fit the tool’s input_schema: order: must be string',
        '5:35 steps[0].args: does not fit the tool’s input_schema: amount: must be <= 100',
      ],
    },
    {
      title: 'a literal beside an expression, which is judged when all is known',
      args: 'refund, args: {order: 5, amount: "${input.a}"}',
      problems: [],
    },
    { title: 'keys that a pattern allows', args: 'open, args: {order: "${input.o}", x-y: 1}', problems: [] },
    {
      title: 'a schema that nothing fits',
      args: 'never, args: {}',
      problems: ['5:34 steps[0].args: does not fit the tool’s input_schema: boolean schema is false'],
    },
    { title: 'a tool without a schema', args: 'lookup, args: {any: thing}', problems: [] },
  ])('$title', ({ args, problems }) => {
    expect(problemsOf(`{id: a, tool: ${args}}`)).toEqual(problems);
  });
});

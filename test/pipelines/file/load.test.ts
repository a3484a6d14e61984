import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../src/base/errors.ts';
import type { Expression } from '../../../src/base/expression/expression.ts';
import { stringifyJson } from '../../../src/base/json/json.ts';
import { loadPipeline, requirePipeline, requirePipelineText } from '../../../src/pipelines/file/load.ts';
import type { Step } from '../../../src/pipelines/file/pipeline.ts';
import { pipelineSchema } from '../../../src/pipelines/file/schema.ts';
import { folder, header, loadSpec, loadSteps, loadText, write } from '../validate-support.ts';

const expression = { evaluate: expect.any(Function) };

function stepOf(step: string) {
  const { pipeline, problems } = loadSteps([step]);
  expect(problems).toEqual([]);
  const { position: _position, ...rest } = pipeline?.steps[0] ?? {};
  return rest;
}

test('a pipeline is read with every key', () => {
  write('runtime.yaml', '');
  const spec = `runtime: ./runtime.yaml
input: {type: object, required: [ticket]}
steps:
  - {id: mood, tool: sentiment, args: {text: "\${input.ticket}"}}
output: {reply: "\${steps.mood.result}"}`;
  const { pipeline, problems } = loadSpec(`${spec}`);
  const file = join(folder, 'x.pipeline.yaml');
  expect(problems).toEqual([]);
  expect(pipeline).toEqual({
    file,
    name: 'x',
    source: readFileSync(file, 'utf8'),
    pipelines: {},
    runtime: join(folder, 'runtime.yaml'),
    checkInput: expect.any(Function),
    env: [],
    vars: [],
    steps: [
      {
        id: 'mood',
        kind: 'tool',
        tool: 'sentiment',
        args: expression,
        onError: { kind: 'stop' },
        position: { file, line: 7, column: 7 },
      },
    ],
    finally: [],
    output: expression,
  });
  expect([pipeline?.checkInput({ ticket: 1 }), pipeline?.checkInput({})]).toEqual([
    [],
    ["must have required property 'ticket'"],
  ]);
});

test('a minimal pipeline has a name, without runtime and output; any input fits', () => {
  const { pipeline } = loadText(`${header}metadata: {name: refund}\nspec: {steps: [{id: a, tool: t}]}\n`);
  expect(Object.keys(pipeline ?? {})).toEqual([
    'file',
    'name',
    'source',
    'pipelines',
    'checkInput',
    'env',
    'vars',
    'steps',
    'finally',
  ]);
  expect([pipeline?.name, pipeline?.checkInput('anything')]).toEqual(['refund', []]);
});

describe('a step', () => {
  const base = { id: 'a', onError: { kind: 'stop' } };
  const simple = { collect: 'all', failFast: false };
  const tool = { ...base, kind: 'tool', tool: 't', args: expression };

  test.each([
    { title: 'a tool', yaml: '{id: a, tool: t}', step: tool },
    {
      title: 'with everything around it',
      yaml: '{id: a, tool: t, if: "${true}", for_each: [1], concurrency: 3, timeout_ms: 5000, on_error: continue}',
      step: {
        ...tool,
        condition: expression,
        forEach: { items: expression, concurrency: 3, ...simple },
        timeoutMs: 5000,
        onError: { kind: 'continue' },
      },
    },
    {
      title: 'with a loop in its long form',
      yaml: '{id: a, tool: t, for_each: {items: "${input.list}", concurrency: 2}}',
      step: { ...tool, forEach: { items: expression, concurrency: 2, ...simple } },
    },
    {
      title: 'with a loop that goes one by one',
      yaml: '{id: a, tool: t, for_each: "${input.list}"}',
      step: { ...tool, forEach: { items: expression, concurrency: 1, ...simple } },
    },
    {
      title: 'with a handler',
      yaml: '{id: a, tool: t, on_error: {steps: [{id: b, tool: u}], then: continue}}',
      step: {
        ...tool,
        onError: {
          kind: 'handle',
          // biome-ignore lint/suspicious/noThenProperty: a word of the file
          then: 'continue',
          steps: [expect.objectContaining({ id: 'b', tool: 'u' })],
        },
      },
    },
    {
      title: 'with a handler that stops',
      yaml: '{id: a, tool: t, on_error: {steps: [{id: b, tool: u}]}}',
      step: {
        ...tool,
        // biome-ignore lint/suspicious/noThenProperty: a word of the file
        onError: { kind: 'handle', then: 'stop', steps: [expect.objectContaining({ id: 'b' })] },
      },
    },
    {
      title: 'an eval that records',
      yaml: '{id: a, eval: e, content: x}',
      step: { ...base, kind: 'eval', type: 'e', content: expression, params: expression, onFail: 'stop' },
    },
    {
      title: 'an eval that gates',
      yaml: '{id: a, eval: e, content: x, params: {p: 1}, context: {variables: {}}, threshold: {min_score: 0.5, max_score: 1}, on_fail: continue}',
      step: {
        ...base,
        kind: 'eval',
        type: 'e',
        content: expression,
        params: expression,
        context: expression,
        threshold: { min_score: 0.5, max_score: 1 },
        onFail: 'continue',
      },
    },
    {
      title: 'an eval that gates at 1',
      yaml: '{id: a, eval: e, content: x, threshold: {}}',
      step: {
        ...base,
        kind: 'eval',
        type: 'e',
        content: expression,
        params: expression,
        threshold: {},
        onFail: 'stop',
      },
    },
    {
      title: 'a chat with its defaults',
      yaml: '{id: a, chat: {provider: main, messages: hello}}',
      step: {
        ...base,
        kind: 'chat',
        provider: 'main',
        messages: expression,
        tools: [],
        maxRounds: 8,
        toolConcurrency: 4,
        guardrails: [],
        retries: 0,
      },
    },
    {
      title: 'a chat with everything it may say',
      yaml: '{id: a, chat: {provider: main, system: s, messages: [{role: user, content: x}], tools: [t, u], max_rounds: 3, tool_concurrency: 1, guardrails: [{eval: e}, {id: g, eval: e, params: {p: 1}, threshold: {max_score: 0.5}, action: monitor}], retries: 2, stream: windowed, temperature: 0, max_tokens: 9}}',
      step: {
        ...base,
        kind: 'chat',
        provider: 'main',
        system: expression,
        messages: expression,
        tools: ['t', 'u'],
        maxRounds: 3,
        toolConcurrency: 1,
        guardrails: [
          { id: 'e', type: 'e', params: expression, context: expression, action: 'enforce' },
          {
            ...{ id: 'g', type: 'e', params: expression, context: expression },
            ...{ threshold: { max_score: 0.5 }, action: 'monitor' },
          },
        ],
        retries: 2,
        stream: 'windowed',
        temperature: 0,
        maxTokens: 9,
      },
    },
    {
      title: 'parallel steps',
      yaml: '{id: a, parallel: [{id: b, tool: t}]}',
      step: { ...base, kind: 'parallel', failFast: false, steps: [expect.objectContaining({ id: 'b' })] },
    },
    {
      title: 'parallel steps in a loop, each with its own limit',
      yaml: '{id: a, for_each: {items: [1], concurrency: 2}, concurrency: 3, parallel: [{id: b, tool: t}]}',
      step: {
        ...base,
        kind: 'parallel',
        failFast: false,
        forEach: { items: expression, concurrency: 2, ...simple },
        concurrency: 3,
        steps: [expect.objectContaining({ id: 'b' })],
      },
    },
    {
      title: 'parallel steps in a loop, where the short limit is that of the branches',
      yaml: '{id: a, for_each: [1], concurrency: 3, parallel: [{id: b, tool: t}]}',
      step: {
        ...base,
        kind: 'parallel',
        failFast: false,
        forEach: { items: expression, concurrency: 1, ...simple },
        concurrency: 3,
        steps: [expect.objectContaining({ id: 'b' })],
      },
    },
    {
      title: 'a group',
      yaml: '{id: a, if: "${true}", steps: [{id: b, tool: t}], else: [{id: c, tool: t}]}',
      step: {
        ...base,
        kind: 'steps',
        condition: expression,
        steps: [expect.objectContaining({ id: 'b' })],
        otherwise: [expect.objectContaining({ id: 'c' })],
      },
    },
  ])('$title', ({ yaml, step }) => {
    expect(stepOf(yaml)).toEqual(step);
  });
});

test('values keep their types, and numbers their digits', () => {
  const args =
    '{whole: "${input.n}", text: "n is ${input.n}", exact: 12345678901234567890, list: [1.5, null, true], plain: "$${x}"}';
  const { pipeline } = loadSteps([`{id: a, tool: t, args: ${args}}`]);
  const step = pipeline?.steps[0];
  const value = step?.kind === 'tool' ? step.args.evaluate({ input: { n: 3 }, steps: {} }) : undefined;
  expect(stringifyJson(value)).toBe(
    '{"whole":3,"text":"n is 3","exact":12345678901234567890,"list":[1.5,null,true],"plain":"${x}"}',
  );
});

describe('whole files', () => {
  test.each([
    {
      title: 'an empty one',
      text: '',
      problems: [
        '1:1 the file is empty | A config begins with `apiVersion: signalbox/v1` and `kind: RuntimeConfig`.',
      ],
    },
    {
      title: 'a list',
      text: '- a',
      problems: [
        '1:1 must be a mapping, not a list | The file begins with keys: `apiVersion`, `kind`, `metadata` and `spec`.',
      ],
    },
    {
      title: 'broken YAML',
      text: 'a: [',
      problems: ['1:4 YAML: `[` is opened here but never closed | Write `]` where the value ends.'],
    },
    {
      title: 'another kind, another version, no spec',
      text: 'apiVersion: v1\nkind: pipeline\nmetadata: {nme: x}\n',
      problems: [
        '1:1 spec: is required',
        '1:13 apiVersion: must be signalbox/v1 (got: v1)',
        '2:7 kind: must be Pipeline (got: pipeline) | did you mean `Pipeline`?',
        '3:12 metadata.nme: unknown key | did you mean `name`?',
      ],
    },
    { title: 'no steps', text: `${header}spec: {steps: []}\n`, problems: ['3:15 steps: must not be empty'] },
    {
      title: 'steps that are no list',
      text: `${header}spec: {steps: {a: {tool: t}}}\n`,
      problems: ['3:15 steps: must be a list, not a mapping'],
    },
    {
      title: 'an input that is no schema',
      text: `${header}spec: {input: {type: strng}, steps: [{id: a, tool: t}], outptu: 1}\n`,
      problems: [
        '3:15 input: is not a valid JSON Schema: `type` must be one of: array, boolean, integer, null, number, object, string (got: strng), did you mean `string`?',
        '3:57 outptu: unknown key | did you mean `output`?',
      ],
    },
    {
      title: 'a second document',
      text: `${header}spec: {steps: [{id: a, tool: t}]}\n---\na: 1\n`,
      problems: [
        '5:1 only the first YAML document of a file is used; a second one starts here | Remove the `---` above it, or move it to another file.',
      ],
    },
    {
      title: 'a key that stands twice',
      text: `${header}spec: {steps: [{id: a, tool: t, tool: u}]}\n`,
      problems: ['3:33 duplicate key `tool` in one mapping | Remove one of the two.'],
    },
  ])('$title is refused', ({ text, problems }) => {
    expect(loadText(text)).toEqual({ pipeline: undefined, problems });
  });

  test('a missing runtime is a warning, since it may be created later', () => {
    const { pipeline, problems } = loadSpec('runtime: ./nowhere.yaml\nsteps: [{id: a, tool: t}]');
    expect([pipeline?.runtime, problems]).toEqual([
      join(folder, 'nowhere.yaml'),
      ['4:12 warning: runtime: nowhere.yaml does not exist'],
    ]);
  });

  test('bytes that are not UTF-8 are a problem', () => {
    const file = write('bytes.pipeline.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff]));
    expect(loadPipeline(file, undefined)).toEqual({
      pipeline: undefined,
      problems: [
        {
          file,
          line: 1,
          column: 4,
          severity: 'error',
          message: 'the file is not UTF-8 here',
          hint: 'Save it as UTF-8.',
        },
      ],
      below: [],
    });
  });
});

describe('a required pipeline', () => {
  const good = `${header}spec: {runtime: ../r.yaml, steps: [{id: a, tool: t}]}\n`;
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  test('is loaded from its file and from its stored text', () => {
    const file = write('good.pipeline.yaml', good);
    const fromFile = requirePipeline(file, undefined);
    const changed = write('good.pipeline.yaml', 'changed since');
    const fromText = requirePipelineText({ file: changed, text: fromFile.source }, undefined);
    expect(JSON.stringify(fromText)).toBe(JSON.stringify(fromFile));
    expect([fromText.file, fromText.source, fromText.runtime]).toEqual([
      file,
      good,
      join(folder, '../r.yaml'),
    ]);
  });

  test.each([
    { title: 'a problem', text: `${header}spec: {steps: [{id: a}]}\n`, message: 'has a problem', count: 1 },
    {
      title: 'several',
      text: `${header}spec: {steps: [{id: a}, {tool: t}]}\n`,
      message: 'has 2 problems',
      count: 2,
    },
  ])('with $title is CONFIG_INVALID, with all of them', ({ text, message, count }) => {
    const file = write('bad.pipeline.yaml', text);
    for (const error of [
      thrownBy(() => requirePipeline(file, undefined)),
      thrownBy(() => requirePipelineText({ file, text }, undefined)),
    ]) {
      expect(error).toBeInstanceOf(RuntimeError);
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: `${file} ${message}` });
      expect(error).toHaveProperty('details.problems.length', count);
    }
  });

  test('that is missing is FILE_UNREADABLE', () => {
    const error = thrownBy(() => requirePipeline(join(folder, 'none.yaml'), undefined));
    expect(error).toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test('names its tools correctly, or is refused, from its text too', () => {
    const runtime = { tools: [], evals: [], providers: [] };
    const file = join(folder, 'good.pipeline.yaml');
    expect(thrownBy(() => requirePipelineText({ file, text: good }, runtime))).toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});

describe('the published schema', () => {
  test('equals this one', () => {
    const published = readFileSync(new URL('../../../schema/pipeline.schema.json', import.meta.url), 'utf8');
    expect(published).toBe(`${JSON.stringify(pipelineSchema, null, 2)}\n`);
  });
});

/** Loading must give a pipeline whose expressions can be evaluated, or errors. It must never throw. */
function holds(text: string): void {
  const { pipeline, problems } = loadText(text);
  const errors = problems.filter((problem) => !/^\d+:\d+ warning: /.test(problem));
  expect(pipeline === undefined).toBe(errors.length > 0);
  for (const each of expressionsOf(pipeline?.steps ?? [])) ask(each);
}

function ask(expressionToAsk: Expression): void {
  try {
    expressionToAsk.evaluate({ input: {}, steps: {} });
  } catch (error) {
    expect(error).toMatchObject({ code: 'EXPRESSION_FAILED' });
  }
}

function expressionsOf(steps: readonly Step[]): readonly Expression[] {
  return steps.flatMap((step) => {
    const around = [step.condition, step.forEach?.items, step.whileLoop?.condition].filter(
      (each) => each !== undefined,
    );
    const handler = step.onError.kind === 'handle' ? expressionsOf(step.onError.steps) : [];
    return [...around, ...handler, ...ownExpressions(step)];
  });
}

function ownExpressions(step: Step): readonly Expression[] {
  switch (step.kind) {
    case 'tool':
      return [step.args];
    case 'eval':
      return [step.content, step.params];
    case 'chat':
      return [step.messages, ...step.guardrails.map(({ params }) => params)];
    case 'ask':
      return [step.question];
    case 'pipeline':
      return [step.input];
    case 'wait':
      return ['until' in step.wait ? step.wait.until : step.wait.for];
    case 'parallel':
      return expressionsOf(step.steps);
    case 'steps':
      return [...expressionsOf(step.steps), ...expressionsOf(step.otherwise)];
  }
}

const samples = [
  `${header}spec:
  steps:
    - {id: a, tool: t, args: {x: "\${input.a + 1}", y: [1, "\${steps}"]}}
    - {id: b, for_each: "\${steps.a.result}", steps: [{id: c, tool: t, args: {x: "\${item}"}}]}
    - id: d
      chat: {provider: m, messages: [{role: user, content: "\${steps.b.items}"}], guardrails: [{eval: e, params: {p: 1}}]}
      on_error: {steps: [{id: e, tool: t, args: {x: "\${error.code}"}}], then: continue}
    - {id: f, if: "\${has(steps.d.text)}", eval: e, content: "\${steps.d.text}", threshold: {min_score: 0.5}}
    - {id: g, parallel: [{id: h, tool: t}, {id: i, tool: t}], concurrency: 1, timeout_ms: 5}
  output: {x: "\${steps.h.result}"}
`,
];

test('whatever loads can be built and queried: broken texts', () => {
  const piece = fc.constantFrom(
    '',
    '"',
    '${',
    '}',
    '{',
    '[',
    ':',
    '- ',
    'steps',
    'else',
    'item',
    ' null',
    '0',
    '&a ',
    '*a',
  );
  const change = fc.record({ at: fc.nat(), length: fc.nat({ max: 12 }), piece });
  const mutated = fc
    .tuple(fc.constantFrom(...samples), fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) =>
      changes.reduce((before, { at, length, piece: put }) => {
        const start = at % (before.length + 1);
        return before.slice(0, start) + put + before.slice(start + length);
      }, text),
    );
  fc.assert(
    fc.property(mutated, (text) => holds(text)),
    { numRuns: 200 },
  );
});

test('whatever loads can be built and queried: any value in place of any value', () => {
  const stepKeys = Object.keys(pipelineSchema.$defs.step.properties);
  const chatKeys = Object.keys(pipelineSchema.$defs.step.properties.chat.properties);
  const { value } = fc.letrec<{ value: unknown; mapping: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(
        'a',
        'b',
        'stop',
        '${input.a}',
        '${item}',
        '${steps.a}',
        1,
        0.5,
        null,
        true,
        '__proto__',
      ),
      fc.array(tie('mapping'), { maxLength: 2 }),
      tie('mapping'),
    ),
    mapping: fc.dictionary(
      fc.constantFrom(...stepKeys, ...chatKeys, 'items', 'then', '__proto__', 'toString'),
      tie('value'),
      { maxKeys: 6 },
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), value, (steps, output) =>
      holds(JSON.stringify({ apiVersion: 'signalbox/v1', kind: 'Pipeline', spec: { steps, output } })),
    ),
    { numRuns: 250 },
  );
});

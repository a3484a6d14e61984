import { expect, test } from 'vitest';
import { loadSteps, problemsOfSteps } from '../validate-support.ts';

const chat = (more: string) => `{id: a, chat: {provider: main, messages: Hi., ${more}}}`;

// The step is at line 5, column 7; its settings begin at column 53.
test.each([
  {
    title: 'a schema that cannot be used',
    step: chat('output: {schema: {type: strin}}'),
    problems: [expect.stringMatching(/^5:70 steps\[0\]\.chat\.output\.schema: is not a valid JSON Schema: /)],
  },
  {
    title: 'a schema that refers to nothing',
    step: chat('output: {schema: {$ref: "#/$defs/nothing"}}'),
    problems: [expect.stringMatching(/^5:70 .*can't resolve reference/)],
  },
  {
    title: 'an output without a schema',
    step: chat('output: {}'),
    problems: ['5:53 steps[0].chat.output.schema: is required'],
  },
  {
    title: 'a misspelt key',
    step: chat('output: {shema: {}}'),
    problems: ['5:62 steps[0].chat.output.shema: unknown key | did you mean `schema`?'],
  },
  {
    title: 'a choice that is none',
    step: chat('tools: [t], tool_choice: any'),
    problems: ['5:78 steps[0].chat.tool_choice: must be auto, none, required, or a mapping with `tool`'],
  },
  {
    title: 'a choice of a tool that the chat does not have',
    step: chat('tools: [lookup], tool_choice: {tool: lokup}'),
    problems: [
      '5:90 steps[0].chat.tool_choice.tool: the chat has no tool named lokup | did you mean `lookup`?',
    ],
  },
  {
    title: 'a call that is asked for without tools',
    step: chat('tool_choice: required'),
    problems: ['5:53 steps[0].chat.tool_choice: needs `tools`: without them, the model can call nothing'],
  },
  {
    title: 'settings out of their bounds',
    step: chat('top_p: 2, stop: [], seed: 1.5'),
    problems: [
      '5:60 steps[0].chat.top_p: must be at most 1 (got: 2)',
      expect.stringContaining('steps[0].chat.stop'),
      expect.stringContaining('steps[0].chat.seed'),
    ],
  },
])('$title is reported with its place', ({ step, problems }) => {
  expect(problemsOfSteps(step)).toEqual(problems);
});

test('`object` is known for a chat with an output only', () => {
  const use = '{id: b, tool: t, args: {x: "${steps.a.object.city}"}}';
  expect(problemsOfSteps(chat('output: {schema: {type: object}}'), use)).toEqual([]);
  expect(problemsOfSteps(chat('top_p: 1'), use)).toEqual([
    '6:34 steps[1].args.x: `steps.a` has no `object` | Give the chat `output: {schema: …}`: its answer is then JSON that fits the schema.',
  ]);
});

test('the declared members are those of the chat', () => {
  const settings =
    'tools: [t], tool_choice: {tool: t}, top_p: 0.3, stop: [A, B], seed: -3, output: {schema: {type: object}}';
  expect(loadSteps([chat(settings)]).pipeline?.steps).toMatchObject([
    { toolChoice: { tool: 't' }, topP: 0.3, stop: ['A', 'B'], seed: -3, outputSchema: { type: 'object' } },
  ]);
});

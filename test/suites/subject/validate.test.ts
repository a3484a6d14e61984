import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/base/yaml/problem.ts';
import { requireConfig } from '../../../src/config/load.ts';
import { loadSuite } from '../../../src/suites/load.ts';
import { write } from '../../runtime/open.ts';
import { writePipeline } from './bench.ts';

const config = write(`
tools:
  weather:
    exec: {command: $bin/echo-args}
    input_schema: {type: object, required: [city], properties: {city: {type: string}}, additionalProperties: false}
  listed: {description: Nothing to run.}
evals:
  judge: {command: $bin/eval-score}
providers:
  - {id: main, type: mock, model: scripted, additional_config: {responses: [{text: Hello.}]}}
`);
const folder = dirname(config);
writePipeline(
  folder,
  'steps:\n  - {id: a, tool: wether}\n  - {id: b, tool: weather, args: {city: "${inputt}"}}\n',
);
mkdirSync(join(folder, 'good'));
writePipeline(join(folder, 'good'), 'steps: [{id: a, tool: weather, args: {city: Oslo}}]\n');

/** The problems of a suite with that subject, which starts at line 4 of the file. */
function problemsOf(yaml: string, isKnown = true): string[] {
  const file = join(folder, 'demo.suite.yaml');
  const head = 'apiVersion: signalbox/v1\nkind: EvalSuite\nspec:\n';
  const subject = `subject:\n${yaml.replaceAll(/^(?=.)/gm, '  ')}`;
  const rest = 'cases: [{id: a}]\nevals: [{id: a, type: judge}]\n';
  writeFileSync(file, head + `${subject}\n${rest}`.replaceAll(/^(?=.)/gm, '  '));
  const { problems } = loadSuite(
    file,
    isKnown ? requireConfig(config, process.env['PATH'] ?? '') : undefined,
  );
  return problems.map((problem) =>
    formatProblem(problem).replaceAll(`${folder}/`, '').replace('demo.suite.yaml:', ''),
  );
}

test.each([
  { title: 'a tool', yaml: "tool: weather\nargs: {city: '${case.city} ${epoch}'}" },
  {
    title: 'a tool whose arguments are one expression',
    yaml: "tool: weather\nargs: '${case.args}'\ncache: false",
  },
  {
    title: 'a chat',
    yaml: "chat: {provider: main, system: 'For ${case.who}', messages: '${case.messages}', tools: [weather], guardrails: [{eval: judge, params: {a: '${epoch}'}}]}",
  },
  { title: 'a pipeline', yaml: "pipeline: good/demo.pipeline.yaml\ninput: '${case}'\ncache: true" },
])('$title can be a subject', ({ yaml }) => {
  expect(problemsOf(yaml)).toEqual([]);
});

test.each([
  {
    title: 'nothing',
    yaml: 'cache: true',
    says: ['5:5 subject: needs one of: tool, chat, pipeline, variants'],
  },
  {
    title: 'two kinds',
    yaml: 'tool: weather\npipeline: good/demo.pipeline.yaml',
    says: ['5:5 subject: accepts only one of: tool, chat, pipeline, variants'],
  },
  {
    title: 'a tool that is misspelt',
    yaml: 'tool: wether',
    says: ['5:11 subject.tool: no tool named wether is declared\n    hint: did you mean `weather`?'],
  },
  {
    title: 'a tool with nothing to run',
    yaml: 'tool: listed',
    says: [
      '5:11 subject.tool: the tool listed has no exec binding, so it cannot be called\n    hint: Add `exec: {command: …}` to the tool.',
    ],
  },
  {
    title: 'arguments that do not fit',
    yaml: 'tool: weather\nargs: {town: Oslo}',
    says: [
      '6:11 subject.args.city: is required by the tool’s input_schema\n    hint: Write `city: …` below `args`.',
      '6:18 subject.args.town: is not allowed by the tool’s input_schema\n    hint: known arguments: city',
    ],
  },
  {
    title: 'an argument that sees something else',
    yaml: "tool: weather\nargs: {city: '${input.city}'}",
    says: [
      '6:18 subject.args.city: `${input.city}` is not a valid expression: Unknown variable: input\n    hint: Expressions see the row as `case`, and the number of the epoch as `epoch`.',
    ],
  },
  {
    title: 'arguments that are no mapping',
    yaml: "tool: weather\nargs: '${epoch > 1}'",
    says: [
      '6:11 subject.args: must give a mapping, but `${epoch > 1}` gives a value of type bool\n    hint: Write a single expression, such as `${case.order}`.',
    ],
  },
  {
    title: 'arguments that are a text',
    yaml: 'tool: weather\nargs: Oslo',
    says: [
      '6:11 subject.args: must be a single `${…}` that gives a mapping\n    hint: Write a single expression, such as `${case.order}`.',
    ],
  },
  {
    title: 'a number that JSON lacks',
    yaml: 'tool: weather\nargs: {city: .inf}',
    says: [
      '6:11 subject.args: does not fit the tool’s input_schema: city: must be string',
      '6:18 subject.args.city: must be a finite number, because JSON has no other numbers',
    ],
  },
  {
    title: 'an input for a tool',
    yaml: 'tool: weather\nargs: {city: Oslo}\ninput: {}',
    says: ['7:12 subject.input: belongs to a subject with `pipeline`, but this one has `tool`'],
  },
  {
    title: 'a provider that is misspelt',
    yaml: 'chat: {provider: mian, messages: Hello.}',
    says: ['5:22 subject.chat.provider: no provider named mian is declared\n    hint: did you mean `main`?'],
  },
  {
    title: 'a chat without messages',
    yaml: 'chat: {provider: main}',
    says: ['5:5 subject.chat.messages: is required'],
  },
  {
    title: 'guardrails that are called the same',
    yaml: 'chat: {provider: main, messages: Hello., retries: 1, guardrails: [{eval: judge, action: monitor}, {eval: judge, action: monitor}]}',
    says: [
      '5:55 subject.chat.retries: needs a guardrail with `mode: enforce`: only such a guardrail causes a retry',
      '5:110 subject.chat.guardrails[1].eval: another guardrail of this chat is already named judge\n    hint: Give it an `id`: without one, its name is that of its eval.',
    ],
  },
  {
    title: 'a chat that sees the answer',
    yaml: "chat: {provider: main, messages: '${subject.text}'}",
    says: [
      '5:38 subject.chat.messages: `${subject.text}` is not a valid expression: Unknown variable: subject\n    hint: Expressions see the row as `case`, and the number of the epoch as `epoch`.',
    ],
  },
  {
    title: 'a pipeline that is not there',
    yaml: 'pipeline: none.pipeline.yaml',
    says: [
      '5:15 subject.pipeline: none.pipeline.yaml does not exist\n    hint: The path is relative to the folder of this file.',
    ],
  },
  {
    title: 'a pipeline with problems',
    yaml: 'pipeline: demo.pipeline.yaml',
    says: [
      '5:15 subject.pipeline: demo.pipeline.yaml:5:21 steps[0].tool: no tool named wether is declared\n    hint: did you mean `weather`?',
      '5:15 subject.pipeline: demo.pipeline.yaml:6:43 steps[1].args.city: `${inputt}` is not a valid expression: Unknown variable: inputt\n    hint: did you mean `input`?',
    ],
  },
  {
    title: 'a key that is misspelt',
    yaml: 'tool: weather\nargs: {city: Oslo}\ncaching: true',
    says: [
      '7:5 subject.caching: unknown key\n    hint: known keys: tool, args, chat, pipeline, input, variants, cache',
    ],
  },
])('$title is reported with its place', ({ yaml, says }) => {
  expect(problemsOf(yaml)).toEqual(says);
});

test('without its config only the suite itself is checked', () => {
  expect(problemsOf("tool: anything\nargs: {city: '${case.city}'}", false)).toEqual([]);
});

import { expect, test } from 'vitest';
import { config, folderOf, pipeline, run, suite } from './command-line.ts';

const long = 'a'.repeat(65);
const tool = (name: string) =>
  `tools: {"${name}": {description: d, input_schema: {type: object}, exec: {command: /bin/true}}}\n`;
const openai = 'providers: [{id: main, type: openai, model: m}]\n';
const evals = (eval_: string) => ({ file: suite(`cases: [{id: a, content: x}]\nevals: [${eval_}]\n`) });
const chat = (name: string, provider = 'main') => ({
  file: suite(
    `cases: [{id: a, q: x}]\nsubject: {chat: {provider: ${provider}, messages: "\${case.q}", tools: ["${name}"]}}\nevals: [{id: e, type: contains, params: {patterns: [x]}}]\n`,
  ),
});
const step = (name: string, provider = 'main') => ({
  file: pipeline(
    `runtime: runtime.yaml\nsteps: [{id: s, chat: {provider: ${provider}, messages: hi, tools: ["${name}"]}}]\n`,
  ),
  isPipeline: true,
});

const refused: readonly {
  title: string;
  spec: string;
  it: { readonly file: string; readonly isPipeline?: boolean };
  says: string;
}[] = [
  {
    title: 'a judge of a provider that is not declared',
    spec: openai,
    it: evals('{id: e, type: llm_judge, params: {criteria: good, provider: mian}}'),
    says: 'provider: no provider named mian is declared',
  },
  {
    title: 'a judge where there is no provider',
    spec: '',
    it: evals('{id: e, type: llm_judge, params: {criteria: good}}'),
    says: 'no model can judge: no provider is declared',
  },
  {
    title: 'a judge where several providers could be meant',
    spec: 'providers: [{id: one, type: openai, model: m}, {id: two, type: openai, model: m}]\n',
    it: evals('{id: e, not: {type: llm_judge, params: {criteria: good}}}'),
    says: 'no model can judge: several providers are declared',
  },
  {
    title: 'a judge of a provider that embeds',
    spec: 'providers: [{id: embed, type: openai, model: m, role: embedding}]\n',
    it: evals('{id: e, type: factuality, params: {reference: y, provider: embed}}'),
    says: 'the provider embed cannot be used: its role is embedding',
  },
  {
    title: 'a comparison of embeddings by a provider that answers',
    spec: openai,
    it: evals('{id: e, type: similarity, params: {reference: y, embedding_provider: main}}'),
    says: 'the provider main cannot be used: its role is not embedding',
  },
  {
    title: 'a comparison of embeddings that nothing makes',
    spec: openai,
    it: evals('{id: e, type: similarity, params: {reference: y}}'),
    says: 'nothing can embed texts: no provider has the role embedding',
  },
  {
    title: 'a judge in a pipeline',
    spec: openai,
    it: {
      file: pipeline(
        'runtime: runtime.yaml\nsteps: [{id: s, eval: llm_judge, content: hi, params: {criteria: good, provider: mian}}]\n',
      ),
      isPipeline: true,
    },
    says: 'no provider named mian is declared',
  },
  ...[
    { type: 'openai', name: 'look.up' },
    { type: 'openai', name: long },
    { type: 'anthropic', name: 'look up' },
    { type: 'claude', name: 'é' },
    { type: 'gemini', name: '1st' },
  ].flatMap(({ type, name }) =>
    [chat(name), step(name)].map((it) => ({
      title: `a tool named ${name} for ${type}${'isPipeline' in it ? ' in a pipeline' : ''}`,
      spec: `providers: [{id: main, type: ${type}, model: m}]\n${tool(name)}`,
      it,
      says: `the provider main (${type}) refuses a tool named ${name}`,
    })),
  ),
  {
    title: 'a name of a tool that only the fallback refuses',
    spec: `providers: [{id: first, type: ollama, model: m, fallback: [main]}, {id: main, type: openai, model: m}]\n${tool('look.up')}`,
    it: chat('look.up', 'first'),
    says: 'the provider main (openai) refuses a tool named look.up',
  },
];

test.each(refused)('$title: refused by validate, and before the first call', async ({ spec, it, says }) => {
  const name = it.isPipeline ? 'p.pipeline.yaml' : 'p.suite.yaml';
  const cwd = folderOf({ 'runtime.yaml': config(`state_store: {type: memory}\n${spec}`), [name]: it.file });
  const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  const validated = await run(['validate', name], { cwd, env });
  expect(validated).toMatchObject({ code: 2, stdout: expect.stringContaining(says) });
  expect(validated.stdout).toMatch(/^p\.\w+\.yaml:\d+:\d+ /);
  const ran = await run(it.isPipeline ? ['run', name] : ['eval', 'run', name], { cwd, env });
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
});

const accepted = [
  { title: 'a name of 64 characters for openai', type: 'openai', name: long.slice(1) },
  { title: 'a name of 65 characters for anthropic', type: 'anthropic', name: long },
  { title: 'a dot for gemini', type: 'gemini', name: 'look.up' },
  {
    title: 'another server’s own rules',
    type: 'openai',
    name: 'look.up',
    more: ', base_url: "http://localhost:1"',
  },
  { title: 'an API whose rule nobody states', type: 'vllm', name: 'look up' },
];

test.each(accepted)('$title is accepted', async ({ type, name, more = '' }) => {
  const cwd = folderOf({
    'runtime.yaml': config(`providers: [{id: main, type: ${type}, model: m${more}}]\n${tool(name)}`),
    'p.suite.yaml': chat(name).file,
    'p.pipeline.yaml': step(name).file,
  });
  expect(await run('validate p.suite.yaml p.pipeline.yaml', { cwd })).toMatchObject({ code: 0 });
});

test('a provider from the command line must meet its rules for tool names', async () => {
  const providers =
    'providers: [{id: own, type: mock, model: m, additional_config: {responses: [{text: x}]}}, {id: main, type: openai, model: m}]\n';
  const cwd = folderOf({
    'runtime.yaml': config(`state_store: {type: memory}\n${providers}${tool('look.up')}`),
    'p.suite.yaml': chat('look.up', 'own').file,
  });
  const env = { OPENAI_API_KEY: 'k' };
  expect(await run('eval run p.suite.yaml', { cwd, env })).toMatchObject({ code: 0 });
  const other = await run('eval run p.suite.yaml --provider own,main', { cwd, env });
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('refuses a tool named look.up') });
});

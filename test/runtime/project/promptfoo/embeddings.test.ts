import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { validateFile } from '../../../../src/runtime/validate-file.ts';
import { importPromptfoo } from '../../../../src/suites/import/import-suite.ts';
import { configFolder, imported, told, written } from './importing.ts';

const configOf = (assertion: string, defaults = '{}') => `prompts: ['Say {{word}}.']
providers: [echo]
defaultTest: ${defaults}
tests:
  - vars: {word: a.b}
    assert:
      - ${assertion}
`;

async function carried(config: string) {
  const result = await imported(config);
  return {
    told: told(result),
    evals: written(result, 'promptfoo.suite.yaml')?.spec.evals,
    providers: written(result, 'runtime.yaml')?.spec.providers.slice(1),
  };
}

const openai = { id: 'embed', type: 'openai', model: 'text-embedding-3-small', role: 'embedding' };
const near = (expected: unknown, least = 0.75, provider = 'embed') => ({
  type: 'similarity',
  params: { expected, provider },
  threshold: { min_score: least },
});

test('similar becomes similarity, with the same model and threshold [DS-PROMPTFOO-01]', async () => {
  expect(await carried(configOf("{type: similar, value: 'near {{word}}'}"))).toEqual({
    told: [],
    evals: [{ id: 'similar', ...near('near a.b') }],
    providers: [openai],
  });
});

const forms = [
  {
    title: 'several texts, of which one must be near',
    assertion: '{type: "similar:cosine", value: [one, two], threshold: 0.6}',
    found: near(['one', 'two'], 0.6),
  },
  {
    title: 'turned round',
    assertion: '{type: not-similar, value: one}',
    found: { not: near('one') },
  },
  {
    title: 'turned round with several texts, of which one must be far',
    assertion: '{type: not-similar, value: [one, two]}',
    found: { not: { all_of: [near('one'), near('two')] } },
  },
  {
    title: 'a model of the assertion',
    assertion: '{type: similar, value: one, provider: "ollama:embeddings:nomic-embed-text"}',
    found: near('one', 0.75, 'embed-ollama-embeddings-nomic-embed-text'),
  },
];

test.each(forms)('$title [DS-PROMPTFOO-01]', async ({ assertion, found }) => {
  const { evals, told: problems } = await carried(configOf(assertion));
  expect(problems).toEqual([]);
  expect(evals).toEqual([{ id: expect.any(String), ...found }]);
});

const providers = [
  {
    title: 'of all tests, with its settings',
    defaults:
      '{options: {provider: {embedding: {id: "openai:embedding:big", config: {apiKeyEnvar: MY_KEY, dimensions: 64}}}}}',
    found: {
      ...openai,
      model: 'big',
      credential: { credential_env: 'MY_KEY' },
      additional_config: { dimensions: 64 },
    },
  },
  {
    title: 'of another maker',
    defaults: '{options: {provider: {embedding: "mistral:embedding:mistral-embed"}}}',
    found: {
      ...openai,
      type: 'openai-compatible',
      model: 'mistral-embed',
      base_url: 'https://api.mistral.ai/v1',
      credential: { credential_env: 'MISTRAL_API_KEY' },
    },
  },
  {
    title: 'of Google',
    defaults: '{options: {provider: "google:embedding:gemini-embedding-001"}}',
    found: { ...openai, type: 'gemini', model: 'gemini-embedding-001' },
  },
  {
    title: 'of promptfoo, where a model that only answers is named',
    defaults: '{options: {provider: "openai:gpt-4o"}}',
    found: openai,
  },
];

test.each(providers)('the embeddings provider $title [DS-PROMPTFOO-01]', async ({ defaults, found }) => {
  const result = await carried(configOf('{type: similar, value: one}', defaults));
  expect(result).toEqual({ told: [], evals: [{ id: 'similar', ...near('one') }], providers: [found] });
});

test('answer-relevance has a judge, an embeddings provider, and the prompt if there is no query [DS-PROMPTFOO-01]', async () => {
  const defaults = '{options: {provider: {embedding: "openai:embedding:big"}}}';
  const {
    evals,
    providers: models,
    told: problems,
  } = await carried(configOf('{type: answer-relevance}', defaults));
  expect(problems).toEqual([expect.stringContaining('the question is the prompt')]);
  expect(evals).toEqual([
    {
      id: 'answer-relevance',
      type: 'answer_relevance',
      params: { provider: 'judge', embedding_provider: 'embed' },
      threshold: { min_score: 0 },
    },
  ]);
  expect(models).toEqual([
    expect.objectContaining({ id: 'judge', model: 'gpt-4.1' }),
    { ...openai, model: 'big' },
  ]);
});

test('a key of an embeddings provider is named, and never written [DS-PROMPTFOO-03]', async () => {
  const defaults =
    '{options: {provider: {embedding: {id: "openai:embedding:big", config: {apiKey: sk-secret, organization: sk-secret}}}}}';
  const result = await imported(configOf('{type: similar, value: one}', defaults));
  expect(JSON.stringify(result)).not.toContain('sk-secret');
  expect(told(result)).toEqual([
    expect.stringContaining('warning: the API key is left out'),
    expect.stringContaining('an embeddings provider with the setting `organization` is left out'),
    expect.stringContaining('`similar` is left out, because its embeddings provider is not imported'),
  ]);
});

const leftOut = [
  { assertion: '{type: "similar:dot", value: a}', message: '`similar:dot` is left out' },
  { assertion: '{type: "similar:euclidean", value: a}', message: '`similar:euclidean` is left out' },
  { assertion: '{type: similar}', message: '`similar` without a text' },
  { assertion: '{type: similar, value: []}', message: '`similar` without a text' },
  { assertion: '{type: similar, value: a, transform: output.x}', message: 'on text that code has changed' },
  {
    assertion: '{type: similar, value: a, provider: "voyage:voyage-3"}',
    message: 'the embeddings provider `voyage:voyage-3` has no equivalent',
  },
];

test.each(leftOut)(
  '$assertion is reported, and nothing replaces it [DS-PROMPTFOO-02]',
  async ({ assertion, message }) => {
    const { evals, told: problems } = await carried(configOf(assertion));
    expect(problems).toContainEqual(expect.stringContaining(message));
    expect(evals).toEqual([{ id: 'answered', type: 'regex', params: { pattern: '^' } }]);
  },
);

test('suites with embeddings are valid', async () => {
  const folder = configFolder(`prompts: ['Say {{word}}.']
providers: [echo]
tests:
  - {vars: {word: a}, assert: [{type: similar, value: a}, {type: answer-relevance}]}
  - {vars: {word: b, query: q}, assert: [{type: not-similar, value: [a, b]}, {type: answer-relevance}]}
`);
  const output = join(folder, 'signalbox');
  mkdirSync(output);
  for (const { name, text } of (await importPromptfoo(join(folder, 'promptfooconfig.yaml'), output)).files)
    writeFileSync(join(output, name), text);
  for (const name of ['runtime.yaml', 'promptfoo.suite.yaml'])
    expect(await validateFile(join(output, name), join(output, 'runtime.yaml'))).toEqual([]);
});

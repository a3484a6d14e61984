import { expect, test } from 'vitest';
import { stringifyJson } from '../../../src/base/json/json.ts';
import type { ProviderConfig } from '../../../src/config/config.ts';
import { configText, native, promptkit, told } from '../told.ts';

function read(providers: string, apiVersion: string = native) {
  const { config, problems } = told(configText(apiVersion, `\nproviders:\n  ${providers}`));
  const found = config?.providers.map(({ position: _position, ...provider }) => provider);
  return { found, problems };
}

const bare = { headers: {}, credential: {}, defaults: {}, additionalConfig: {} };
const minimal = { ...bare, id: 'openai', type: 'openai', model: 'm' };

const readings: readonly {
  readonly title: string;
  readonly yaml: string;
  readonly provider: Omit<ProviderConfig, 'position'>;
}[] = [
  { title: 'is called by its type without an id', yaml: '{type: openai, model: m}', provider: minimal },
  {
    title: 'is read with everything it may say',
    yaml: `{id: main, type: claude, model: opus, base_url: 'http://127.0.0.1/v1', headers: {X-Team: 7, X-Beta: true},
     credential: {api_key: k, credential_file: keys/main, credential_env: KEY},
     defaults: {temperature: 0, top_p: 0.5, max_tokens: 64},
     pricing: {input_cost_per_1k: 0.003, output_cost_per_1k: 0.015}, request_timeout: 1m30s,
     additional_config: {responses: [{text: hi}]}}`,
    provider: {
      id: 'main',
      type: 'claude',
      model: 'opus',
      baseUrl: 'http://127.0.0.1/v1',
      headers: { 'X-Team': '7', 'X-Beta': 'true' },
      credential: { apiKey: 'k', file: 'keys/main', env: 'KEY' },
      defaults: { temperature: 0, topP: 0.5, maxTokens: 64 },
      pricing: { input: 0.003, output: 0.015 },
      requestTimeoutMs: 90_000,
      additionalConfig: { responses: [{ text: 'hi' }] },
    },
  },
  {
    title: 'may have a price on one side only',
    yaml: '{type: openai, model: m, pricing: {output_cost_per_1k: 1}}',
    provider: { ...minimal, pricing: { input: 0, output: 1 } },
  },
  {
    title: 'waits no longer than a timer can',
    yaml: '{type: openai, model: m, request_timeout: 365d}',
    provider: { ...minimal, requestTimeoutMs: 2_147_483_647 },
  },
  {
    title: 'may embed',
    yaml: '{type: openai, model: m, role: embedding}',
    provider: { ...minimal, role: 'embedding' },
  },
  {
    title: 'may have the role that every provider has',
    yaml: '{type: openai, model: m, role: llm}',
    provider: minimal,
  },
];

test.each(readings)('a provider $title', ({ yaml, provider }) => {
  expect(read(`- ${yaml}`)).toEqual({ found: [provider], problems: [] });
});

test.each([
  { title: 'a platform', key: 'platform: {type: bedrock}', refused: 'its platform bedrock is not supported' },
  { title: 'a platform without a type', key: 'platform: {}', refused: 'its platform is not supported' },
  {
    title: 'another role',
    key: 'role: tts',
    refused: 'its role is tts, and only llm and embedding are supported',
  },
])('a provider with $title is refused on use, in both versions', ({ key, refused }) => {
  const place = key.split(':', 1)[0];
  const expected = {
    found: [{ ...minimal, refused }],
    problems: [`warning 5:33 providers[0].${place}: the provider is refused when it is used: ${refused}`],
  };
  expect(read(`-  {type: openai, model: m, ${key}}`)).toEqual(expected);
  expect(read(`-  {type: openai, model: m, ${key}}`, promptkit)).toEqual(expected);
});

test('v1alpha1 uses the first of several providers with one id', () => {
  const { found } = read(
    '- {id: main, type: a, model: one}\n  - {type: main, model: two}\n  - {type: b, model: three}',
    promptkit,
  );
  expect(found?.map(({ id, model }) => [id, model])).toEqual([
    ['main', 'one'],
    ['b', 'three'],
  ]);
});

test('settings keep the digits of their numbers', () => {
  const { found } = read(
    '- {type: openai, model: m, additional_config: {seed: 12345678901234567890, list: [0.1]}}',
  );
  expect(stringifyJson(found?.[0]?.additionalConfig)).toBe('{"seed":12345678901234567890,"list":[0.1]}');
});

const chain = (...fallbacks: readonly string[]) =>
  fallbacks
    .map(
      (fallback, index) =>
        `{id: ${'abcd'[index]}, type: ollama, model: m${fallback === '' ? '' : `, fallback: ${fallback}`}}`,
    )
    .map((entry) => `- ${entry}`)
    .join('\n  ');

test('a provider’s fallbacks are tried in order, each followed by its own fallbacks', () => {
  const { found, problems } = read(chain('[b, d]', '[c]', '', ''));
  expect(problems).toEqual([]);
  expect(found?.map(({ fallback }) => fallback)).toEqual([['b', 'c', 'd'], ['c'], undefined, undefined]);
});

test.each([
  {
    title: 'nobody declares',
    yaml: chain('[bb]', ''),
    problems: [
      'error 5:50 providers[0].fallback[0]: references a provider not declared under spec.providers (got: bb) | did you mean `b`?',
    ],
  },
  {
    title: 'is itself',
    yaml: chain('[a]'),
    problems: [
      'error 5:50 providers[0].fallback[0]: leads back to the provider itself: a → a | A call reaches each provider once: remove the entry that closes the circle.',
    ],
  },
  {
    title: 'leads back',
    yaml: chain('[b]', '[c]', '[a]'),
    problems: [
      expect.stringContaining(
        'error 5:50 providers[0].fallback[0]: leads back to the provider itself: a → b → c → a',
      ),
      expect.stringContaining('error 6:50'),
      expect.stringContaining('error 7:50'),
    ],
  },
  {
    title: 'speaks another API than what the gateway offers [DS-UPSTREAM-07]',
    yaml: `- {id: a, type: ollama, model: m, fallback: [b]}\n  - {id: b, type: claude, model: m}\ngateway: {models: {x: {provider: a}}}`,
    problems: [
      'error 5:50 providers[0].fallback[0]: uses the API of Anthropic, but the gateway forwards calls of ollama unchanged | List only providers in spec.gateway.models whose fallbacks all use the same API. Another entry may call that API without a fallback.',
    ],
  },
  {
    title: 'no client of the gateway could speak to [DS-UPSTREAM-07]',
    yaml: `- {id: a, type: ollama, model: m, fallback: [b]}\n  - {id: b, type: gemini, model: m}\ngateway: {}`,
    problems: [
      expect.stringContaining(
        'error 5:50 providers[0].fallback[0]: uses no API that the gateway serves, but',
      ),
    ],
  },
  {
    title: 'leads to one of another API [DS-UPSTREAM-07]',
    yaml: `- {id: a, type: ollama, model: m, fallback: [b]}\n  - {id: b, type: mock, model: m, fallback: [c], additional_config: {responses: [{text: hi}]}}\n  - {id: c, type: claude, model: m}\ngateway: {models: {x: {provider: a}}}`,
    problems: [
      expect.stringContaining(
        'error 5:50 providers[0].fallback[0]: leads to c, which uses the API of Anthropic',
      ),
    ],
  },
  {
    title: 'would be sent the credential of a client [DS-UPSTREAM-07]',
    yaml: `${chain('[b]', '')}\ngateway: {pass_through: [authorization]}`,
    problems: [
      expect.stringContaining(
        'error 5:39 providers[0].fallback: cannot be used by a gateway with pass_through',
      ),
    ],
  },
])('a fallback that $title is an error at its place', ({ yaml, problems }) => {
  for (const version of [native, promptkit]) expect(read(yaml, version).problems).toEqual(problems);
});

test('a gateway uses fallbacks with the same API, and ignores those of providers that it does not offer', () => {
  expect(read(`${chain('[b]', '')}\ngateway: {}`).problems).toEqual([]);
  const anthropic =
    '- {id: a, type: claude, model: m, fallback: [b]}\n  - {id: b, type: anthropic, model: m}';
  expect(read(`${anthropic}\ngateway: {}`).problems).toEqual([]);
  const gemini =
    '- {id: a, type: gemini, model: m, fallback: [b]}\n  - {id: b, type: mock, model: m, additional_config: {responses: [{text: hi}]}}';
  expect(read(`${gemini}\ngateway: {}`).problems).toEqual([]);
  expect(read(`${chain('[b]', '')}\ngateway: {models: {x: {provider: b}}}`).problems).toEqual([]);
});

test.each([
  [
    'a type without embeddings',
    '- {type: claude, model: m, role: embedding}',
    /^warning 5:\d+ providers\[0\]\.role: .*claude has no embeddings/,
  ],
  ['a tool that is to answer', '- {type: tool, model: t}', /^warning .*must be embedding/],
  [
    'a tool that nobody declares',
    '- {type: tool, model: tt, role: embedding}\ntools: {t: {exec: {command: sh}}}',
    /error 5:\d+ providers\[0\]\.model: references a tool not declared .*did you mean `t`/,
  ],
  [
    'a fallback of another role',
    '- {id: a, type: ollama, model: m, fallback: [b]}\n  - {id: b, type: ollama, model: m, role: embedding}',
    /^error 5:\d+ providers\[0\]\.fallback\[0\]: the role of b is embedding, and that of a is llm/,
  ],
  [
    'a script of answers for one that embeds',
    '- {type: mock, model: m, role: embedding, additional_config: {responses: [{text: hi}]}}',
    /^error 5:\d+ providers\[0\]\.additional_config\.responses: unknown key/,
  ],
  [
    'an embedding without a vector',
    '- {type: mock, model: m, role: embedding, additional_config: {embeddings: [{text: hi}]}}',
    /^error 5:\d+ providers\[0\]\.additional_config\.embeddings\[0\]: needs either/,
  ],
])('%s is reported with its place [DS-EMBED-06]', (_title, yaml, told) => {
  expect(read(yaml).problems.join('\n')).toMatch(told);
});

import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { ProviderConfig } from '../../../src/config/config.ts';
import { openProvider } from '../../../src/models/open/open-provider.ts';
import type { HostEnv } from '../../../src/process/env.ts';
import { canary } from '../../canary.ts';
import { apiOf, apis, play } from '../apis.ts';
import { ask, declare, faultOf, openModel, textOf } from '../bench.ts';
import { openFake } from '../wire/fake.ts';

const key = { apiKey: canary };

const names = [
  { type: 'openai', provider: 'openai.responses' },
  { type: 'claude', provider: 'anthropic.messages' },
  { type: 'anthropic', provider: 'anthropic.messages' },
  { type: 'gemini', provider: 'google.generative-ai' },
  { type: 'google', provider: 'google.generative-ai' },
  { type: 'ollama', provider: 'ollama.chat' },
  { type: 'vllm', provider: 'vllm.chat' },
];

test.each(names)('the type $type is $provider', async ({ type, provider }) => {
  const model = await openModel({ type, model: 'm', credential: key });
  expect([model.specificationVersion, model.provider, model.modelId]).toStrictEqual(['v4', provider, 'm']);
});

const modes = [
  { title: 'OpenAI itself', fields: {}, provider: 'openai.responses' },
  {
    title: 'OpenAI by its address',
    fields: { baseUrl: 'https://api.openai.com' },
    provider: 'openai.responses',
  },
  { title: 'another address', fields: { baseUrl: 'http://127.0.0.1:1/v1' }, provider: 'openai.chat' },
  {
    title: 'o1-pro',
    fields: { model: 'o1-pro', baseUrl: 'http://127.0.0.1:1/v1' },
    provider: 'openai.responses',
  },
  ...['completions', 'chat_completions', 'legacy', 'Completions'].map((api_mode) => ({
    title: `api_mode ${api_mode}`,
    fields: { additionalConfig: { api_mode } },
    provider: 'openai.chat',
  })),
  {
    title: 'api_mode responses at another address',
    fields: { baseUrl: 'http://127.0.0.1:1/v1', additionalConfig: { api_mode: 'responses' } },
    provider: 'openai.responses',
  },
];

test.each(modes)('for $title the API is $provider', async ({ fields, provider }) => {
  const model = await openModel({ type: 'openai', credential: key, ...fields });
  expect(model.provider).toBe(provider);
});

const unusable: readonly {
  readonly title: string;
  readonly fields: Partial<ProviderConfig>;
  readonly says: string;
  readonly hint?: string;
}[] = [
  {
    title: 'a type that is misspelt',
    fields: { type: 'claud' },
    says: 'the type "claud" is not known',
    hint: 'did you mean `claude`?',
  },
  {
    title: 'a type that is not known',
    fields: { type: 'imagen' },
    says: 'the type "imagen" is not known',
    hint: 'known types: openai, claude, anthropic, gemini, google, ollama, vllm, openai-compatible, mock, replay, tool',
  },
  {
    title: 'a reason not to',
    fields: { refused: 'platform: not supported' },
    says: 'platform: not supported',
  },
  { title: 'no address', fields: { type: 'openai-compatible' }, says: 'openai-compatible needs a base_url' },
  {
    title: 'an address that is none',
    fields: { type: 'claude', baseUrl: 'api.anthropic.com' },
    says: 'base_url must be an http or https address',
  },
  {
    title: 'an address with a password',
    fields: { type: 'claude', baseUrl: 'http://a:b@localhost' },
    says: 'base_url must be an address without a user, a query or a fragment',
  },
  {
    title: 'a key with a line break',
    fields: { type: 'claude', credential: { apiKey: 'a\nb' } },
    says: 'its API key has characters that an HTTP header cannot carry',
  },
  {
    title: 'a header with a line break',
    fields: { type: 'claude', credential: key, headers: { 'x-team': 'a\nb' } },
    says: 'headers.x-team: has characters that a header cannot carry',
  },
  {
    title: 'a header without a name',
    fields: { type: 'claude', credential: key, headers: { 'x team': 'a' } },
    says: 'headers: "x team" is not a valid header name',
  },
  {
    title: 'an unknown api_mode',
    fields: { type: 'openai', credential: key, additionalConfig: { api_mode: 'chat' } },
    says: 'additional_config.api_mode must be one of: responses, completions, chat_completions, legacy',
  },
  {
    title: 'too many retries',
    fields: { type: 'openai', credential: key, additionalConfig: { max_retries: 11 } },
    says: 'additional_config.max_retries must be a whole number from 0 to 10',
  },
  {
    title: 'a wait in words',
    fields: { type: 'openai', credential: key, additionalConfig: { retry_base_ms: '5s' } },
    says: 'additional_config.retry_base_ms must be a whole number from 0 to 60000',
  },
];

test.each(unusable)('a provider with $title is unusable', async ({ fields, says, hint }) => {
  const thrown: unknown = await openModel(fields).then(undefined, (error: unknown) => error);
  expect(thrown).toMatchObject({
    code: 'PROVIDER_UNUSABLE',
    message: `provider "main": ${says}`,
    ...(hint && { hint }),
  });
});

const missing = [
  { type: 'openai', hint: 'Set OPENAI_API_KEY or OPENAI_TOKEN, or give the entry a `credential`.' },
  { type: 'claude', hint: 'Set ANTHROPIC_API_KEY or CLAUDE_API_KEY, or give the entry a `credential`.' },
  { type: 'gemini', hint: 'Set GEMINI_API_KEY or GOOGLE_API_KEY, or give the entry a `credential`.' },
];

test.each(missing)('$type without a key says which variable to set', async ({ type, hint }) => {
  const thrown: unknown = await openModel({ type }).then(undefined, (error: unknown) => error);
  expect(thrown).toMatchObject({
    code: 'PROVIDER_UNUSABLE',
    message: `provider "main": ${type} needs an API key`,
    hint,
  });
});

async function sentKey(credential: ProviderConfig['credential'], env: HostEnv = {}, type = 'openai') {
  const fake = await openFake('openai', [{ text: 'ok' }]);
  onTestFinished(() => fake.close());
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  await writeFile(join(folder, 'key.txt'), '  key-of-the-file\n');
  await writeFile(join(folder, 'empty.txt'), '\n');
  const model = await openModel({ type, baseUrl: fake.url, credential }, { env, folder });
  await textOf(model, ask('hi'));
  return fake.requests[0]?.headers['authorization'];
}

const env = { TEAM_KEY: 'key-of-the-team ', OPENAI_API_KEY: 'usual', OPENAI_TOKEN: 'other', BLANK: ' ' };

const sources = [
  {
    title: 'api_key before all',
    credential: { apiKey: 'own', file: 'key.txt', env: 'TEAM_KEY' },
    sends: 'own',
  },
  {
    title: 'credential_file before the environment',
    credential: { file: 'key.txt', env: 'TEAM_KEY' },
    sends: 'key-of-the-file',
  },
  {
    title: 'credential_env before the usual variables',
    credential: { env: 'TEAM_KEY' },
    sends: 'key-of-the-team',
  },
  { title: 'the first usual variable', credential: {}, sends: 'usual' },
  { title: 'an empty api_key, which is none', credential: { apiKey: '' }, sends: 'usual' },
];

test.each(sources)('the key is $title', async ({ credential, sends }) => {
  expect(await sentKey(credential, env)).toBe(`Bearer ${sends}`);
});

test('the second usual variable counts when the first is blank', async () => {
  expect(await sentKey({}, { OPENAI_API_KEY: '  ', OPENAI_TOKEN: 'other' })).toBe('Bearer other');
});

test.each(['ollama', 'vllm', 'openai-compatible'])('%s needs no key, and gets none', async (type) => {
  expect(await sentKey({}, env, type)).toBeUndefined();
});

test.each(['ollama', 'vllm', 'openai-compatible'])('%s gets an existing key', async (type) => {
  expect(await sentKey({ env: 'TEAM_KEY' }, env, type)).toBe('Bearer key-of-the-team');
});

const lost = [
  {
    title: 'a variable that is not set',
    credential: { env: 'NONE' },
    says: 'the environment variable NONE is not set',
  },
  {
    title: 'a blank variable',
    credential: { env: 'BLANK' },
    says: 'the environment variable BLANK is not set',
  },
  {
    title: 'a file that is not there',
    credential: { file: 'none.txt' },
    says: 'its credential_file cannot be read',
  },
  { title: 'an empty file', credential: { file: 'empty.txt' }, says: 'its credential_file' },
];

test.each(lost)('$title is reported, and no other key replaces it', async ({ credential, says }) => {
  for (const type of ['openai', 'ollama']) {
    const fault = await faultOf(sentKey(credential, env, type));
    expect(fault.code).toBe('PROVIDER_UNUSABLE');
    expect(fault.message).toContain(says);
  }
});

test('the environment of the process is not read', async () => {
  const evil = {
    OPENAI_API_KEY: 'evil',
    OPENAI_BASE_URL: 'http://127.0.0.1:1/evil',
    ANTHROPIC_API_KEY: 'evil',
    ANTHROPIC_AUTH_TOKEN: 'evil',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/evil',
    GOOGLE_GENERATIVE_AI_API_KEY: 'evil',
    GEMINI_API_KEY: 'evil',
  };
  const before = { ...process.env };
  Object.assign(process.env, evil);
  onTestFinished(() => {
    for (const name of Object.keys(evil)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  for (const type of ['openai', 'claude', 'gemini']) {
    expect((await faultOf(openModel({ type }))).message).toBe(`provider "main": ${type} needs an API key`);
  }
  for (const api of apis) {
    const { model, fake } = await play(api, [{ text: 'ok' }]);
    await textOf(model, ask('hi'));
    expect(JSON.stringify(fake.requests)).not.toContain('evil');
  }
  const compatible = await play(apiOf('openai-compatible'), [{ text: 'ok' }], { credential: {} });
  await textOf(compatible.model, ask('hi'));
  expect(compatible.fake.requests[0]?.headers['authorization']).toBeUndefined();
});

const paths = [
  { type: 'ollama', path: '', sends: '/v1/chat/completions' },
  { type: 'ollama', path: '/v1', sends: '/v1/chat/completions' },
  { type: 'vllm', path: '/', sends: '/v1/chat/completions' },
  { type: 'vllm', path: '/team/v1/', sends: '/team/v1/chat/completions' },
  { type: 'openai-compatible', path: '/api', sends: '/api/chat/completions' },
  { type: 'openai', path: '', sends: '/chat/completions' },
  { type: 'claude', path: '', sends: '/v1/messages' },
  { type: 'claude', path: '/anthropic', sends: '/anthropic/messages' },
  { type: 'gemini', path: '/v1beta', sends: '/v1beta/models/m:generateContent' },
];

test.each(paths)('a base_url of $type that ends in "$path" sends $sends', async ({ type, path, sends }) => {
  const fake = await openFake('openai', [{ fault: { kind: 'status', status: 404 } }]);
  onTestFinished(() => fake.close());
  const baseUrl = fake.url.replace(/\/v1$/, path);
  await faultOf((await openModel({ type, model: 'm', baseUrl, credential: key })).doGenerate(ask('hi')));
  expect(fake.requests.map((request) => request.path)).toStrictEqual([sends]);
});

test('nothing is read before the first request for the model, and later ones return the same model', async () => {
  const provider = openProvider(declare({ type: 'claude', model: 'm', credential: { env: 'LATER' } }), {
    env: {
      get LATER() {
        reads += 1;
        return reads === 1 ? undefined : 'key';
      },
    },
    folder: '/nowhere',
  });
  let reads = 0;
  expect([provider.id, provider.modelName, reads]).toStrictEqual(['main', 'm', 0]);
  expect((await faultOf(provider.model())).code).toBe('PROVIDER_UNUSABLE');
  const [first, second] = await Promise.all([provider.model(), provider.model()]);
  expect(first).toBe(second);
  expect(reads).toBe(2);
});

const imported = [
  { fields: { type: 'mock', additionalConfig: { responses: [{ text: 'ok' }] } }, packages: [] },
  { fields: { type: 'claude', credential: key }, packages: ['@ai-sdk/anthropic'] },
  { fields: { type: 'openai', credential: key }, packages: ['@ai-sdk/openai'] },
  { fields: { type: 'gemini', credential: key }, packages: ['@ai-sdk/google'] },
  { fields: { type: 'ollama' }, packages: ['@ai-sdk/openai-compatible'] },
];

test.each(imported)('$fields.type imports $packages', async ({ fields, packages }) => {
  const open = new URL('../../../src/models/open/open-provider.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const seen = [];
    const note = (specifier, context, next) => {
      if (/^@ai-sdk\\/(openai|anthropic|google|openai-compatible)$/.test(specifier)) seen.push(specifier);
      return next(specifier, context);
    };
    registerHooks({ resolve: note });
    const { openProvider } = await import(${JSON.stringify(open)});
    const config = ${JSON.stringify(declare(fields))};
    await openProvider(config, { env: {}, folder: '/' }).model();
    console.log(JSON.stringify(seen));
  `;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  expect(JSON.parse(stdout)).toStrictEqual(packages);
});

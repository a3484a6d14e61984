import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../../src/config/config.ts';
import { replaceMock } from '../../../src/models/open/mock-replacement.ts';

const mock: ProviderConfig = {
  id: 'main',
  type: 'mock',
  model: 'scripted',
  headers: {},
  credential: { env: 'DESK_KEY' },
  defaults: { temperature: 0 },
  additionalConfig: { replaced_by_env: 'DESK_URL', responses: [{ text: 'Hello.' }] },
  position: { file: 'runtime.yaml', line: 4, column: 7 },
};

test.each([
  { title: 'without the variable', env: {} },
  { title: 'with an empty variable', env: { DESK_URL: '' } },
])('a mock answers $title', ({ env }) => {
  expect(replaceMock(mock, env)).toBe(mock);
});

test('a mock without replaced_by_env, and a provider of another type, are unchanged', () => {
  const env = { DESK_URL: 'http://localhost:1/v1' };
  const plain = { ...mock, additionalConfig: {} };
  const other = { ...mock, type: 'openai' };
  expect([replaceMock(plain, env), replaceMock(other, env)]).toEqual([plain, other]);
});

test('the endpoint in the variable replaces it, with its model and any key', () => {
  const env = { DESK_URL: 'http://localhost:11434/v1/#llama3.1%20mini', DESK_KEY: 'secret' };
  expect(replaceMock(mock, env)).toEqual({
    ...mock,
    type: 'openai-compatible',
    baseUrl: 'http://localhost:11434/v1',
    model: 'llama3.1 mini',
    additionalConfig: {},
  });
});

test('an address without a model name uses the entry’s model, and an unset key is not sent', () => {
  const { model, credential } = replaceMock(mock, { DESK_URL: 'https://models.example.org/v1' });
  expect({ model, credential }).toEqual({ model: 'scripted', credential: {} });
});

test.each(['llama', 'ftp://host/v1', 'localhost:11434'])('%s is no address', (place) => {
  expect(() => replaceMock(mock, { DESK_URL: place })).toThrow(
    expect.objectContaining({ code: 'PROVIDER_UNUSABLE' }),
  );
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isObject } from '../../src/base/json/json.ts';
import { mockSchema } from '../../src/config/mock-responses.ts';
import { providerKinds } from '../../src/models/open/provider-kinds.ts';
import { ask, declare, openModel, textOf } from './bench.ts';

const page = readFileSync(new URL('../../docs/reference/providers.md', import.meta.url), 'utf8');

function rowsOf(title: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${title} |`)) + 2;
  const rows = lines.slice(start, lines.indexOf('', start));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function wordsOf(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

test('the page has every type, with its address and its variables', () => {
  const told = rowsOf('type').flatMap(([types, , address, key]) =>
    wordsOf(types).map((type) => [type, wordsOf(address)[0], wordsOf(key)]),
  );
  const known = [...providerKinds].map(([type, kind]) => [
    type,
    type === 'openai-compatible' ? undefined : kind.baseUrl(declare({ type })),
    kind.keyVariables,
  ]);
  expect(told).toStrictEqual([
    ...known,
    ['mock', undefined, []],
    ['replay', undefined, []],
    ['tool', undefined, []],
  ]);
});

test('the page has every key of a scripted response', () => {
  const keys = Object.keys(mockSchema.properties.responses.items.properties);
  expect(
    rowsOf('key')
      .flatMap(([key]) => wordsOf(key))
      .toSorted(),
  ).toStrictEqual(keys.toSorted());
});

const entries = [...page.matchAll(/```yaml\n(.*?)```/gs)]
  .flatMap(([, text = '']): unknown[] => parse(text).spec.providers)
  .filter(isObject)
  .filter(({ type }) => type !== 'replay')
  .map((entry) => ({
    id: String(entry['id']),
    type: String(entry['type']),
    model: String(entry['model']),
    additionalConfig: isObject(entry['additional_config']) ? entry['additional_config'] : {},
  }));

test.each(entries)('the entry $id of the type $type can be used', async (entry) => {
  const env = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' };
  expect((await openModel(entry, { env })).modelId).toBe(entry.model);
});

test('the script of the page behaves as documented', async () => {
  const script = entries.find(({ type }) => type === 'mock') ?? {};
  const model = await openModel(script);
  const answer = await model.doGenerate(ask('a refund, please'));
  expect(answer.content).toStrictEqual([
    { type: 'text', text: 'Let me look.' },
    {
      type: 'tool-call',
      toolCallId: 'call_1_1',
      toolName: 'lookup',
      input: '{"order":1042,"asked":"a refund, please"}',
    },
  ]);
  expect(await textOf(model, ask('hello'))).toBe('I have nothing to add.');
});

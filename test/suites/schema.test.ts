import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isObject } from '../../src/base/json/json.ts';
import { suiteSchema } from '../../src/suites/file/schema.ts';

test('the published copy equals this schema', () => {
  const published = readFileSync(new URL('../../schema/suite.schema.json', import.meta.url), 'utf8');
  expect(published).toBe(`${JSON.stringify(suiteSchema, null, 2)}\n`);
});

test('every key is described', () => {
  expect(undescribed(suiteSchema, '')).toEqual([]);
});

test('every mapping with known keys rejects others', () => {
  // A message may have any other member.
  expect(openMappings(suiteSchema, '')).toEqual([
    '.spec.subject.chat.messages[]',
    '.spec.subject.chat.prompts[].messages[]',
    '.spec.subject.variants[].chat.messages[]',
  ]);
});

function undescribed(schema: unknown, path: string): string[] {
  return propertiesOf(schema).flatMap(([key, property]) => {
    const here = `${path}.${key}`;
    const missing = isObject(property) && typeof property['description'] === 'string' ? [] : [here];
    return [...missing, ...undescribed(property, here), ...undescribed(itemsOf(property), here)];
  });
}

function openMappings(schema: unknown, path: string): string[] {
  const properties = propertiesOf(schema);
  const isOpen = properties.length > 0 && isObject(schema) && schema['additionalProperties'] !== false;
  const inner = properties.flatMap(([key, property]) => [
    ...openMappings(property, `${path}.${key}`),
    ...openMappings(itemsOf(property), `${path}.${key}[]`),
  ]);
  return isOpen ? [path, ...inner] : inner;
}

function propertiesOf(schema: unknown): [string, unknown][] {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) ? Object.entries(properties) : [];
}

function itemsOf(schema: unknown): unknown {
  return isObject(schema) ? schema['items'] : undefined;
}

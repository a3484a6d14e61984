import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { folder, write } from './told.ts';

const samples = ['promptkit-page.yaml', 'ten-mistakes.yaml']
  .map((name) => readFileSync(join(import.meta.dirname, '../fixtures/config', name), 'utf8'))
  .concat(readFileSync(join(import.meta.dirname, '../../runtime.yaml.example'), 'utf8'));

/** Every file gives a config or an error, and every problem points into the file. */
function holds(text: string | Uint8Array): void {
  const { config, problems } = loadConfig(write('fuzz.yaml', text), folder);
  const lines = text.length + 1;
  expect(config === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
  expect(problems.filter(({ line, column }) => !(line >= 1 && line <= lines && column >= 1))).toEqual([]);
  expect(problems.filter(({ message }) => message === '' || /undefined|\[object|NaN:/.test(message))).toEqual(
    [],
  );
}

test('any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => holds(bytes)),
    { numRuns: 300 },
  );
});

test('any text made of YAML’s characters', () => {
  const letters = fc.constantFrom(
    ...'ab1:-[]{},&*!|>#"\'?%@`\n\t ~<.\\\0é'.split(''),
    '  ',
    '\n  ',
    'spec:',
    '<<: ',
    '*a',
    '&a ',
    '---\n',
    'kind: RuntimeConfig\n',
  );
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 60 }), (parts) => holds(parts.join(''))),
    { numRuns: 500 },
  );
});

test('valid files with parts removed, doubled or replaced', () => {
  const piece = fc.constantFrom(
    '',
    '~',
    '[]',
    '{}',
    '5',
    '-1.5',
    '"x"',
    ':',
    '- ',
    '\n',
    '*a',
    '&a ',
    '!!binary ',
    '\0',
    '.inf',
    '"\\0"',
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
    { numRuns: 400 },
  );
});

test('any value in place of any value', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('exec', 'server', 'tool', 'session', 'filter', 'a\0b'),
  );
  const key = fc.constantFrom(
    'command',
    'args',
    'env',
    'hook',
    'phases',
    'mode',
    'runtime',
    'timeout_ms',
    'sandbox',
    'cwd',
    'dialect',
    'exec',
    'input_schema',
    'instances',
    'approval',
    'when',
    'expires',
    'idempotent',
    'type',
    'model',
    'path',
    'request_timeout',
    'toString',
    '__proto__',
  );
  const entry = fc.oneof(value, fc.dictionary(key, value, { maxKeys: 6 }));
  const section = fc.oneof(
    value,
    fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__', ''), entry, { maxKeys: 3 }),
  );
  const names = [
    'tools',
    'evals',
    'hooks',
    'sandboxes',
    'providers',
    'state_store',
    'logging',
    'defaults',
    'selectors',
    'skills',
    'tool_selector',
    'concurrency',
  ] as const;
  const spec = fc.dictionary(fc.constantFrom(...names), section, { maxKeys: 5 });
  const version = fc.constantFrom('signalbox/v1', 'promptkit.altairalabs.ai/v1alpha1');
  fc.assert(
    fc.property(version, fc.oneof(spec, value), (apiVersion, chosen) =>
      holds(JSON.stringify({ apiVersion, kind: 'RuntimeConfig', metadata: {}, spec: chosen })),
    ),
    { numRuns: 600 },
  );
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { findOrigins } from '../../src/config/overlay/origins.ts';
import { folder, line, searchPath, write } from './told.ts';

const base = write(
  'base.yaml',
  `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  concurrency: 4
  providers:
    - {id: main, type: openai, model: small, headers: {A: one, B: two}}
    - {id: spare, type: openai, model: other}
  tools:
    look: {description: d, exec: {command: cat, args: [-n, -s]}}
  hooks:
    watch: {command: cat, dialect: promptkit, hook: tool, mode: observe}
`,
);

function load(...texts: readonly string[]) {
  const overlays = texts.map((text, index) => write(`over-${index}.yaml`, text));
  const { config, problems } = loadConfig(base, searchPath, { overlays, env: { MODEL: 'large-model' } });
  return { config, problems: problems.map((each) => `${each.file.slice(folder.length + 1)} ${line(each)}`) };
}

describe('a file that overrides a RuntimeConfig', () => {
  test('wins key by key, and provider by provider [DS-OVERLAY-01]', () => {
    const { config, problems } = load(
      'spec: {concurrency: 8, providers: [{id: main, model: "${env:MODEL}", headers: {B: three}}]}',
      'spec: {providers: [{id: third, type: openai, model: m}], tools: {look: {exec: {args: [-e]}}}}',
    );
    expect({
      concurrency: config?.concurrency,
      providers: config?.providers.map(({ id, model, headers }) => [id, model, headers]),
      args: config?.tools[0]?.exec?.args,
      hooks: config?.hooks.map(({ name }) => name),
      problems,
    }).toEqual({
      concurrency: 8,
      providers: [
        ['main', 'large-model', { A: 'one', B: 'three' }],
        ['spare', 'other', {}],
        ['third', 'm', {}],
      ],
      args: ['-e'],
      hooks: ['watch'],
      problems: [],
    });
  });

  test('removes a key with null, and adds hooks after those of the first [DS-OVERLAY-02]', () => {
    const added = 'added: {command: cat, dialect: promptkit, hook: tool}';
    const { config } = load(`spec: {concurrency: null, hooks: {${added}}}`);
    expect({ concurrency: config?.concurrency, hooks: config?.hooks.map(({ name }) => name) }).toEqual({
      concurrency: undefined,
      hooks: ['watch', 'added'],
    });
    expect(load('spec: {hooks: {watch: null}}').config?.hooks).toEqual([]);
  });

  test('has its problems at its own place, and those of the first at that file’s [DS-OVERLAY-03]', () => {
    const { problems } = load(
      'spec:\n  concurrency: none\n  toolz: {}\n  providers:\n    - {id: spare, tpye: x}\n',
    );
    expect(problems).toEqual([
      'over-0.yaml error 2:16 concurrency: must be a whole number, not the string "none"',
      'over-0.yaml error 3:3 toolz: unknown key | did you mean `tools`?',
      'over-0.yaml error 5:19 providers[1].tpye: unknown key | did you mean `type`?',
    ]);
    expect(load('spec: {providers: [{id: new}]}').problems.map((each) => each.split(':')[0])).toEqual(
      expect.arrayContaining(['over-0.yaml error 1']),
    );
    expect(load('spec: [').problems[0]).toMatch(/^over-0.yaml error 1:/);
  });

  test('is distinguished value by value, and no value is shown [DS-OVERLAY-04]', () => {
    const over = write('over.yaml', 'spec:\n  providers: [{id: main, model: "${env:MODEL}"}]\n');
    const origins = findOrigins(base, { overlays: [over], env: { MODEL: 'large-model' }, folder });
    const told = origins.map(({ path, file, line: row, column, variables }) =>
      [path, `${file.slice(folder.length + 1)}:${row}:${column}`, ...variables].join(' '),
    );
    expect(told).toContain('concurrency base.yaml:4:16');
    expect(told).toContain('providers[0].model over.yaml:2:33 MODEL');
    expect(told).toContain('providers[0].headers[B] base.yaml:6:67');
    expect(JSON.stringify(origins)).not.toContain('large-model');
  });

  test('may be one of many, and a missing one is reported', () => {
    const many = Array.from({ length: 300 }, (_, index) => `spec: {concurrency: ${index + 1}}`);
    expect(load(...many).config?.concurrency).toBe(300);
    expect(() => loadConfig(base, searchPath, { overlays: [join(folder, 'none.yaml')] })).toThrow(
      expect.objectContaining({ code: 'FILE_UNREADABLE' }),
    );
  });
});

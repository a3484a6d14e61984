import { expect, test } from 'vitest';
import { parseDocument } from '../../src/base/yaml/document.ts';
import { checkLimits } from '../../src/config/references.ts';
import { resolveExec } from '../../src/runtime/binding/resolve.ts';
import { configText, native, promptkit, told } from './told.ts';

function problemsOf(limits: string, apiVersion: string = native): string[] {
  const spec = `\nevals:\n  x: {command: sh, ${limits}}`;
  return told(configText(apiVersion, spec)).problems.map((problem) => problem.replace(/ \|.*/s, ''));
}

const wrong = [
  { limits: 'limits: {memory: 5}', says: 'unknown key' },
  { limits: 'limits: {memory_mb: 0}', says: 'must be' },
  { limits: 'limits: {cpu_seconds: -1}', says: 'must be' },
  { limits: 'limits: {open_files: 1.5}', says: 'must be' },
  { limits: 'limits: {processes: many}', says: 'must be' },
  { limits: 'limits: {file_size_mb: "64"}', says: 'must be' },
  { limits: 'limits: {memory_mb: 9007199254740993}', says: 'must be' },
  { limits: 'limits: {memory_mb: null}', says: 'must be' },
  { limits: 'limits: 512', says: 'must be' },
  { limits: 'nice: 20', says: 'must be' },
  { limits: 'nice: -1', says: 'must be' },
];

test.each(wrong.flatMap((each) => [native, promptkit].map((apiVersion) => ({ ...each, apiVersion }))))(
  '$limits is an error in $apiVersion [DS-LIM-11]',
  ({ limits, says, apiVersion }) => {
    const problems = problemsOf(limits, apiVersion);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^error /);
    expect(problems[0]).toContain(says);
  },
);

test('in_flight_mb is a whole number of MiB', () => {
  const load = (value: string) => told(configText(native, `\nin_flight_mb: ${value}`));
  expect(load('64').config?.inFlightMb).toBe(64);
  for (const value of ['0', '-1', '1.5', 'much']) expect(load(value).problems[0]).toMatch(/^error /);
});

test('a limit that only Linux can count is an error elsewhere', () => {
  const text = configText(
    native,
    '\nevals:\n  x: {command: sh, limits: {memory_mb: 1, processes: 1, open_files: 9}}',
  );
  const document = parseDocument('runtime.yaml', text);
  const path = ['spec', 'evals', 'x'];
  expect(checkLimits(document, path, 'linux')).toEqual([]);
  expect(checkLimits(document, path, 'darwin').map(({ path: at }) => at.at(-1))).toEqual([
    'memory_mb',
    'processes',
  ]);
});

test('an entry’s members override those of spec.defaults one by one [DS-LIM-10]', () => {
  const spec = [
    '',
    'defaults: {limits: {memory_mb: 512, open_files: 64}, nice: 5}',
    'tools:',
    '  own: {exec: {command: sh, limits: {open_files: 128, processes: 4}, nice: 0}}',
    '  none: {exec: {command: sh}}',
  ].join('\n');
  const { config } = told(configText(native, spec));
  const bindings = config?.tools.flatMap(({ name, exec }) =>
    exec === undefined ? [] : [resolveExec({ name, capability: 'tool', exec }, config, {}).binding],
  );
  expect(bindings?.map(({ limits, nice }) => ({ limits, nice }))).toEqual([
    { limits: { memoryMb: 512, openFiles: 128, processes: 4 }, nice: null },
    { limits: { memoryMb: 512, openFiles: 64 }, nice: 5 },
  ]);
});

test('an entry without limits has none', () => {
  const { config } = told(configText(native, '\nevals:\n  x: {command: sh}'));
  const [entry] = config?.evals ?? [];
  const bound = config && entry && resolveExec({ ...entry, capability: 'eval' }, config, {}).binding;
  expect(bound).toMatchObject({ limits: null, nice: null });
});

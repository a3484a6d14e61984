import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, run, runJson } from './command-line.ts';

const script = '#!/bin/sh\necho \'{"result": 1}\'\n';
const written = (folder: string) => readFileSync(join(folder, 'runtime.yaml'), 'utf8');
const errorOf = (document: unknown) => (document as { error: unknown }).error;

/** A config in a spelling that no serializer of YAML writes. */
const config = `apiVersion:   signalbox/v1     # two spaces
kind: RuntimeConfig


spec:
    tools:
        # pays back
        refund:   {description: 'Pays', exec: {command: ./refund.sh}}

    # the guards
    hooks: {}
`;

test('tool add writes the entry of a script, and keeps every other line of the config [DS-ADD-01]', async () => {
  const cwd = folderOf({ 'runtime.yaml': config, 'tools/weather.sh': script, 'refund.sh': script });
  const { code, stdout, stderr } = await run(
    `tool add ./tools/weather.sh --description 'The weather: in a city.' --env CITY --env MODE=fast --input-schema '{"type":"object"}'`,
    { cwd },
  );
  const lines = [
    '        weather:',
    '            description: "The weather: in a city."',
    '            input_schema:',
    '                type: object',
    '            exec:',
    '                command: ./tools/weather.sh',
    '                env:',
    '                    - CITY',
    '                    - MODE=fast',
  ];
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('added to runtime.yaml'),
  });
  const refund = config.indexOf('\n', config.indexOf('refund:')) + 1;
  const [head, tail] = [config.slice(0, refund), config.slice(refund)];
  const file = written(cwd);
  expect(file.replace(`${lines.join('\n')}\n`, '')).toBe(head + tail);
  expect(stdout).toContain('      description: ');
  expect(await runJson('tool call weather', { cwd })).toMatchObject({ code: 0, document: { result: 1 } });
});

test('--dry-run writes nothing; without a config, tool add creates one that works', async () => {
  const cwd = folderOf({ 'a b.sh': script });
  const dry = await runJson(['tool', 'add', './a b.sh', '--dry-run'], { cwd });
  const yaml = 'spec:\n  tools:\n    a_b:\n      exec:\n        command: ./a b.sh\n';
  expect(dry.document).toEqual({ config: 'runtime.yaml', name: 'a_b', yaml, written: false });
  expect(() => written(cwd)).toThrow('ENOENT');
  await run(['tool', 'add', './a b.sh'], { cwd });
  expect(written(cwd)).toBe(`apiVersion: signalbox/v1\nkind: RuntimeConfig\n${yaml}`);
  expect(await runJson('tool call a_b', { cwd })).toMatchObject({ code: 0, document: { result: 1 } });
});

test('a script that an interpreter starts is named from the folder of the config', async () => {
  const cwd = folderOf({ 'conf/runtime.yaml': config, 'tools/search.sh': script });
  await run('tool add --server --config conf/runtime.yaml -- sh tools/search.sh --fast', { cwd });
  expect(readFileSync(join(cwd, 'conf/runtime.yaml'), 'utf8')).toContain(
    `        search:
            exec:
                command: sh
                args:
                    - ../tools/search.sh
                    - --fast
                runtime: server
`,
  );
});

test.each([
  ['tool add ./refund.sh --name refund', 'runtime.yaml already has a tool refund', 'Give --name another.'],
  ['tool add ./gone.sh', expect.stringMatching(/gone\.sh does not exist$/), expect.any(String)],
  [
    'tool add ./plain.txt',
    expect.stringMatching(/plain\.txt is not executable$/),
    expect.stringMatching(/chmod/),
  ],
])('%s is refused, and the config stays [DS-ADD-02]', async (line, message, hint) => {
  const cwd = folderOf({ 'runtime.yaml': config, 'refund.sh': script, 'plain.txt': 'no script' });
  const { code, document } = await runJson(line, { cwd });
  expect(code).toBe(2);
  expect(errorOf(document)).toMatchObject({ code: 'USAGE', message, hint });
  expect(written(cwd)).toBe(config);
});

test('a config that is not valid YAML is refused', async () => {
  const cwd = folderOf({ 'runtime.yaml': 'spec: {tools: [', 'refund.sh': script });
  const { code, document } = await runJson('tool add ./refund.sh', { cwd });
  expect(code).toBe(2);
  expect(errorOf(document)).toMatchObject({ code: 'CONFIG_INVALID' });
});

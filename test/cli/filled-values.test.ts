import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canaryIn, canary as key } from '../canary.ts';
import { pipeline, run, workspace } from './command-line.ts';

/** Places of a config where a variable may be filled in. */
const places = {
  'tool description': (text: string) => spec({ tool: `description: "${text}"` }),
  'schema title': (text: string) => spec({ schema: `title: "${text}"` }),
  'default in a schema': (text: string) =>
    spec({ schema: `properties: {a: {type: string, default: "${text}"}}` }),
  'enum in a schema': (text: string) => spec({ schema: `properties: {a: {enum: ["${text}"]}}` }),
  argument: (text: string) => spec({ args: text }),
  'command of a tool': (text: string) => spec({ command: `./${text}` }),
  'variable of a process': (text: string) => spec({ env: `PLACE=${text}` }),
  'model of a provider': (text: string) => spec({ model: text }),
  'field of the log': (text: string) => spec({ field: text }),
  'address of a provider': (text: string) => spec({ url: `http://127.0.0.1:9/${text}` }),
} as const;

interface Parts {
  readonly tool?: string;
  readonly schema?: string;
  readonly args?: string;
  readonly command?: string;
  readonly env?: string;
  readonly model?: string;
  readonly url?: string;
  readonly field?: string;
}

function spec({
  tool = 'description: d',
  schema = 'title: t',
  args = 'a',
  command = './fails.sh',
  env = 'PLACE=x',
  model = 'm',
  url = 'http://127.0.0.1:9/v1',
  field = 'f',
}: Parts): string {
  return `
logging: {format: json, commonFields: {about: "${field}"}}
providers:
  - {id: main, type: openai, model: "${model}", base_url: "${url}"}
tools:
  say: {${tool}, input_schema: {type: object, ${schema}}, exec: {command: "${command}", args: ["${args}"], env: ["${env}"]}}
`;
}

const commands = [
  ['doctor'],
  ['provider', 'list'],
  ['tool', 'list'],
  ['hook', 'list'],
  ['validate', '--values'],
  ['tool', 'call', 'say', '--log-level', 'trace'],
  ['run', 'p.pipeline.yaml', '--log-level', 'trace'],
] as const;

const texts = ['${env:WORD}', 'before ${env:WORD}', '${env:WORD}${env:WORD}', '${env:NONE:-x}${env:WORD}'];

const files = {
  'fails.sh': '#!/bin/sh\necho "$1 $PLACE" >&2\nexit 1\n',
  'p.pipeline.yaml': pipeline('steps:\n  - {id: one, tool: say}\n'),
};

test('no command shows a filled-in value, wherever in the config it is', {
  timeout: 120_000,
}, async () => {
  const cases = fc.record({
    place: fc.constantFrom(...Object.keys(places)),
    text: fc.constantFrom(...texts),
    command: fc.constantFrom(...commands),
    json: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ place, text, command, json }) => {
      const make = Object.entries(places).find(([name]) => name === place)?.[1];
      const folder = workspace(make?.(text) ?? '', files);
      const ran = await run([...command, ...(json ? ['--json'] : [])], { cwd: folder, env: { WORD: key } });
      const all = ran.stdout + ran.stderr;
      // A command made from a variable does not exist, which is an error for `validate`.
      const isMissing = place === 'command of a tool' && command[0] === 'validate';
      expect(all).not.toMatch(isMissing ? /INTERNAL|USAGE/ : /INTERNAL|CONFIG_INVALID|USAGE/);
      expect({ pieces: canaryIn(all), all: canaryIn(all).length > 0 ? all : '' }).toEqual({
        pieces: [],
        all: '',
      });
    }),
    { numRuns: Number(process.env['FILLED_CASES'] ?? 60) },
  );
});

import { expect, test } from 'vitest';
import { onlyDocument, run } from '../cli/command-line.ts';
import { configText, promptkit, told } from '../config/told.ts';
import { open, write } from './open.ts';

const spec = `
tools:
  plain: {exec: {command: $bin/echo-args}}
  described:
    title: Delete a file
    annotations: {read_only: false, destructive: true, idempotent: true, open_world: false}
    mcp: {result: content, task: required}
    exec: {command: $bin/echo-args}
  careful: {idempotent: false, exec: {command: $bin/echo-args}}
  keyed: {idempotent: true, exec: {command: $bin/echo-args}}
  contradicted: {idempotent: false, annotations: {idempotent: true}, exec: {command: $bin/echo-args}}
  always: {approval: {by: [mara, joe], quorum: 2, expires: 1h}, exec: {command: $bin/echo-args}}
  sometimes: {approval: {when: '\${args.n > 1}'}, exec: {command: $bin/echo-args}}
  prod_sometimes: {approval: {when: '\${args.n > 1}', by: [mara, joe]}, exec: {command: $bin/echo-args}}
  prod_never: {exec: {command: $bin/echo-args}}
approvals:
  production: {tools: [prod_*], by: [joe, ann], expires: 30m}
`;

test('a tool has the title, annotations, approval and MCP settings of the config', async () => {
  const { runtime } = await open(spec);
  const listed = runtime.tools.list().map(({ name, title, annotations, approval, mcp }) => ({
    ...{ name, title, annotations, approval },
    mcp: [mcp.result, mcp.task],
  }));
  const empty = { title: null, annotations: {}, approval: null, mcp: [null, null] };
  const always = { needed: 'always', by: null, quorum: 1, expires_ms: null };
  expect(listed).toEqual([
    { ...empty, name: 'plain' },
    {
      ...{ name: 'described', title: 'Delete a file', approval: null },
      annotations: { read_only: false, destructive: true, idempotent: true, open_world: false },
      mcp: ['content', 'required'],
    },
    { ...empty, name: 'careful', annotations: { idempotent: false } },
    { ...empty, name: 'keyed' },
    { ...empty, name: 'contradicted', annotations: { idempotent: true } },
    {
      ...{ ...empty, name: 'always' },
      approval: { ...always, by: ['mara', 'joe'], quorum: 2, expires_ms: 3_600_000 },
    },
    { ...empty, name: 'sometimes', approval: { ...always, needed: 'conditional' } },
    { ...empty, name: 'prod_sometimes', approval: { ...always, by: ['joe'], expires_ms: 1_800_000 } },
    { ...empty, name: 'prod_never', approval: { ...always, by: ['joe', 'ann'], expires_ms: 1_800_000 } },
  ]);
  const { stdout } = await run(['tool', 'list', '--config', write(spec), '--json']);
  expect(onlyDocument(stdout)).toEqual({ tools: runtime.tools.list() });
});

const wrong = [
  'title: [a, b]',
  "title: ''",
  'annotations: [a]',
  'annotations: {read_only: perhaps}',
  'annotations: {destructive: null}',
  'annotations: {readOnly: true}',
  'mcp: content',
  'mcp: {result: text}',
  'mcp: {task: [a]}',
];

test.each(wrong)('a wrong description is an error, and PromptKit’s own file loads without it: %s', (key) => {
  const spec = `\ntools:\n  t: {exec: {command: sh}, ${key}}`;
  const { config: refused, problems } = told(configText('signalbox/v1', spec));
  expect({ refused, count: problems.length }).toEqual({ refused: undefined, count: 1 });
  expect(problems[0]).toMatch(/^error 5:\d+ tools\[t\]\.(title|annotations|mcp)/);
  const { config, problems: notes } = told(configText(promptkit, spec));
  const { title, annotations = {}, mcp = {} } = config?.tools[0] ?? { name: 'none' };
  expect({ title, annotations, mcp }).toEqual({ title: undefined, annotations: {}, mcp: {} });
  expect(notes.filter((note) => note.startsWith('error'))).toEqual([]);
});

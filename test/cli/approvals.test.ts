import { expect, test } from 'vitest';
import { config, fixture, folderOf, runJson } from './command-line.ts';

const tool = (more = '') =>
  `{description: d, input_schema: {type: object}, exec: {command: ${fixture('leaks-key.sh')}}${more}}`;

test('approvals by pattern apply to tools that Signalbox runs, in addition to a tool’s own rule [DS-INBOUND-12]', async () => {
  const cwd = folderOf({
    'runtime.yaml': config(`tools:
  pay: ${tool(', approval: {when: "${args.n > 100}", message: own, by: [mara, joe]}')}
  list: ${tool()}
approvals:
  money: {tools: ["p*"], when: "\${args.n > 10}", message: by pattern, by: [joe, ann]}
`),
  });
  const call = async (name: string, args: object) =>
    (await runJson(['tool', 'call', name, '--args', JSON.stringify(args)], { cwd })).document;
  expect(await call('list', { n: 500 })).not.toMatchObject({ status: 'pending' });
  expect(await call('pay', { n: 5 })).not.toMatchObject({ status: 'pending' });
  expect(await call('pay', { n: 50 })).toMatchObject({
    status: 'pending',
    pending: { message: 'by pattern' },
  });
  expect(await call('pay', { n: 500 })).toMatchObject({ status: 'pending', pending: { message: 'own' } });
  const { document } = await runJson('pending list', { cwd });
  const [first] = Object(document).pending;
  for (const [by, code] of [
    ['mara', 2],
    ['ann', 2],
    ['joe', 0],
  ] as const)
    expect(await runJson(['pending', 'approve', first.id, '--by', by], { cwd })).toMatchObject({ code });
});

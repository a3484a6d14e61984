import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { pipeline } from '../workspace.ts';
import { open } from './open.ts';

const shop = (decisions: string) => `
${decisions}
hooks:
  amount: {command: $bin/judges-amount.sh, hook: tool, phases: [before_execution]}
  fails: {command: $bin/crash-loudly.sh, hook: tool, phases: [before_execution], mode: shadow}
  seen: {command: $bin/allow.sh, hook: provider, phases: [before_call]}
tools:
  refund:
    input_schema: {type: object, properties: {amount: {type: integer}}}
    approval: {by: [mara]}
    exec: {command: $bin/echo-args}
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: round == 1, tool_calls: [{name: refund, args: {amount: 7}}]}
        - {when: round == 2, text: The refund is done.}
`;

const chat = pipeline(`
steps: [{id: answer, chat: {provider: main, system: Be brief., messages: My cat is Minka., tools: [refund]}}]
output: \${steps.answer}
`);

/** Every byte of the store's files. */
function bytesIn(folder: string): string {
  return readdirSync(join(folder, '.signalbox'))
    .filter((name) => name.startsWith('decisions.db'))
    .map((name) => readFileSync(join(folder, '.signalbox', name), 'latin1'))
    .join('');
}

async function reopen(folder: string): Promise<Runtime> {
  return await openRuntime(join(folder, 'runtime.yaml'), { log: false });
}

test('without spec.decisions nothing is recorded, and pages are empty', async () => {
  const { runtime, folder } = await open(shop(''), {}, { 'chat.yaml': chat });
  await runtime.run(join(folder, 'chat.yaml'));
  expect(await runtime.decisions.page()).toEqual({ decisions: [] });
  expect(await runtime.decisions.counts()).toEqual({ total: 0, counts: [], dropped: 0 });
  expect(await runtime.decisions.conversation({ run: 'r' })).toEqual({ calls: [], dropped: 0 });
  await runtime.close();
  expect(existsSync(join(folder, '.signalbox/decisions.db'))).toBe(false);
});

test('each decision is recorded, and read by the next process', async () => {
  const { runtime, folder } = await open(shop('decisions: {}'), {}, { 'chat.yaml': chat });
  const { run_id } = await runtime.run(join(folder, 'chat.yaml'));
  await runtime.close();
  const next = await reopen(folder);
  const { decisions } = await next.decisions.page();
  const told = decisions.map((each) =>
    each.type === 'gap' ? each : [each.hook, each.mode, each.verdict, each.error],
  );
  expect(told.toSorted()).toEqual([
    ['amount', 'filter', 'allow', null],
    ['fails', 'shadow', 'deny', 'PROCESS_EXIT'],
    ['seen', 'filter', 'allow', null],
  ]);
  expect(await next.decisions.counts({ verdict: 'deny' })).toMatchObject({ total: 1, dropped: 0 });
  expect(await next.decisions.conversation({ run: run_id })).toEqual({ calls: [], dropped: 0 });
  await next.close();
  expect(bytesIn(folder)).toContain('amount');
  expect(bytesIn(folder)).not.toContain('Minka');
});

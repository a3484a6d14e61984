import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openProject, runtimeYaml } from '../dialects/project.ts';

const nest = (levels: number, isList: boolean) =>
  isList ? `${'['.repeat(levels)}1${']'.repeat(levels)}` : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

const replies = ['metadata', 'replace', 'reason', 'result', 'data', 'error'] as const;

async function openAll() {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        'state_store: {type: memory}',
        'hooks:',
        '  once: {command: ./once.sh, hook: provider, phases: [before_call]}',
        '  server: {command: ./server.sh, hook: provider, phases: [after_call], runtime: server}',
        'tools: {tool: {exec: {command: ./once.sh}}}',
        'evals: {judge: {command: ./once.sh}}',
      ].join('\n'),
    ),
    'once.sh': '#!/bin/sh\ncat >/dev/null\ncat reply.json\n',
    'server.sh':
      '#!/bin/sh\nwhile read -r line; do id=${line#*\'"id":\'}; printf \'{"jsonrpc":"2.0","id":%s,"result":\' "${id%%,*}"; cat reply.json; echo "}"; done\n',
  });
  const { hooks, tools, evals } = runtime;
  const request = { messages: [{ role: 'user', content: 'x' }] };
  const codeOf = (document: object) => ('error' in document ? Object(document.error).code : undefined);
  return async (reply: string) => {
    writeFileSync(join(folder, 'reply.json'), reply);
    return [
      codeOf(await hooks.fire({ hook: 'provider', phase: 'before_call', request })),
      codeOf(
        await hooks.fire({
          hook: 'provider',
          phase: 'after_call',
          request,
          response: { message: { content: 'x' } },
        }),
      ),
      codeOf(await tools.call('tool')),
      codeOf(await evals.call('judge', { content: 'x' })),
    ];
  };
}

test('a too deeply nested reply is malformed, wherever and however deep', async () => {
  const codes = await openAll();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...replies),
      fc.oneof(fc.integer({ min: 1_001, max: 5_000 }), fc.constantFrom(2_500, 20_000, 300_000)),
      fc.boolean(),
      async (key, levels, isList) => {
        const reply = `{"allow":true,"score":1,"result":1,"${key}":${nest(levels, isList)}}`;
        const malformed = 'REPLY_MALFORMED';
        expect(await codes(reply)).toEqual([malformed, malformed, malformed, malformed]);
      },
    ),
    { numRuns: 12 },
  );
});

test('a deep but readable one passes', async () => {
  const codes = await openAll();
  const reply = `{"allow":true,"score":1,"metadata":${nest(900, false)},"result":${nest(900, true)},"data":${nest(900, false)}}`;
  expect(await codes(reply)).toEqual([undefined, undefined, undefined, undefined]);
});

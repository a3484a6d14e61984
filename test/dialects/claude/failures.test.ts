import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowsOf } from '../../table.ts';
import { chatYaml, mockProvider } from '../project.ts';
import { listen } from './endpoint.ts';
import { on, openClaude } from './scripts.ts';

const causes = [
  'claude.exit_other',
  'claude.bad_json',
  'claude.bad_schema',
  'claude.text_before_json',
  'claude.timeout',
  'claude.spawn',
  'claude.http_error',
];

/** One group for each cause. Without `key`, its matcher is the tool of that name. */
function failing(url: string) {
  return [
    on('claude.exit_other', 'echo oops >&2; exit 1'),
    on('claude.bad_json', 'echo \'{"decision": block}\''),
    on('claude.bad_schema', 'echo \'{"systemMessage": 7}\''),
    on('claude.text_before_json', 'echo hi; echo \'{"decision": "block", "reason": "x"}\''),
    on('claude.timeout', 'exec sleep 20', { timeout: 0.1 }),
    on('claude.spawn', './.claude/plain.txt', { args: [] }),
    { matcher: 'claude.http_error', hooks: [{ type: 'http', url }] },
  ];
}

const files = { '.claude/plain.txt': 'not executable' };

test.each([
  {
    title: 'each cause passes by its rule, with a warning [CC-9-01]',
    more: '',
    verdict: 'allow',
    key: 'failed_open',
  },
  {
    title: 'on_failure: deny closes all seven [CC-9-02]',
    more: ', on_failure: deny',
    verdict: 'deny',
    key: 'failed_closed',
  },
])('$title', async ({ more, verdict, key }) => {
  const { url } = await listen({ '/': { status: 500, body: 'oops' } });
  const { runtime, warnings } = await openClaude(
    { PreToolUse: failing(url), PostToolUse: failing(url) },
    { more, files },
  );
  const early = warnings().length;
  const fired = await Promise.all(
    ['PreToolUse', 'PostToolUse'].flatMap((point) =>
      causes.map(async (tool_name) => {
        const payload = { tool_name, tool_input: {}, tool_response: 'secret' };
        const decision = await runtime.hooks.fire({ dialect: 'claude', point, payload });
        return [decision.verdict, decision.metadata];
      }),
    ),
  );
  const expected = ['PreToolUse', 'PostToolUse'].flatMap((point) =>
    causes.map((cause, index) => [verdict, { [key]: { hook: `${point}-${index + 1}`, cause } }]),
  );
  expect(fired).toEqual(expected);
  const told = warnings()
    .slice(early)
    .map((each) => /by the rule (claude\.\w+);/.exec(each)?.[1]);
  expect(told.toSorted()).toEqual(verdict === 'deny' ? [] : [...causes, ...causes].toSorted());
});

test('onFailure: "block" closes the failures that on_failure does not [CC-9-03]', async () => {
  const { runtime } = await openClaude({
    PreToolUse: [on('A', 'exit 1', { onFailure: 'block' }), on('B', 'exit 1', { onFailure: 'continue' })],
  });
  const verdicts = ['A', 'B'].map(async (tool_name) => {
    const payload = { tool_name, tool_input: {} };
    return (await runtime.hooks.fire({ dialect: 'claude', point: 'PreToolUse', payload })).verdict;
  });
  expect(await Promise.all(verdicts)).toEqual(['deny', 'allow']);
});

test('where nothing can be denied, a failure passes whatever the config says [CC-9-02]', async () => {
  const { runtime } = await openClaude(
    { SessionStart: [on(undefined, 'exit 1')], PermissionRequest: [on(undefined, 'exit 1')] },
    { more: ', on_failure: deny' },
  );
  const fire = async (point: string, payload: object) => {
    const { verdict, metadata } = await runtime.hooks.fire({ dialect: 'claude', point, payload });
    return [verdict, metadata];
  };
  expect([
    await fire('SessionStart', {}),
    await fire('PermissionRequest', { tool_name: 'Bash', tool_input: {} }),
  ]).toEqual([
    [
      'allow',
      { failed_open: { hook: 'SessionStart-1', cause: 'claude.exit_other' }, env_file: expect.any(String) },
    ],
    ['ask', { failed_open: { hook: 'PermissionRequest-1', cause: 'claude.exit_other' } }],
  ]);
});

const spec = [
  mockProvider('{when: round == 1, tool_calls: [{name: run, args: {n: 1}}]}', '{text: "the secret is out"}'),
  'tools:',
  '  run: {description: d, input_schema: {type: object}, exec: {command: ./run.sh}}',
].join('\n');
const agent = {
  'run.sh': '#!/bin/sh\ncat > /dev/null\necho \'{"result": "a secret"}\'\n',
  'agent.pipeline.yaml': chatYaml('tools: [run]'),
};

test.each(rowsOf<{ title: string; event: string; means: object }>`
  title | event | means
  a result is withheld | PostToolUse | ${{ status: 'completed', results: ['Tool "run" was blocked by hook "PostToolUse-1": hook "PostToolUse-1" exited with code 1'] }}
  an answer is withheld | Stop | ${{ status: 'denied', results: undefined }}
  a prompt reaches nobody | UserPromptSubmit | ${{ status: 'denied', results: undefined }}
  a batch ends the turn | PostToolBatch | ${{ status: 'denied', results: undefined }}
`)('on_failure: deny at $event: $title [CC-9-02]', async ({ event, means }) => {
  const { runtime, folder } = await openClaude(
    { [event]: [on(undefined, 'exit 1')] },
    { more: ', on_failure: deny', spec, files: agent },
  );
  const run = await runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hello' });
  const calls = run.output === null ? undefined : Reflect.get(Object(run.output), 'calls');
  const results = Array.isArray(calls) ? calls.map(({ result }) => result) : undefined;
  expect({ status: run.status, results }).toEqual(means);
  expect(JSON.stringify(run).includes('the secret is out')).toBe(event === 'PostToolUse');
});

const denial = '{"decision":"block","reason":"no é"}';
const write = (stream: 'stdout' | 'stderr', text: string, bytes: string) =>
  `#!/usr/bin/env node\nprocess.${stream}.write(Buffer.from(${JSON.stringify(text)}, 'utf16le')${bytes});\n`;

test.each([
  {
    title: 'with text behind it',
    line: `echo '${denial}'; echo done`,
    own: 'allow',
    cause: 'claude.bad_json',
  },
  { title: 'cut off', line: `printf '%s' '${denial.slice(0, 30)}'`, own: 'allow', cause: 'claude.bad_json' },
  { title: 'in UTF-16 without a mark', line: './plain.js', own: 'allow', cause: 'claude.bad_json' },
])('a denial $title is a failure that is named, and can be closed [CC-6-07@oneshot CC-9-01]', async (row) => {
  const fired = await fireBoth(row.line);
  expect(fired).toEqual([
    [row.own, { failed_open: { hook: 'PreToolUse-1', cause: row.cause } }],
    ['deny', { failed_closed: { hook: 'PreToolUse-1', cause: row.cause } }],
  ]);
});

test.each([
  { title: 'little-endian', line: './little.js' },
  { title: 'big-endian', line: './big.js' },
])('a denial in UTF-16, $title, with its mark is a denial [CC-6-19@oneshot]', async ({ line }) => {
  expect(await fireBoth(line, ({ verdict, reason }) => [verdict, reason])).toEqual([
    ['deny', 'no é'],
    ['deny', 'no é'],
  ]);
});

test('UTF-16 on stderr is the reason of exit code 2, and is logged as text [CC-6-19@oneshot]', async () => {
  const { runtime, events } = await openClaude(
    { PreToolUse: [on('Bash', './stderr.js; exit 2')] },
    { files: utf16 },
  );
  const { verdict, reason } = await runtime.hooks.fire({
    dialect: 'claude',
    point: 'PreToolUse',
    payload: bash,
  });
  const lines = events.flatMap((event) => (event.type === 'stderr' ? [event.line] : []));
  expect([verdict, reason, lines]).toEqual(['deny', 'no é\r\nnever', ['no é', 'never']]);
});

const bash = { tool_name: 'Bash', tool_input: {} };
const utf16 = {
  'plain.js': write('stdout', denial, ''),
  'little.js': write('stdout', `\ufeff${denial}`, ''),
  'big.js': write('stdout', `\ufeff${denial}`, '.swap16()'),
  'stderr.js': write('stderr', '\ufeffno é\r\nnever\r\n', ''),
};

/** The handler's outcome by Claude's own rule, and with `on_failure: deny`. */
async function fireBoth(
  line: string,
  say = ({ verdict, metadata }: { verdict: string; reason: string; metadata: unknown }): unknown[] => [
    verdict,
    metadata,
  ],
) {
  const fired = ['', ', on_failure: deny'].map(async (more) => {
    const { runtime } = await openClaude({ PreToolUse: [on('Bash', line)] }, { more, files: utf16 });
    return say(await runtime.hooks.fire({ dialect: 'claude', point: 'PreToolUse', payload: bash }));
  });
  return await Promise.all(fired);
}

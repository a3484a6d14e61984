import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { rowsOf } from '../../table.ts';
import { openProject, runtimeYaml } from '../project.ts';
import { entry, shHook } from './scripts.ts';

const modified = { verdict: 'modify', hook: 'hook', replace: { args: { text: 'seen' } } };
const answerSeen = `    *) answer '{"action":"modify","call":{"arguments":{"text":"seen"}}}' ;;`;

async function openHook(script: string, { block = '', more = '' } = {}) {
  const limits = ['intercept: [before_tool]', ...(block === '' ? [] : [block])].join(', ');
  const project = await openProject({
    'runtime.yaml': runtimeYaml(['hooks:', entry('hook', limits, more)].join('\n')),
    hook: script,
  });
  const fire = async (text = 'given', point = 'before_tool') =>
    await project.runtime.hooks.fire(
      { dialect: 'picoclaw', point, payload: { tool: 't', arguments: { text } } },
      { wholeFaults: true },
    );
  return { ...project, fire };
}

const failures = [
  {
    title: 'writes to /dev/stderr and exits with 2 [PC-5-06 PC-5-10]',
    script: shHook(`    *) echo 'I object' >/dev/stderr; exit 2 ;;`),
    payload: 'x',
    limit: 5_000,
    cause: 'picoclaw.dead',
    what: 'died during the call',
    code: 'SERVER_EXIT',
    stderr: 'I object\n',
  },
  {
    title: 'reads nothing of a payload of 1 MiB [PC-5-04 PC-5-10]',
    script: `#!/bin/sh\nread -r line\necho '{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'\nexec sleep 30`,
    payload: 'x'.repeat(1024 * 1024),
    limit: 400,
    cause: 'picoclaw.timeout',
    what: 'timed out',
    code: 'PROCESS_TIMEOUT',
    stderr: '',
  },
  {
    title: 'dies and leaves a child on its stdout [PC-5-06 PC-5-10]',
    script: shHook(`    *) sleep 4 & exit 0 ;;`),
    payload: 'x',
    limit: 5_000,
    cause: 'picoclaw.dead',
    what: 'died during the call',
    code: 'SERVER_EXIT',
    stderr: '',
  },
];

describe('a hook that', () => {
  test.each(failures)('$title passes with a warning, unless it is closed', async (row) => {
    const [open, closed] = await Promise.all([
      openHook(row.script, { more: `timeout_ms: ${row.limit}, grace_ms: 100` }),
      openHook(row.script, { more: `timeout_ms: ${row.limit}, grace_ms: 100, on_failure: deny` }),
    ]);
    const startedAt = performance.now();
    const decisions = await Promise.all([open.fire(row.payload), closed.fire(row.payload)]);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(decisions).toMatchObject([
      { verdict: 'allow', replace: null, metadata: { failed_open: { hook: 'hook', cause: row.cause } } },
      {
        verdict: 'deny',
        hook: 'hook',
        reason: `hook "hook" ${row.what}`,
        metadata: { failed_closed: { hook: 'hook', cause: row.cause } },
        error: { code: row.code },
      },
    ]);
    expect(open.warnings().filter((each) => each.includes(row.cause))).toEqual([
      `it ${row.what}, and the event passes by the rule ${row.cause}; \`on_failure: deny\` would stop it`,
    ]);
    const stderr = (project: typeof open) =>
      project.events.flatMap((event) => (event.type === 'stderr' ? [`${event.line}\n`] : [])).join('');
    expect([stderr(open), stderr(closed)]).toEqual([row.stderr, row.stderr]);
  });

  test.each(rowsOf<{ title: string; script: string }>`
    title | script
    opens /dev/stdin | ${shHook(answerSeen, { first: 'exec </dev/stdin >/dev/stdout' })}
    leaves a child on its stdout | ${shHook(answerSeen, { first: '(trap "" TERM; sleep 5) &' })}
    prints a banner first | ${shHook(answerSeen, { first: `printf 'review gate 1.0\\n{"ready":true}\\n\\n[]\\n'` })}
    answers with text between its answers [PC-4-02@server] | ${shHook(answerSeen.replace('answer', `echo '{"jsonrpc":"2.0","id":null,"result":{}}'; answer`))}
  `)('$title is obeyed, open or closed', async ({ script }) => {
    const decisions = [];
    for (const more of ['', 'on_failure: deny']) {
      const { fire, runtime } = await openHook(script, { more });
      decisions.push(await fire());
      const startedAt = performance.now();
      await runtime.close();
      expect(performance.now() - startedAt).toBeLessThan(4_900);
    }
    expect(decisions).toMatchObject([modified, modified]);
  });
});

test('a request that timed out is forgotten, and the same process is asked again [PK-5-36@server]', async () => {
  const script = shHook(`    *slow*) sleep 0.5; answer '{"action":"deny_tool"}' ;;\n${answerSeen}`);
  const { fire, events } = await openHook(script, { block: 'interceptor_timeout_ms: 250' });
  expect((await fire('slow')).metadata).toEqual({
    failed_open: { hook: 'hook', cause: 'picoclaw.timeout' },
  });
  await sleep(400);
  expect([await fire(), await fire()]).toMatchObject([modified, modified]);
  expect(events.filter(({ type }) => type === 'process.started')).toHaveLength(1);
});

test('the limit of the entry is that of its interceptors [PC-2-08]', async () => {
  const script = shHook(`    *slow*) sleep 0.3 ;;\n${answerSeen}`);
  const { fire } = await openHook(script, {
    block: 'interceptor_timeout_ms: 20000',
    more: 'timeout_ms: 100, on_failure: deny',
  });
  expect((await fire('slow')).reason).toBe('hook "hook" timed out');
});

test('cancelling ends the wait at once, and is no timeout [PC-5-03@server]', async () => {
  const { runtime } = await openHook(shHook('    *) sleep 5 ;;'), { more: 'grace_ms: 100' });
  const payload = { tool: 't' };
  const startedAt = performance.now();
  const decision = await runtime.hooks.fire(
    { dialect: 'picoclaw', point: 'before_tool', payload },
    { signal: AbortSignal.timeout(100) },
  );
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(decision).toMatchObject({ verdict: 'deny', error: { code: 'ABORTED' } });
});

describe('the unnamed method of a pair', () => {
  const script = shHook(
    `    *hook.after_tool*) fail '{"code":-32601,"message":"method not found"}' ;;
    *die*) exit 1 ;;
    *) answer '{"action":"continue"}' ;;`,
    { log: 'asked.log' },
  );

  test('is called once in the life of a process, and passes even when it is closed [PC-2-06 PC-2-07@server]', async () => {
    const { runtime, folder } = await openHook(script, { more: 'on_failure: deny' });
    const askAfter = async () => {
      const payload = { tool: 't', result: { for_llm: 'x' } };
      return (
        await runtime.hooks.fire({ dialect: 'picoclaw', point: 'after_tool', payload }, { wholeFaults: true })
      ).verdict;
    };
    const askBefore = async (tool: string) =>
      (
        await runtime.hooks.fire(
          { dialect: 'picoclaw', point: 'before_tool', payload: { tool } },
          { wholeFaults: true },
        )
      ).verdict;
    expect([await askAfter(), await askAfter(), await askBefore('t')]).toEqual(['allow', 'allow', 'allow']);
    expect(await askBefore('die')).toBe('deny');
    expect([await askBefore('t'), await askAfter(), await askAfter()]).toEqual(['allow', 'allow', 'allow']);
    const asked = readFileSync(join(folder, 'asked.log'), 'utf8').match(
      /hook\.(hello|after_tool|before_tool)/g,
    );
    const life = ['hook.hello', 'hook.after_tool', 'hook.before_tool', 'hook.before_tool'];
    expect(asked).toEqual([...life, 'hook.hello', 'hook.before_tool', 'hook.after_tool']);
  });
});

test('is called again after a restart of one of several processes [PC-2-07@server]', async () => {
  const script = shHook(
    `    *hook.after_tool*) if [ -e grown ]; then answer '{"action":"deny_tool"}'; else fail '{"code":-32601,"message":"no"}'; fi ;;
    *die*) touch grown; exit 1 ;;
    *) answer '{"action":"continue"}' ;;`,
    { log: 'asked.log' },
  );
  const { runtime, folder } = await openHook(script, { more: 'instances: 2' });
  const fire = async (point: string, payload: object) =>
    (await runtime.hooks.fire({ dialect: 'picoclaw', point, payload }, { wholeFaults: true })).verdict;
  const askAfter = () => fire('after_tool', { tool: 't', result: { for_llm: 'x' } });
  expect([await askAfter(), await askAfter()]).toEqual(['allow', 'allow']);
  await fire('before_tool', { tool: 'die' });
  await fire('before_tool', { tool: 't' });
  await askAfter();
  const asked = readFileSync(join(folder, 'asked.log'), 'utf8').match(/hook\.after_tool/g);
  expect(asked).toHaveLength(2);
});

describe('a process that cannot be started or greeted', () => {
  test.each([
    { title: 'has no interpreter', script: '#!/no/such/interpreter\n', why: 'could not be started' },
    {
      title: 'says ok: false',
      script: `#!/bin/sh\nread -r line\necho '{"jsonrpc":"2.0","id":1,"result":{"ok":false}}'\nsleep 5`,
      why: 'did not complete the hello',
    },
    { title: 'dies before its hello', script: '#!/bin/sh\nexit 3', why: 'did not complete the hello' },
    { title: 'never answers', script: '#!/bin/sh\nexec sleep 5', why: 'did not complete the hello' },
  ])('denies, whatever the entry says: one that $title [PC-3-08]', async ({ script, why }) => {
    const { fire } = await openHook(script, { block: 'hello_timeout_ms: 200' });
    const decision = await fire();
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'hook', metadata: {} });
    expect(decision.reason).toContain(`hook "hook" ${why}`);
  });

  test('lets events drop and reports it [PC-3-14@server]', async () => {
    const { runtime, warnings } = await openProject({
      'runtime.yaml': runtimeYaml(['hooks:', entry('watcher', 'observe: ["*"]')].join('\n')),
      watcher: '#!/bin/sh\nexit 3',
    });
    const payload = { KindName: 'turn_start' };
    const decision = await runtime.hooks.fire(
      { dialect: 'picoclaw', point: 'event', payload },
      { wholeFaults: true },
    );
    await runtime.close();
    expect([
      decision.verdict,
      warnings().filter((each) => each.startsWith('the hook did not receive event')),
    ]).toEqual(['allow', [expect.stringContaining('the hook did not receive event: ')]]);
  });
});

test('runs in its own folder, and sees only the configured environment [PC-3-13@server]', async () => {
  const script = shHook(
    `    *) answer "{\\"action\\":\\"deny_tool\\",\\"reason\\":\\"$(pwd -P | sed 's,.*/,,') $GIVEN $MADE $HIDDEN.\\"}" ;;`,
  );
  const files = (block: string) => ({
    'runtime.yaml': runtimeYaml(
      [
        'hooks:',
        `  hook: {dialect: picoclaw, command: sh, args: ["$HOOK"], env: [GIVEN, MADE=m], picoclaw: {intercept: [before_tool]${block}}}`,
      ]
        .join('\n')
        .replace('$HOOK', block === '' ? 'here/hook' : 'hook'),
    ),
    'here/hook': script,
  });
  const env = { ...process.env, GIVEN: 'g', HIDDEN: 'h' };
  const reasons = [];
  for (const block of ['', ', dir: ./here']) {
    const { runtime, folder } = await openProject(files(block), { env });
    const { reason } = await runtime.hooks.fire({
      dialect: 'picoclaw',
      point: 'before_tool',
      payload: { tool: 't' },
    });
    reasons.push(reason.replace(folder.replace(/.*\//, ''), 'home'));
  }
  expect(reasons).toEqual(['home g m .', 'here g m .']);
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { run, until } from '../../cli/command-line.ts';
import { ask, begin, decide, findOpen, openProject, passes, pushing, within } from './approvals.ts';
import { askProgram } from './guards.ts';

const refused = {
  code: 2,
  document: { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } },
};
const denial = (reason: string) => ({
  code: 2,
  stderr: expect.stringContaining(reason),
  document: {
    hookSpecificOutput: {
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining(reason),
    },
  },
});

describe('a call of an agent that needs an approval', () => {
  test('is stored, reported and refused with how to decide, and passes once when it is repeated after the approval [DS-INBOUND-10] [DS-INBOUND-11]', async () => {
    const place = openProject('  notify: [{command: ./tell.sh, on: [pending]}]');
    const first = ask(place);
    const [pending, ...others] = await findOpen(place);
    expect(others).toEqual([]);
    expect(pending).toMatchObject({ tool: 'Bash', origin: 'approval', message: 'Run git push?' });
    expect(first).toMatchObject(
      denial(`signalbox pending approve ${pending?.id} --config ${join(place, 'runtime.yaml')}\``),
    );
    expect(readFileSync(join(place, 'told'), 'utf8')).toContain(`"${pending?.id}"`);
    // Asking again makes no second question.
    expect(ask(place)).toEqual(first);
    const id = await decide(place, 'approve');
    expect(ask(place)).toEqual(passes);
    expect(ask(place)).toMatchObject(refused);
    const [next] = await findOpen(place);
    expect(next?.id).not.toBe(id);
  });

  test('is not asked about if the rule excludes it or a hook denies it [DS-INBOUND-12]', async () => {
    const place = openProject();
    expect(ask(place, pushing({ tool_input: { command: 'ls' } }))).toEqual(passes);
    expect(ask(place, pushing({ tool_name: 'Read' }))).toEqual(passes);
    expect(ask(place, pushing({ tool_input: { command: 'git push --force' } }))).toMatchObject(
      denial('never by force'),
    );
    expect(await findOpen(place)).toEqual([]);
  });

  test.each([
    ['other arguments', { tool_input: { command: 'git push', timeout: 6 } }],
    ['another tool', { tool_name: 'mcp__prod__run' }],
    ['another session', { session_id: 's2' }],
    ['another folder', { cwd: '/elsewhere' }],
  ])('of %s is another question, which an approval does not answer [DS-INBOUND-11]', async (_, fields) => {
    const place = openProject();
    ask(place);
    await decide(place, 'approve');
    expect(ask(place, pushing(fields))).toMatchObject(refused);
    expect(
      ask(place, pushing({ tool_use_id: 'u2', tool_input: { timeout: 5, command: 'git push' } })),
    ).toEqual(passes);
  });

  test('has the approval only once among several concurrent equal calls [DS-INBOUND-11]', async () => {
    const place = openProject();
    ask(place);
    await decide(place, 'approve');
    const all = await Promise.all(Array.from({ length: 6 }, () => begin(place).ended));
    expect(all.filter(({ code }) => code === 0)).toEqual([{ code: 0, stdout: '' }]);
    expect(await findOpen(place)).toHaveLength(1);
  });

  test('with arguments that a person edited is asked about with these, after the hooks have passed them [DS-INBOUND-11]', async () => {
    const place = openProject();
    ask(place);
    await decide(place, 'approve', { args: { command: 'git push --dry-run' } });
    expect(ask(place)).toMatchObject({
      code: 0,
      document: {
        hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { command: 'git push --dry-run' } },
      },
    });
    ask(place);
    await decide(place, 'approve', { args: { command: 'git push --force' } });
    expect(ask(place)).toMatchObject(denial('never by force'));
  });

  test('is shown, and goes to the agent, as hooks changed it [DS-INBOUND-11]', async () => {
    const place = openProject();
    const event = pushing({ tool_input: { command: 'push secret' } });
    ask(place, event);
    expect(await findOpen(place)).toMatchObject([{ args: { command: 'push [gone]' } }]);
    await decide(place, 'approve');
    expect(ask(place, event)).toMatchObject({
      document: {
        hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { command: 'push [gone]' } },
      },
    });
  });

  test('stays rejected, and answered, however often it is repeated [DS-INBOUND-12]', async () => {
    const place = openProject();
    ask(place);
    await decide(place, 'reject');
    for (const _ of [1, 2])
      expect(ask(place)).toMatchObject(denial('tool "Bash" was rejected by mara: looked at it'));
    const other = pushing({ session_id: 's2' });
    ask(place, other);
    await decide(place, 'respond', { result: 'done by hand' });
    for (const _ of [1, 2]) expect(ask(place, other)).toMatchObject(denial('done by hand'));
    expect(await findOpen(place)).toEqual([]);
  });

  test('is asked about again after an expiry or a cancelled run [DS-INBOUND-12]', async () => {
    const place = openProject('', '      expires: 1s');
    ask(place);
    const [late] = await findOpen(place);
    await sleep(1_100);
    expect(ask(place)).toMatchObject(refused);
    const [next] = await findOpen(place);
    expect(next?.id).not.toBe(late?.id);
    await within(place, (runtime) => runtime.runs.cancel(next?.run_id ?? '', { by: 'mara' }));
    expect(ask(place)).toMatchObject(refused);
  });

  test('is decided by the people and the number that the rule names [DS-INBOUND-12]', async () => {
    const place = openProject('', '      by: [mara, joe]\n      quorum: 2');
    ask(place);
    await expect(decide(place, 'approve', { by: 'eve' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(decide(place, 'reject', { by: 'eve' })).rejects.toMatchObject({ code: 'USAGE' });
    await decide(place, 'approve');
    expect(ask(place)).toMatchObject(refused);
    await decide(place, 'approve', { by: 'joe' });
    // The config at the time of the call decides.
    const text = readFileSync(join(place, 'runtime.yaml'), 'utf8');
    writeFileSync(join(place, 'runtime.yaml'), text.replace('[mara, joe]', '[mara, ann]'));
    expect(ask(place)).toMatchObject(denial('may not decide'));
  });

  test.each([
    ['is in memory', '  state_store: {type: memory}', false],
    ['is not a database', '  state_store: {type: sqlite, path: ./words.py}', false],
    ['cannot be made', '  state_store: {type: sqlite, path: ./nowhere/state.db}', true],
  ])('is refused if the store %s [DS-INBOUND-12]', (_, store, isBlocked) => {
    const place = openProject(store);
    if (isBlocked) writeFileSync(join(place, 'nowhere'), '');
    expect(ask(place)).toMatchObject(refused);
    expect(ask(place)).toMatchObject(refused);
  });

  test('cannot be resumed by hand', async () => {
    const place = openProject();
    ask(place);
    const [pending] = await findOpen(place);
    const { code } = await run(['pending', 'approve', pending?.id ?? '', '--by', 'mara', '--resume'], {
      cwd: place,
    });
    expect(code).toBe(2);
    expect(ask(place)).toEqual(passes);
  });
});

describe('a call that waits for its decision', () => {
  const hold = '  agents: {pending: hold, hold_ms: 60000}';

  test.each([
    ['approve', { code: 0, stdout: '' }],
    ['reject', { code: 2, stdout: expect.stringContaining('was rejected by mara') }],
  ] as const)('continues after %s in another process [DS-INBOUND-10]', async (how, expected) => {
    const place = openProject(hold);
    const { ended } = begin(place);
    await waitsIn(place);
    await decide(place, how);
    expect(await ended).toEqual(expected);
  });

  test('of two that wait for the same decision one gets it, and the other is asked about again [DS-INBOUND-11]', async () => {
    const place = openProject(hold);
    const both = [begin(place), begin(place)];
    await waitsIn(place);
    await decide(place, 'approve');
    const first = await Promise.race(both.map(({ ended }) => ended));
    expect(first).toEqual({ code: 0, stdout: '' });
    await waitsIn(place);
    await decide(place, 'reject');
    const codes = await Promise.all(both.map(async ({ ended }) => (await ended).code));
    expect(codes.toSorted()).toEqual([0, 2]);
  });

  test('leaves its question when it is killed, and a later approval is for the same call [DS-INBOUND-10]', async () => {
    const place = openProject(hold);
    const { child, ended } = begin(place);
    await waitsIn(place);
    child.kill('SIGKILL');
    await ended;
    await decide(place, 'approve');
    expect((await begin(place).ended).code).toBe(0);
  });

  test('is denied at a termination or a timeout, and its question stays [DS-INBOUND-10]', async () => {
    const place = openProject(hold);
    const { child, ended } = begin(place);
    await waitsIn(place);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 2, stdout: expect.stringContaining('"deny"') });
    const input = JSON.stringify(pushing());
    const reply = askProgram(input, { dialect: 'claude', cwd: place, args: ['--answer-within', '3s'] });
    const [pending] = await findOpen(place);
    expect(reply).toMatchObject(denial(pending?.id ?? 'none'));
  });
});

describe('approvals behind other agents', () => {
  test('Agentao gets a denial, and lets the call pass once after the approval [DS-INBOUND-10]', async () => {
    const place = openProject();
    const event = {
      event: 'PreToolUse',
      data: { toolName: 'shell', toolInput: { command: 'push' }, sessionId: 'a' },
    };
    const reply = () => askProgram(JSON.stringify(event), { dialect: 'agentao', cwd: place });
    const waits = { document: { hookSpecificOutput: { permissionDecision: 'deny' } } };
    expect(reply()).toMatchObject(waits);
    await decide(place, 'approve');
    expect(reply()).toMatchObject({ code: 0, document: null });
    expect(reply()).toMatchObject(waits);
    await decide(place, 'approve', { args: { command: 'push --dry-run' } });
    expect(reply()).toMatchObject(waits);
  });

  test('chibi is blocked, and accepts changed arguments [DS-INBOUND-10]', async () => {
    const place = openProject();
    const env = { ...process.env, CHIBI_HOOK: 'pre_tool' };
    const input = JSON.stringify({ tool_name: 'shell', arguments: { command: 'push' } });
    const reply = () => askProgram(input, { dialect: 'chibi', cwd: place, env });
    expect(reply()).toMatchObject({ document: { block: true } });
    await decide(place, 'approve', { args: { command: 'push --dry-run' } });
    expect(reply()).toMatchObject({ document: { arguments: { command: 'push --dry-run' } } });
  });

  test('PicoClaw asks for an approval at its approval stage, not at the stage before [DS-INBOUND-10]', async () => {
    const place = openProject();
    const params = { meta: { SessionKey: 'k' }, tool: 'shell', arguments: { command: 'push' } };
    const lines = ['before_tool', 'approve_tool'].map((stage, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: `hook.${stage}`, params }),
    );
    const replies = async () => {
      const { stdout } = await run(['hook', 'picoclaw', '--answer-within', '30s'], {
        ...{ cwd: place, stdin: `${lines.join('\n')}\n`, binary: true },
      });
      const all = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return all.toSorted((one, other) => one.id - other.id).map(({ result }) => result);
    };
    expect(await replies()).toMatchObject([{ action: 'continue' }, { approved: false }]);
    await decide(place, 'approve');
    expect(await replies()).toMatchObject([{ action: 'continue' }, { approved: true }]);
    expect(await replies()).toMatchObject([{ action: 'continue' }, { approved: false }]);
  });
});

describe('hook export with approvals alone', () => {
  test.each([
    ['', '590s', 600],
    ['  agents: {pending: hold, hold_ms: 1800000}', '1910s', 1920],
  ])('has the event before a call, and a time limit above that of people', async (more, within, timeout) => {
    const place = openProject(more);
    const text = readFileSync(join(place, 'runtime.yaml'), 'utf8');
    writeFileSync(join(place, 'runtime.yaml'), text.replace(/ {2}hooks:\n.*\n/, ''));
    const { stdout } = await run(['hook', 'export', '--dialect', 'claude'], { cwd: place });
    const { hooks } = JSON.parse(stdout);
    expect(Object.keys(hooks)).toEqual(['PreToolUse', 'PreSkillShellCommand']);
    expect(hooks.PreToolUse[0].hooks[0]).toMatchObject({
      timeout,
      command: expect.stringMatching(new RegExp(`--answer-within ${within}$`)),
    });
  });
});

async function waitsIn(place: string): Promise<void> {
  mkdirSync(join(place, '.signalbox'), { recursive: true });
  await until(() => existsSync(join(place, '.signalbox/state.db')));
  while ((await findOpen(place)).length === 0) await sleep(50);
}

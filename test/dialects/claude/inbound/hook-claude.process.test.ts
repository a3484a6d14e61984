import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtProgram } from '../../../built.ts';
import { folderOf, run } from '../../../cli/command-line.ts';
import { type Answered, askProgram, audit, config, guard, guarded } from '../../inbound/guards.ts';

const common = { session_id: 's1', transcript_path: '/t', cwd: '/project', permission_mode: 'default' };

function ask(event: object | string, cwd = guarded, env: NodeJS.ProcessEnv = process.env): Answered {
  const input = typeof event === 'string' ? event : JSON.stringify({ ...common, ...event });
  return askProgram(input, { dialect: 'claude', cwd, env });
}

const beforeTool = (command: string, tool = 'Bash') => ({
  ...{ hook_event_name: 'PreToolUse', tool_name: tool, tool_input: { command }, tool_use_id: 'u1' },
});
const afterTool = (response: unknown, tool = 'Bash') => ({
  ...beforeTool('ls', tool),
  hook_event_name: 'PostToolUse',
  tool_response: response,
});
const decided = (fields: object, name = 'PreToolUse') => ({
  hookSpecificOutput: { hookEventName: name, ...fields },
});

describe('hook claude before a tool runs', () => {
  test('leaves allowed calls to Claude Code’s own rules, and never approves them [DS-INBOUND-01]', () => {
    expect(ask(beforeTool('ls'))).toEqual({ code: 0, document: null, stderr: '' });
  });

  test('blocks denied calls in every version’s form, with the guard and its reason [DS-INBOUND-02]', () => {
    const reason = '"tools": no deleting: "quotes" and $(touch hacked)';
    expect(ask(beforeTool('rm -rf /'))).toEqual({
      code: 2,
      document: decided({ permissionDecision: 'deny', permissionDecisionReason: reason }),
      stderr: `${reason}\n`,
    });
  });

  test('passes a question, and a changed call, to the person [DS-INBOUND-03]', () => {
    expect(ask(beforeTool('sure?')).document).toEqual(
      decided({ permissionDecision: 'ask', permissionDecisionReason: '"tools": a person should look' }),
    );
    expect(ask(beforeTool('mail ada@example.org 12345678901234567890'))).toEqual({
      code: 0,
      document: decided({
        permissionDecision: 'ask',
        permissionDecisionReason: '"tools" has changed the call',
        updatedInput: { command: 'mail [email] 12345678901234567890' },
      }),
      stderr: '',
    });
  });

  test('judges a skill’s command like a call, and cannot change it or ask about it [DS-INBOUND-02]', () => {
    const skill = (command: string) => ({ ...beforeTool(command), hook_event_name: 'PreSkillShellCommand' });
    expect(ask(skill('ls'))).toEqual({ code: 0, document: null, stderr: '' });
    for (const command of ['rm -rf /', 'mail ada@example.org'])
      expect(ask(skill(command))).toMatchObject({
        code: 2,
        document: decided({ permissionDecision: 'deny' }, 'PreSkillShellCommand'),
      });
    expect(ask(skill('sure?')).document).toMatchObject(
      decided({ permissionDecision: 'ask' }, 'PreSkillShellCommand'),
    );
  });

  test.each(['crash', 'hang'])('denies when a guard would %s [DS-INBOUND-02]', (command) => {
    expect(ask(beforeTool(command))).toMatchObject({
      code: 2,
      document: decided({ permissionDecision: 'deny' }),
    });
  });

  test('judges 8 MB, and text beyond ASCII [DS-INBOUND-02]', () => {
    expect(ask(beforeTool(`${'é'.repeat(4e6)} rm -rf /`)).code).toBe(2);
    expect(ask(beforeTool('echo 你好 "quoted" \\')).code).toBe(0);
  });
});

describe('hook claude after a tool has run', () => {
  test('removes personal data from a result, which keeps its form [DS-INBOUND-04]', () => {
    const reply = ask(afterTool({ stdout: 'ada@example.org\n', stderr: '', interrupted: false, big: 1 }));
    const result = { stdout: '[email]\n', stderr: '', interrupted: false, big: 1 };
    expect(reply).toEqual({
      code: 0,
      document: decided({ updatedToolOutput: result }, 'PostToolUse'),
      stderr: '',
    });
    expect(ask(afterTool('ada@example.org', 'mcp__mail__read')).document).toEqual(
      decided({ updatedToolOutput: '[email]', updatedMCPToolOutput: '[email]' }, 'PostToolUse'),
    );
    expect(ask(afterTool({ stdout: 'fine' }))).toEqual({ code: 0, document: null, stderr: '' });
  });

  test.each(['rm -rf', 'crash', 'broken form'])(
    'keeps only the typed form of a denied result (%s) [DS-INBOUND-04]',
    (text) => {
      const reply = ask(afterTool({ stdout: `secret ${text}`, stderr: '', interrupted: false, secret: 'x' }));
      expect(JSON.stringify(reply.document)).not.toContain('secret');
      const stdout = expect.stringContaining('[withheld: ');
      expect(reply).toEqual({
        ...{ code: 0, stderr: '' },
        document: {
          ...{ decision: 'block', reason: expect.any(String) },
          ...decided({ updatedToolOutput: { stdout, stderr: '', interrupted: false } }, 'PostToolUse'),
        },
      });
    },
  );

  test('ends the turn at an unknown tool’s denied result, since its form may be dropped [DS-INBOUND-04]', () => {
    const { document } = ask(afterTool({ type: 'secret rm -rf' }, 'Brew'));
    expect(JSON.stringify(document)).not.toContain('secret');
    expect(document).toMatchObject({ decision: 'block', continue: false, stopReason: expect.any(String) });
  });

  const batch = (...responses: readonly string[]) => ({
    hook_event_name: 'PostToolBatch',
    tool_calls: responses.map((response) => ({ ...beforeTool('ls'), tool_response: response })),
  });

  test.each([
    ['a failed command', ['fine', 'Exit code 3\nsecret rm -rf']],
    ['personal data, which cannot be taken out any more', ['ada@example.org']],
    [
      'the placeholder with more beside it',
      ['[withheld: "tools": no deleting: "quotes" and $(touch hacked)] rm -rf x'],
    ],
  ])('judges the model’s next input once more: %s ends the turn [DS-INBOUND-04]', (_, responses) => {
    expect(ask(batch(...responses))).toMatchObject({
      code: 0,
      document: { decision: 'block', reason: expect.stringContaining('"tools"') },
    });
  });

  test('lets the turn continue after allowed or previously withheld results [DS-INBOUND-04]', () => {
    const withheld = '[withheld: "tools": no deleting: "quotes" and $(touch hacked)]';
    expect(ask(batch('fine', withheld, `     1→${withheld}`))).toEqual({
      code: 0,
      document: null,
      stderr: '',
    });
    expect(ask({ hook_event_name: 'PostToolBatch' })).toMatchObject({ code: 2 });
  });
});

describe('hook claude at prompts and answers', () => {
  const prompt = (text: string) => ({ hook_event_name: 'UserPromptSubmit', prompt: text });

  test('stops a prompt that a guard would change, and shows what may be sent [DS-INBOUND-05]', () => {
    expect(ask(prompt('hello'))).toEqual({ code: 0, document: null, stderr: '' });
    const { code, document } = ask(prompt('I am ada@example.org'));
    expect(code).toBe(2);
    expect(document).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('Send this in its place: I am [email]'),
    });
    expect(ask(prompt('rm -rf')).code).toBe(2);
  });

  test('requests a denied answer again, but not forever [DS-INBOUND-05]', () => {
    const stop = (active: boolean) => ({
      ...{ hook_event_name: 'Stop', stop_hook_active: active, last_assistant_message: 'run rm -rf /' },
    });
    expect(ask(stop(false))).toMatchObject({ code: 0, document: { decision: 'block' } });
    expect(ask(stop(true))).toMatchObject({ code: 1, document: null });
  });

  test('reports sessions to observers, and starts no process for an event without a hook', () => {
    expect(ask({ hook_event_name: 'SessionStart', source: 'startup' })).toEqual({
      code: 0,
      document: null,
      stderr: '',
    });
    expect(ask({ hook_event_name: 'PreCompact', trigger: 'auto' })).toEqual({
      code: 0,
      document: null,
      stderr: '',
    });
  });
});

describe('hook claude when something is wrong', () => {
  test.each([
    ['nothing on stdin', ''],
    ['no JSON', '{"hook_event_name": '],
    ['a list', '[1]'],
    ['no event', '{"tool_name": "Bash"}'],
    ['an event that nobody knows', '{"hook_event_name": "PreEverything"}'],
    ['UTF-16', Buffer.from('{"hook_event_name": "PreToolUse"}', 'utf16le').toString('latin1')],
  ])('%s denies with the reason, and ends the turn [DS-INBOUND-02]', (_, input) => {
    const reason = expect.stringMatching(/^signalbox: \[\w+\] /);
    expect(ask(input)).toEqual({
      code: 2,
      document: { decision: 'block', reason, continue: false, stopReason: reason },
      stderr: reason,
    });
  });

  test('a tool without a name denies [DS-INBOUND-02]', () => {
    expect(ask({ hook_event_name: 'PreToolUse', tool_input: {} })).toMatchObject({ code: 2 });
  });

  test.each([
    [
      'a config with mistakes',
      { 'runtime.yaml': config.replace('guard.py', 'gone.py').replace('hook: tool', 'hok: tool') },
    ],
    ['no config', {}],
  ])('%s denies a tool, and is only reported at a session’s end [DS-INBOUND-02]', (_, files) => {
    const place = folderOf(files);
    expect(ask(beforeTool('ls'), place)).toMatchObject({
      code: 2,
      document: decided({ permissionDecision: 'deny' }),
    });
    expect(ask({ hook_event_name: 'SessionEnd', reason: 'other' }, place)).toMatchObject({
      code: 1,
      document: null,
    });
  });

  test('denies when it is terminated during a guard, and leaves no process [DS-INBOUND-02]', async () => {
    const child = spawn(process.execPath, [builtProgram, 'hook', 'claude', '--log-level', 'silent'], {
      cwd: guarded,
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stdin.end(JSON.stringify({ ...common, ...beforeTool('hang') }));
    await sleep(1_000);
    child.kill('SIGTERM');
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject(decided({ permissionDecision: 'deny' }));
  });

  test('denies when its own config runs it as a hook, to avoid a loop [DS-INBOUND-02]', () => {
    const reply = ask(beforeTool('ls'), guarded, { ...process.env, SIGNALBOX_OWNER: 'x' });
    expect(reply).toMatchObject({ code: 2, stderr: expect.stringContaining('as one of its own hooks') });
  });
});

describe('hooks export', () => {
  test('prints settings with which a shell runs the guards, and which are read like Claude Code’s [DS-INBOUND-06]', async () => {
    const place = folderOf({ "it's/runtime.yaml": config, "it's/guard.py": guard, "it's/audit.sh": audit });
    const { code, stdout } = await run(
      ['hooks', 'export', '--dialect', 'claude', '--config', "it's/runtime.yaml"],
      {
        cwd: place,
        binary: true,
      },
    );
    expect(code).toBe(0);
    const { hooks } = JSON.parse(stdout);
    expect(Object.keys(hooks).toSorted()).toEqual([
      ...[
        'PostToolBatch',
        'PostToolUse',
        'PostToolUseFailure',
        'PreSkillShellCommand',
        'PreToolUse',
        'SessionEnd',
        'SessionStart',
        'Stop',
        'SubagentStop',
        'UserPromptSubmit',
      ],
    ]);
    const { command, onFailure } = hooks.PreToolUse[0].hooks[0];
    expect(onFailure).toBe('block');
    const denied = spawnSync('sh', ['-c', command], {
      input: JSON.stringify({ ...common, ...beforeTool('rm -rf /') }),
      cwd: '/',
    });
    expect(denied.status).toBe(2);
    mkdirSync(join(place, '.claude'));
    writeFileSync(join(place, '.claude/settings.json'), stdout);
    const imported = await run(['hooks', 'import', '.claude/settings.json', '--json'], { cwd: place });
    expect(imported.code).toBe(0);
  });

  test('prints no settings for events without hooks', async () => {
    const place = folderOf({
      'runtime.yaml': config.replace(/ {4}(model|audit).*\n/g, ''),
      'guard.py': guard,
    });
    const { stdout } = await run(['hooks', 'export', '--dialect', 'claude'], { cwd: place });
    expect(Object.keys(JSON.parse(stdout).hooks)).toEqual([
      'PreToolUse',
      'PreSkillShellCommand',
      'PostToolUse',
      'PostToolUseFailure',
      'PostToolBatch',
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { folderOf } from '../../cli/command-line.ts';
import { askProgram, guarded } from '../inbound/guards.ts';
import { asStranger, exported, openHost } from '../inbound/round.ts';

const ask = (event: string, data: object, cwd = guarded) =>
  askProgram(JSON.stringify({ event, data: { sessionId: 's1', ...data } }), { dialect: 'agentao', cwd });

const call = (command: string) => ({ toolName: 'Bash', toolInput: { command } });
const permission = (permissionDecision: string, permissionDecisionReason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
});
const silent = { code: 0, document: null, stderr: '' };

describe('hook agentao', () => {
  test('a call that the guards allow is left to Agentao’s own rules [DS-INBOUND-07]', () => {
    expect(ask('PreToolUse', call('ls'))).toEqual(silent);
    expect(ask('UserPromptSubmit', { userMessage: 'hello' })).toEqual(silent);
    expect(ask('PreCompact', {})).toEqual(silent);
  });

  test('a denied call is denied in Agentao’s two forms, and a question is asked [DS-INBOUND-07]', () => {
    const reason = '"tools": no deleting: "quotes" and $(touch hacked)';
    expect(ask('PreToolUse', call('rm -rf /'))).toEqual({
      code: 0,
      document: { ...permission('deny', reason), blockingError: reason },
      stderr: '',
    });
    expect(ask('PreToolUse', call('sure?')).document).toEqual(
      permission('ask', '"tools": a person should look'),
    );
  });

  test('a call that would be changed, or cannot be judged, is denied [DS-INBOUND-07]', () => {
    expect(ask('PreToolUse', call('mail ada@example.org')).document).toMatchObject(
      permission('deny', expect.anything()),
    );
    expect(ask('PreToolUse', call('crash')).document).toMatchObject(permission('deny', expect.anything()));
    expect(ask('UserPromptSubmit', { userMessage: 'I am ada@example.org' }).document).toEqual({
      blockingError: '"model" has not allowed it. Send this in its place: I am [email]',
    });
    const stop = { hook_event_name: 'Stop', last_assistant_message: 'run rm -rf /' };
    expect(askProgram(JSON.stringify(stop), { dialect: 'agentao' })).toMatchObject({
      code: 0,
      document: { blockingError: expect.stringContaining('no deleting') },
    });
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{"event": '],
    ['no event', '{"data": {}}'],
    ['an event that nobody knows', '{"event": "PreEverything"}'],
    ['a name that is no text', '{"event": {"toString": null}}'],
  ])('%s on stdin denies at every event, with exit code 0 [DS-INBOUND-07]', (_, input) => {
    expect(askProgram(input, { dialect: 'agentao' })).toMatchObject({
      code: 0,
      document: {
        ...permission('deny', expect.stringMatching(/^signalbox: \[/)),
        blockingError: expect.any(String),
      },
    });
  });

  test('a missing config denies [DS-INBOUND-07]', () => {
    expect(ask('PreToolUse', call('ls'), folderOf({})).document).toMatchObject(
      permission('deny', expect.anything()),
    );
  });

  test('Agentao’s rules read the answers as the guards meant them [DS-INBOUND-07]', async () => {
    const { hooks } = JSON.parse(await exported('agentao'));
    expect(Object.keys(hooks)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PostToolUseFailure',
      'Stop',
      'SessionEnd',
    ]);
    for (const [rule] of Object.values<{ command: string }[]>(hooks))
      if (rule !== undefined) rule.command = asStranger(rule.command);
    const host = await openHost('{dialect: agentao, file: ./hooks.json}', {
      'hooks.json': JSON.stringify({ hooks }),
    });
    const fire = async (point: string, payload: object) =>
      (await host.hooks.fire({ dialect: 'agentao', point, payload: { ...payload } })).verdict;
    const tool = (command: string) => ({
      ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } },
      ...{ event: 'PreToolUse', data: call(command) },
    });
    expect(await fire('PreToolUse', tool('ls'))).toBe('allow');
    expect(await fire('PreToolUse', tool('rm -rf /'))).toBe('deny');
    expect(await fire('PreToolUse', tool('sure?'))).toBe('ask');
    expect(
      await fire('UserPromptSubmit', { event: 'UserPromptSubmit', data: { userMessage: 'rm -rf /' } }),
    ).toBe('deny');
    expect(await fire('Stop', { hook_event_name: 'Stop', last_assistant_message: 'rm -rf /' })).toBe('deny');
  });
});

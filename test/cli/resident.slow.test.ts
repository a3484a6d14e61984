import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clientOnly, socketFolder } from '../dialects/inbound/resident.ts';
import { folderOf, run, start } from './command-line.ts';

const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    any: {command: ./any.sh, hook: tool, timeout_ms: 700}
    prompts: {command: ./any.sh, hook: provider, phases: [before_call], timeout_ms: 700}
`;
const script = `#!/bin/sh
case $(cat) in
  *word-deny*) echo '{"allow": false, "reason": "no\\n\\u00e9\\u0004"}';;
  *word-modify*) echo '{"allow": true, "modified": {"args": {"command": "true"}}}';;
  *word-ask*) echo '{"verdict": "ask", "reason": "sure?"}';;
  *word-text*) echo 'no JSON';;
  *word-exit*) echo broken >&2; exit 3;;
  *word-sleep*) exec sleep 5;;
  *) echo '{"allow": true}';;
esac
`;
const words = ['allow', 'allow', 'deny', 'deny', 'modify', 'ask', 'text', 'exit', 'sleep'];
const names = ['PreToolUse', 'PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'Unknown'];

/** Numbers below 2^32 that look random: a linear congruential generator with a fixed seed. */
function openRandom(seed = 34) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function events(): string[] {
  const random = openRandom();
  const pick = (list: readonly string[]) => list[random(list.length)];
  return Array.from({ length: 200 }, () => {
    const text = `word-${pick(words)} ${String.fromCodePoint(1 + random(0xd7fe))}`;
    const told = {
      ...{ hook_event_name: pick(names), session_id: 's1', cwd: '/project', tool_use_id: 'u1', prompt: text },
      ...{
        tool_name: pick(['Bash', 'Write']),
        tool_input: { command: text },
        tool_response: { stdout: text },
      },
    };
    const json = JSON.stringify(told);
    return random(20) === 0 ? json.slice(0, random(json.length)) : json;
  });
}

test('a resident answers 200 events as the command does, byte for byte', async () => {
  const folder = folderOf({ 'runtime.yaml': config, 'any.sh': script });
  const env = { XDG_RUNTIME_DIR: socketFolder() };
  onTestFinished(async () => void (await run('agents down', { cwd: folder, env, binary: true })));
  expect(await run('agents up', { cwd: folder, env, binary: true })).toMatchObject({ code: 0 });
  const line = ['hook', 'claude', '--log-level', 'silent'];
  const codes = new Map<number | null, number>();
  for (const stdin of events()) {
    const asked = await start(line, { cwd: folder, env, stdin }, [process.execPath, clientOnly()]).ran;
    const alone = { XDG_RUNTIME_DIR: join(folder, 'none') };
    expect({ stdin, ...asked }).toEqual({
      stdin,
      ...(await run(line, { cwd: folder, env: alone, stdin, binary: true })),
    });
    codes.set(asked.code, (codes.get(asked.code) ?? 0) + 1);
  }
  expect(codes.get(0)).toBeGreaterThan(20);
  expect(codes.get(2)).toBeGreaterThan(20);
});

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { socketPlace } from '../../src/base/files/socket-place.ts';
import { exchange } from '../../src/cli/process/ask-resident.ts';
import { clientOnly, openRandom, socketFolder } from '../dialects/inbound/resident.ts';
import { folderOf, processesWith, type Running, run, start, until } from './command-line.ts';

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
  *word-modify*) echo '{"allow": true, "replace": {"args": {"command": "true"}}}';;
  *word-ask*) echo '{"allow": false, "ask": true, "reason": "sure?"}';;
  *word-text*) echo 'no JSON';;
  *word-exit*) echo broken >&2; exit 3;;
  *word-sleep*) exec sleep 5;;
  *) echo '{"allow": true}';;
esac
`;
const words = ['allow', 'allow', 'deny', 'deny', 'modify', 'ask', 'text', 'exit', 'sleep'];
const names = ['PreToolUse', 'PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'Unknown'];

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
  expect(codes.get(0)).toBeGreaterThan(8);
  expect(codes.get(2)).toBeGreaterThan(8);
});

/** Each denies the word of its config, or the other one. All have the same length. */
const guards = ['==', '!='].map(
  (sign) => `#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    text = json.dumps(message["params"])
    if "slowly" in text: time.sleep(0.15)
    denied = "word-" in text and (sys.argv[1] in text) ${sign} True
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"allow": not denied, "reason": "no"}}), flush=True)
`,
);
const configs = ['word-one', 'word-two'].map(
  (word) => `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks: {any: {command: ./scripts/guard.py, args: [${word}], runtime: server, hook: tool, phases: [before_execution]}}
`,
);

const BROKEN = 'spec: [';
const fakedClock = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** A config, its scripts, and a resident, to which steps happen. Its clock jumps where libfaketime exists. */
function openWorld(random: (below: number) => number) {
  const folder = folderOf({});
  const elsewhere = socketFolder();
  const at = (name: string) => join(folder, name);
  const [config, script] = [at('runtime.yaml'), at('scripts/guard.py')];
  const time = new Date(1_700_000_000_000);
  /** With another text and the same size and times, in place or by a file that has lain elsewhere. */
  const put = (file: string, texts: readonly string[]) => {
    const others = texts.filter((text) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
    const draft = random(2) === 0 ? file : join(elsewhere, 'draft');
    writeFileSync(draft, others[random(others.length)] ?? '', { mode: 0o755 });
    utimesSync(draft, time, time);
    if (draft !== file) renameSync(draft, file);
  };
  mkdirSync(dirname(script));
  put(script, guards);
  put(config, configs);
  writeFileSync(join(elsewhere, 'clock'), '+0');
  const hasClock = existsSync(fakedClock);
  const clock = {
    ...{
      FAKETIME_TIMESTAMP_FILE: join(elsewhere, 'clock'),
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    ...(hasClock && { LD_PRELOAD: fakedClock }),
  };
  const env = { XDG_RUNTIME_DIR: elsewhere };
  const { socket } = socketPlace([config], env);
  let resident: Running | undefined;
  const signal = (name: NodeJS.Signals) => void resident?.child.kill(name);
  const pick = (list: readonly (() => void)[]) => list[random(list.length)] ?? (() => {});
  const ofFiles = [
    () => put(config, configs),
    () => put(config, [BROKEN]),
    () => put(script, guards),
    () => put(script, guards),
    () => existsSync(script) && chmodSync(script, random(2) === 0 ? 0o644 : 0o755),
    () => rmSync(script, { force: true }),
    () => writeFileSync(join(elsewhere, 'clock'), `${random(2) === 0 ? '+' : '-'}${random(100)}h`),
  ];
  const ofResident = [
    () => signal('SIGKILL'),
    () => signal('SIGSTOP'),
    () => void setTimeout(signal, random(300), 'SIGKILL'),
    () => void setTimeout(signal, random(300), 'SIGSTOP'),
    () => rmSync(socket, { force: true }),
  ];
  return {
    ...{ folder, env, residents: () => processesWith(elsewhere).length },
    alone: { XDG_RUNTIME_DIR: at('none') },
    step: () => {
      if (readFileSync(config, 'utf8') === BROKEN) put(config, configs);
      if (!existsSync(script)) put(script, guards);
      pick(random(3) === 0 ? ofResident : ofFiles)();
    },
    /** Starts another one if it does not answer, and lets the old one continue. */
    ensureResident: async () => {
      if (existsSync(socket) && (await exchange(socket, '/version')) !== undefined) return;
      signal('SIGCONT');
      resident = start(['agents', 'up', '--foreground'], { cwd: folder, env: { ...env, ...clock } });
      const { child } = resident;
      await until(() => existsSync(socket) || child.exitCode !== null);
    },
    end: async () => {
      for (const pid of [...processesWith(elsewhere), ...processesWith(folder)]) process.kill(pid, 'SIGKILL');
      await resident?.ran;
    },
  };
}

test.each([1, 2])(
  'no event is answered otherwise than by the command alone, whatever happens (%d)',
  async (seed) => {
    const random = openRandom(seed);
    const { folder, env, alone, residents, step, ensureResident, end } = openWorld(random);
    onTestFinished(end);
    const line = ['hook', 'claude', '--log-level', 'silent'];
    let answered = 0;
    for (let round = 0; round < 10; round += 1) {
      await ensureResident();
      for (const word of ['warm', 'one', 'two']) {
        const told = { hook_event_name: 'PreToolUse', session_id: 's1', cwd: '/project', tool_use_id: 'u1' };
        const command = `word-${word}${random(2) === 0 ? ' slowly' : ''}`;
        const stdin = JSON.stringify({ ...told, tool_name: 'Bash', tool_input: { command } });
        const asked = await start(line, { cwd: folder, env, stdin }, [process.execPath, clientOnly()]).ran;
        // The next event meets what happens now with a runtime that is open.
        if (word === 'warm') {
          step();
          continue;
        }
        const isLeft = asked.stderr.includes('ERR_MODULE_NOT_FOUND');
        if (!isLeft) answered += 1;
        const given = isLeft ? await run(line, { cwd: folder, env, stdin, binary: true }) : asked;
        const expected = await run(line, { cwd: folder, env: alone, stdin, binary: true });
        expect({ round, command, ...given }).toEqual({ round, command, ...expected });
      }
    }
    expect(answered).toBeGreaterThan(8);
    await ensureResident();
    // A replaced resident ends by itself.
    await until(() => residents() === 1);
  },
);

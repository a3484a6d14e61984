import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtProgram } from '../../../built.ts';
import { folderOf, run, start } from '../../../cli/command-line.ts';
import { openRandom, socketFolder } from '../../inbound/resident.ts';
import { hasProgram, playClaude, type ToolUse } from './real.ts';

const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  gateway: {listen: 127.0.0.1:8787}
  hooks:
    words: {command: ./guard.py, runtime: server, hook: tool, timeout_ms: 2000}
`;
const guard = `#!/usr/bin/env python3
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    params = message["params"]
    text = json.dumps(params)
    result = {"allow": True}
    if params["phase"] == "before_execution":
        if "word-deny" in text: result = {"allow": False, "reason": "no\\n\\u00e9"}
        if "word-ask" in text: result = {"allow": False, "ask": True, "reason": "sure?"}
        if "word-change" in text: result["replace"] = {"args": {"command": "echo other", "description": "d"}}
        if "word-crash" in text: os._exit(3)
        if "word-sleep" in text: time.sleep(3)
    elif "word-hide" in text: result = {"allow": False, "reason": "leak"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`;
const words = ['allow', 'allow', 'allow', 'deny', 'deny', 'ask', 'change', 'hide', 'fail'];

function calls(): ToolUse[] {
  const random = openRandom();
  const pick = (list: readonly string[]) => list[random(list.length)];
  return Array.from({ length: 200 }, (_, index) => {
    const word = index % 40 === 39 ? pick(['crash', 'sleep']) : pick(words);
    const text = `word-${word} ${String.fromCodePoint(0x21 + random(0x5000))} ${index}`;
    const name = pick(['Bash', 'Bash', 'Write', 'Read']);
    if (name === 'Write') return { name, input: { file_path: `${index}.txt`, content: text } };
    if (name === 'Read')
      return { name, input: { file_path: random(2) === 0 ? 'a.txt' : `word-${word}.txt` } };
    const quoted = `echo '${text.replaceAll("'", '')}'`;
    return {
      name: 'Bash',
      input: { command: word === 'fail' ? `${quoted}; exit 3` : quoted, description: 'd' },
    };
  });
}

/** The time of a turn that a share of the turns does not exceed. */
function quantile(times: readonly number[], share: number): string {
  const sorted = times.toSorted((one, other) => one - other);
  return `${Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)} ms`;
}

test.skipIf(!hasProgram)(
  'Claude Code gets the same decisions on 200 calls whichever way it asks',
  async () => {
    // In folders of their own: a resident starts a server anew if a file beside its script has changed.
    const guards = folderOf({ 'runtime.yaml': config, 'guard.py': guard });
    const place = folderOf({});
    const work = join(place, 'work');
    const env = { XDG_RUNTIME_DIR: socketFolder() };
    const signalbox = async (line: string) => (await run(line, { cwd: guards, env, binary: true })).stdout;
    const play = async (title: string, settings: string, more: Record<string, string> = {}) => {
      rmSync(work, { recursive: true, force: true });
      mkdirSync(work);
      writeFileSync(join(work, 'a.txt'), 'word-hide 42\n');
      writeFileSync(join(place, 'settings.json'), settings);
      const played = await playClaude(place, work, {
        tools: calls(),
        isWhole: true,
        more: { ...env, ...more },
      });
      const { results, sessions, turnMs } = played;
      process.stdout.write(`${title}: p50 ${quantile(turnMs, 0.5)}, p99 ${quantile(turnMs, 0.99)} a turn\n`);
      return { results: [...results], sessions };
    };
    await play('no hook', '{}');
    const alone = await play('the command alone', await signalbox('hook export --dialect claude'));
    expect(alone.sessions.at(-1)).toBeGreaterThanOrEqual(200);

    onTestFinished(async () => void (await signalbox('agents down')));
    await signalbox('agents up');
    const way = await signalbox('hook export --dialect claude');
    expect(await play('the command with a resident', way)).toEqual(alone);
    // Without the command, only the resident can answer.
    const line = (await signalbox('hook export --dialect claude --resident')).replaceAll(
      builtProgram,
      '/gone',
    );
    expect(await play('the line with curl', line)).toEqual(alone);
    await signalbox('agents down');
    const serve = start('serve --json --listen 127.0.0.1:0'.split(' '), { cwd: guards, env });
    onTestFinished(async () => {
      serve.child.kill('SIGTERM');
      await serve.ran;
    });
    const [first] = await once(serve.child.stdout ?? process.stdin, 'data');
    const { agents }: { readonly agents: string } = JSON.parse(String(first));
    const http = (await signalbox('hook export --dialect claude --http')).replaceAll(
      'http://127.0.0.1:8787/agents/claude',
      agents,
    );
    const token = (await signalbox('agents token')).trim();
    expect(await play('HTTP', http, { SIGNALBOX_AGENT_TOKEN: token })).toEqual(alone);
  },
);

import { spawnSync } from 'node:child_process';
import { builtProgram } from '../../built.ts';
import { folderOf } from '../../cli/command-line.ts';
import { askThroughResident, isThroughResident } from './resident.ts';

/** Denies, asks, changes, crashes or hangs, depending on its input. */
export const guard = `#!/usr/bin/env python3
import json, re, sys
event = json.load(sys.stdin.buffer)
text = json.dumps(event.get("response", event["request"]), ensure_ascii=False)
phase = event["phase"]
if "crash" in text: sys.exit(3)
if "hang" in text:
    import time; time.sleep(60)
if "rm -rf" in text: reply = {"allow": False, "reason": "no deleting: \\"quotes\\" and $(touch hacked)"}
elif "sure?" in text: reply = {"allow": False, "ask": True, "reason": "a person should look"}
elif "ada@example.org" in text and phase == "before_execution":
    reply = {"allow": True, "replace": {"args": json.loads(json.dumps(event["request"]["args"]).replace("ada@example.org", "[email]"))}}
elif "ada@example.org" in text and phase == "after_execution":
    reply = {"allow": True, "replace": {"content": event["response"]["content"].replace("ada@example.org", "[email]")}}
elif "broken form" in text and phase == "after_execution": reply = {"allow": True, "replace": {"content": "no JSON"}}
elif "ada@example.org" in text and phase == "before_call":
    messages = event["request"]["messages"]
    messages[-1] = {"role": "user", "content": messages[-1]["content"].replace("ada@example.org", "[email]")}
    reply = {"allow": True, "replace": {"messages": messages}}
else: reply = {"allow": True}
json.dump(reply, sys.stdout)
`;
export const config = `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  state_store: {type: memory}
  hooks:
    tools: {command: ./guard.py, hook: tool, timeout_ms: 4000}
    model: {command: ./guard.py, hook: provider, timeout_ms: 4000}
    audit: {command: ./audit.sh, hook: session}
`;

export const audit = '#!/bin/sh\ncat >> sessions\n';
export const guarded = folderOf({ 'runtime.yaml': config, 'guard.py': guard, 'audit.sh': audit });

export interface Answered {
  readonly code: number | null;
  readonly document: unknown;
  readonly stderr: string;
}

export interface Asking {
  readonly dialect: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
}

export function askProgram(
  input: string,
  { dialect, cwd = guarded, env = process.env, args = [] }: Asking,
): Answered {
  const words = ['hook', dialect, '--log-level', 'silent', ...args];
  const { status, stdout, stderr } = askWith([builtProgram, ...words], { cwd, env, input });
  return { code: status, document: stdout === '' ? null : JSON.parse(stdout), stderr };
}

type Circumstances = { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly input: string };

function askWith(line: readonly string[], circumstances: Circumstances) {
  if (isThroughResident()) return askThroughResident(line, circumstances);
  return spawnSync(process.execPath, line, { ...circumstances, encoding: 'utf8', maxBuffer: 1e9 });
}

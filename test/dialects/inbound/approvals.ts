import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRuntime, type Runtime } from '../../../src/index.ts';
import { builtProgram } from '../../built.ts';
import { folderOf } from '../../cli/command-line.ts';
import { type Answered, askProgram } from './guards.ts';

export function openProject(more = '', approval = ''): string {
  return folderOf({
    'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  hooks:
    words: {command: ./words.py, hook: tool, phases: [before_execution]}
  approvals:
    push:
      tools: [Bash, shell, "mcp__prod__*"]
      when: \${args.command.contains("push")}
      message: Run \${args.command}?
${approval}
${more}
`,
    'words.py': `#!/usr/bin/env python3
import json, sys
args = json.load(sys.stdin)["request"]["args"]
allow = "--force" not in args["command"]
reply = {"allow": allow, "reason": "" if allow else "never by force"}
if "secret" in args["command"]:
    args["command"] = args["command"].replace("secret", "[gone]")
    reply["replace"] = {"args": args}
json.dump(reply, sys.stdout)
`,
    'tell.sh': '#!/bin/sh\ncat >> told\n',
  });
}

export const pushing = (fields: object = {}) => ({
  ...{ hook_event_name: 'PreToolUse', session_id: 's1', cwd: '/project', tool_use_id: 'u1' },
  ...{ tool_name: 'Bash', tool_input: { command: 'git push', timeout: 5 } },
  ...fields,
});

export const ask = (folder: string, event: object = pushing()): Answered =>
  askProgram(JSON.stringify(event), { dialect: 'claude', cwd: folder });

export const passes: Answered = { code: 0, document: null, stderr: '' };

/** Works on the project's store in a process that runs none of the hooks. */
export async function within<Result>(folder: string, work: (runtime: Runtime) => Promise<Result>) {
  await using runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  return await work(runtime);
}

export const findOpen = (folder: string) => within(folder, (runtime) => runtime.pending.list());

export async function decide(
  folder: string,
  how: 'approve' | 'reject' | 'respond',
  more: { readonly by?: string; readonly args?: unknown; readonly result?: unknown } = {},
): Promise<string> {
  return await within(folder, async (runtime) => {
    const [pending, ...others] = await runtime.pending.list();
    if (pending === undefined || others.length > 0) throw new Error(`${others.length} others wait`);
    const decision = { by: 'mara', reason: 'looked at it', result: null, ...more };
    await runtime.pending[how](pending.id, decision);
    return pending.id;
  });
}

export function begin(folder: string, event: object = pushing(), dialect = 'claude') {
  const child = spawn(process.execPath, [builtProgram, 'hook', dialect, '--log-level', 'silent'], {
    cwd: folder,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stdin.end(JSON.stringify(event));
  const ended = new Promise<{ readonly code: number | null; readonly stdout: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout }));
  });
  return { child, ended };
}

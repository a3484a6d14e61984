import type { RuntimeOptions } from '../../../src/index.ts';
import { type OpenProject, openProject, runtimeYaml } from '../project.ts';

/** A settings file of Claude Code: for each event its groups. */
export function settings(hooks: Readonly<Record<string, readonly object[]>>, more: object = {}): string {
  return JSON.stringify({ ...more, hooks }, null, 2);
}

export function command(line: string, more: object = {}) {
  return { type: 'command', command: line, ...more };
}

export function on(matcher: string | undefined, line: string, more: object = {}) {
  return { ...(matcher !== undefined && { matcher }), hooks: [command(line, more)] };
}

export interface Beside {
  readonly spec?: string;
  readonly more?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: RuntimeOptions;
}

export async function openClaude(
  hooks: Readonly<Record<string, readonly object[]>>,
  { spec = '', more = '', files = {}, options = {} }: Beside = {},
): Promise<OpenProject> {
  const imports = `imports:\n  - {dialect: claude, file: .claude/settings.json${more}}\n`;
  const texts = { '.claude/settings.json': settings(hooks), 'runtime.yaml': runtimeYaml(imports + spec) };
  return await openProject({ ...texts, ...files }, options);
}

export function specific(hookEventName: string, members: object): string {
  return `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName, ...members } })}'`;
}

/** Denies commands that remove files. In the style of the hooks guide. */
export const blockRm = `#!/bin/bash
COMMAND=$(python3 -c 'import json,sys; print(json.load(sys.stdin)["tool_input"]["command"])' < /dev/stdin)
if echo "$COMMAND" | grep -q 'rm -rf'; then
  echo "Destructive command blocked by hook" >&2
  exit 2
else
  exit 0
fi
`;

/** Suggests another tool. In the style of the reference's "Bash command validation". */
export const validateCommand = `#!/usr/bin/env python3
import json
import re
import sys

VALIDATION_RULES = [
    (r"\\bgrep\\b(?!.*\\|)", "Use 'rg' (ripgrep) instead of 'grep' for better performance and features"),
    (r"\\bfind\\s+\\S+\\s+-name\\b", "Use 'rg --files -g pattern' instead of 'find -name'"),
]

try:
    input_data = json.load(sys.stdin)
except json.JSONDecodeError as e:
    print(f"Error: Invalid JSON input: {e}", file=sys.stderr)
    sys.exit(1)

command = input_data.get("tool_input", {}).get("command", "")
issues = [message for pattern, message in VALIDATION_RULES if re.search(pattern, command)]
if issues:
    for message in issues:
        print(f"• {message}", file=sys.stderr)
    sys.exit(2)
`;

/** Approves reading documentation. In the style of the reference's PreToolUse example. */
export const approveDocs = `#!/usr/bin/env python3
import json
import sys

data = json.load(sys.stdin)
if data["tool_name"] == "Read" and data["tool_input"].get("file_path", "").endswith((".md", ".txt")):
    print(json.dumps({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "Documentation file auto-approved"
        },
        "suppressOutput": True
    }))
sys.exit(0)
`;

/** Adds the time to a prompt, or denies it. In the style of the reference's UserPromptSubmit example. */
export const checkPrompt = `#!/usr/bin/env python3
import json
import re
import sys

prompt = json.load(sys.stdin).get("prompt", "")
if re.search(r"(?i)\\b(password|secret|key|token)\\s*[:=]", prompt):
    print(json.dumps({"decision": "block", "reason": "Security policy violation: Prompt contains potential secrets."}))
    sys.exit(0)
print("Current time: noon")
sys.exit(0)
`;

/** Rewrites arguments. In the style of the SDK's examples. */
export const rewriteInput = `#!/usr/bin/env node
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; });
process.stdin.on('end', () => {
  const { tool_input } = JSON.parse(text);
  console.log(JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput: { ...tool_input, command: tool_input.command + ' --dry-run' },
    },
  }));
});
`;

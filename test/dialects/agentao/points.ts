import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DecisionDocument, openRuntime, type Runtime, type RuntimeEvent } from '../../../src/index.ts';
import { newProject, runtimeYaml } from '../project.ts';

/** Recipe 1 of the guide: text for the model, a block, and a stop. */
const remember = `#!/usr/bin/env python3
import json, sys

event = json.load(sys.stdin)
message = event["data"]["userMessage"]
if "password" in message:
    print(json.dumps({"blockingError": "no passwords in prompts"}))
elif message == "enough":
    print(json.dumps({"preventContinuation": True, "stopReason": "that was the last one"}))
elif message == "bare":
    print("The user works at night.")
else:
    print(json.dumps({"additionalContext": [f"It is {event['event']}.", "The repository is frozen."]}))
`;

/** Recipe 2: a check of a tool before it runs. */
const guard = `#!/bin/bash
input=$(cat)
case $input in
  *'"command": "rm'*) echo '{"blockingError": "rm is not allowed here"}'; exit 1 ;;
  *'"command": "push'*) echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "a push is for people"}}' ;;
  *'"command": "sudo'*) echo '{"hookSpecificOutput": {"permissionDecision": "deny", "reason": "no root"}}' ;;
  *'"command": "loop'*) echo '{"continue": false, "stopReason": "this goes in circles"}' ;;
  *'"command": "curl'*) echo '{"hookSpecificOutput": {"updatedInput": {"command": "curl -fsS"}, "additionalContext": "made quiet"}}' ;;
  *'"command": "odd'*) echo '{"hookSpecificOutput": {"permissionDecision": "perhaps"}}' ;;
  *'"command": "fail'*) echo "guard broke" >&2; exit 3 ;;
esac
`;

const classify = `#!/usr/bin/env node
let text = '';
process.stdin.on('data', (part) => { text += part; });
process.stdin.on('end', () => {
  const { event, data } = JSON.parse(text);
  if (event === 'PostToolUse' && data.toolOutput.includes('AKIA')) {
    console.log(JSON.stringify({ hook_blocking_error: 'the result has a key' }));
  } else if (event === 'PostToolUse') {
    console.log(JSON.stringify({ additionalContext: data.toolName + ' said ' + data.toolOutput }));
  } else if (data.error.includes('disk')) {
    console.log(JSON.stringify({ blocking_error: 'the disk is full' }));
  } else {
    console.log(JSON.stringify({ attachment_type: 'hook_additional_context', payload: { context: 'try again' } }));
  }
});
`;

/** Recipe 3: the turn continues until the checklist is done. */
const unfinished = `#!/usr/bin/env python3
import json, sys

event = json.load(sys.stdin)
answer = event["last_assistant_message"]
if event["at_max_iter"]:
    sys.exit(0)
if "TODO" in answer:
    print(json.dumps({"force_continue": True, "follow_up_message": "Finish every TODO."}))
elif "key" in answer:
    print(json.dumps({"blockingError": "the answer has a key"}))
elif answer == "tests":
    print("2 tests fail", file=sys.stderr)
    sys.exit(2)
else:
    print(json.dumps({"additionalContext": "checked", "suppressOutput": answer == "quiet"}))
`;

const greet = '#!/bin/sh\ncat >/dev/null; echo \'{"additionalContext": "Today the shop is closed."}\'\n';
const log = `#!/bin/sh
printf '%s\\n' "$(cat)" >> "$(dirname "$0")/log"
echo '{"blockingError": "too late"}'
exit 2
`;

const rule = (command: string, more = {}) => ({ type: 'command', command: `./hooks/${command}`, ...more });
const rules = {
  UserPromptSubmit: [rule('remember.py'), { type: 'prompt', prompt: 'Answer "{userMessage}" in markdown.' }],
  SessionStart: rule('greet.sh'),
  SessionEnd: rule('log.sh'),
  PreToolUse: rule('guard.sh', { matcher: { tool_name: 'run_shell_*' } }),
  PostToolUse: rule('classify.js'),
  PostToolUseFailure: rule('classify.js'),
  Stop: rule('unfinished.py'),
  PreCompact: rule('log.sh', { matcher: { trigger: 'manual' } }),
};

export async function open() {
  const folder = newProject({
    'runtime.yaml': runtimeYaml(
      'state_store: {type: memory}\nimports: [{dialect: agentao, file: hooks.json}]',
    ),
    'hooks.json': JSON.stringify({ hooks: rules }),
    'hooks/remember.py': remember,
    'hooks/guard.sh': guard,
    'hooks/classify.js': classify,
    'hooks/unfinished.py': unfinished,
    'hooks/greet.sh': greet,
    'hooks/log.sh': log,
  });
  const events: RuntimeEvent[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    log: false,
    onEvent: (event) => events.push(event),
  });
  onTestFinished(() => runtime.close());
  return { folder, runtime, events };
}

export const fire = (runtime: Runtime, point: string, payload: unknown) =>
  runtime.hooks.fire({ dialect: 'agentao', point, payload }, { wholeFaults: true });

/** The decision, its messages reduced to type and payload. */
export function told({ metadata, ...decision }: DecisionDocument) {
  const plain = JSON.parse(JSON.stringify(metadata), (key, value) =>
    key === 'messages'
      ? value.map((each: Record<string, unknown>) => [each['attachment_type'], each['payload']])
      : value,
  );
  return { ...decision, metadata: plain };
}

/** An allow without any hook. */
export const bare = {
  verdict: 'allow',
  hook: null,
  dialect: 'agentao',
  reason: '',
  enforced: false,
  replace: null,
  result: null,
  context: [],
  abort: null,
};

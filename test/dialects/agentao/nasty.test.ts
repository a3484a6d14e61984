import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { DecisionDocument } from '../../../src/index.ts';
import { titled } from '../../cite.ts';
import { openProject, runtimeYaml } from '../project.ts';

const scripts = {
  opens:
    '#!/bin/sh\nread -r line < /dev/stdin\ncase $line in *hello*) echo "I read it." ;; *) exit 2 ;; esac\n',
  exits2: '#!/bin/sh\necho "no good" > /dev/stderr\nexit 2\n',
  deaf: '#!/bin/sh\necho \'{"additionalContext": "read nothing"}\'\n',
  forks:
    '#!/bin/sh\ncat > /dev/null\nsleep 20 &\necho $! > child\necho \'{"additionalContext": "left a child"}\'\n',
  banner: '#!/bin/sh\ncat > /dev/null\necho "guard v1.0"\necho \'{"blockingError": "no"}\'\n',
  hangs: '#!/bin/sh\nsleep 20 &\necho $! > child\nwait\n',
  dies: '#!/bin/sh\nkill -9 $$\n',
  floods: '#!/bin/sh\nhead -c 3000 /dev/zero\n',
  tells:
    '#!/bin/sh\nprintf \'%s|%s|%s|%s\' "$PWD" "$SHOWN" "${HOST_SECRET-unset}" "$(head -c 9 | tr -d \\")"\n',
};

interface Asked {
  readonly script: keyof typeof scripts;
  readonly event: string;
  readonly isStrict?: boolean;
  readonly timeoutMs?: number;
}

async function openRule({ script, event, isStrict = false, timeoutMs = 5_000 }: Asked) {
  const limits = `cwd: sub, timeout_ms: ${timeoutMs}, grace_ms: 50, max_output_bytes: 2000`;
  const strict = isStrict ? ', on_failure: deny' : '';
  const rule = `{dialect: agentao, command: ./rule.sh, env: [SHOWN=yes], ${limits}${strict}, agentao: {event: ${event}}}`;
  const project = await openProject(
    {
      'runtime.yaml': runtimeYaml(`state_store: {type: memory}\nhooks:\n  rule: ${rule}`),
      'sub/rule.sh': scripts[script],
    },
    { env: { ...process.env, HOST_SECRET: 'x' } },
  );
  const fire = (text = 'hello') =>
    project.runtime.hooks.fire(
      { dialect: 'agentao', point: event, payload: payloadOf(event, text) },
      { wholeFaults: true },
    );
  return { ...project, fire };
}

function payloadOf(event: string, text: string) {
  if (event === 'UserPromptSubmit') return { userMessage: text };
  if (event === 'Stop') return { last_assistant_message: text };
  const call = { toolName: 'work', toolInput: { text } };
  return event === 'PostToolUse' ? { ...call, toolOutput: text } : call;
}

/** A decision in one line: verdict, reason, contexts, replacements, and the rule of a failure. */
function say({ verdict, reason, context, replace, metadata }: DecisionDocument): string {
  const { failed_open: open, failed_closed: closed } = JSON.parse(JSON.stringify(metadata));
  const cause = open === undefined ? closed && `closed ${closed.cause}` : `open ${open.cause}`;
  const texts = context.length === 0 ? [] : [JSON.stringify(context)];
  return [
    verdict,
    ...(reason === '' ? [] : [reason]),
    ...texts,
    ...(replace ? [JSON.stringify(replace)] : []),
  ]
    .concat(cause ?? [])
    .join(' ');
}

const asks = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse'];
const goesOn = 'modify no good {"follow_up":"no good"}';
const passed = 'the event passes by the rule agentao.exit_nonzero; `on_failure: deny` would stop it';
const bannerNote = 'its denial counts, although stdout has other text too: print one JSON object';

interface Row {
  readonly title: string;
  readonly cites: string;
  readonly asked: Asked;
  readonly text?: string;
  readonly says: unknown;
  readonly warnings: readonly unknown[];
}

const rows: readonly Row[] = [
  ...['UserPromptSubmit', 'Stop'].flatMap((event) =>
    [false, true].map((isStrict) => ({
      title: `a rule that opens /dev/stdin reads ${event}`,
      cites: 'AO-6-06@oneshot',
      asked: { script: 'opens', event, isStrict } as const,
      says: 'allow ["I read it."]',
      warnings: [],
    })),
  ),
  ...asks.map((event) => ({
    title: `exit 2 with a text in /dev/stderr passes at ${event}, and is told`,
    cites: 'AO-7-35@oneshot',
    asked: { script: 'exits2', event } as const,
    says: 'allow open agentao.exit_nonzero',
    warnings: [`it exited with code 2, and ${passed}`],
  })),
  ...asks.map((event) => ({
    title: `on_failure: deny closes exit 2 at ${event}`,
    cites: 'AO-7-36@oneshot',
    asked: { script: 'exits2', event, isStrict: true } as const,
    says: 'deny hook "rule" exited with code 2 closed agentao.exit_nonzero',
    warnings: [],
  })),
  ...[false, true].map((isStrict) => ({
    title: 'exit 2 with a text in /dev/stderr makes a turn go on at Stop',
    cites: 'AO-7-19@oneshot',
    asked: { script: 'exits2', event: 'Stop', isStrict } as const,
    says: goesOn,
    warnings: [],
  })),
  ...[false, true].map((isStrict) => ({
    title: 'a rule that reads nothing of a large payload answers as any other',
    cites: 'AO-6-01@oneshot',
    asked: { script: 'deaf', event: 'UserPromptSubmit', isStrict } as const,
    text: 'x'.repeat(1_048_576),
    says: 'allow ["read nothing"]',
    warnings: [],
  })),
  ...[false, true].map((isStrict) => ({
    title: 'text before a denial does not hide it, which is told',
    cites: 'AO-7-41@oneshot',
    asked: { script: 'banner', event: 'UserPromptSubmit', isStrict } as const,
    says: 'deny no',
    warnings: [bannerNote],
  })),
  {
    title: 'text before the denial of a guard does not hide it, which is told',
    cites: 'AO-7-41@oneshot',
    asked: { script: 'banner', event: 'PreToolUse' } as const,
    says: 'deny no',
    warnings: [bannerNote],
  },
  {
    title: 'a rule that a signal ends passes as a bad exit',
    cites: 'AO-7-16@oneshot',
    asked: { script: 'dies', event: 'PreToolUse' } as const,
    says: 'allow open agentao.exit_nonzero',
    warnings: [expect.stringContaining(passed)],
  },
  {
    title: 'a rule that floods its stdout denies',
    cites: 'AO-7-37@oneshot',
    asked: { script: 'floods', event: 'PreToolUse' } as const,
    says: expect.stringMatching(/^deny hook "rule" failed: /),
    warnings: [],
  },
];

test.each(titled(rows))('$title', async ({ asked, text, says, warnings: expected }) => {
  const { fire, warnings } = await openRule(asked);
  const decision = await fire(text);
  // Warnings about the file itself come when it is opened.
  const told = warnings().filter((each) => !each.startsWith('hooks['));
  expect([say(decision), told]).toEqual([says, expected]);
});

function childOf(folder: string): number {
  const pid = Number(readFileSync(join(folder, 'sub/child'), 'utf8'));
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid);
  });
  return pid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie counts as dead.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('a child that holds stdout open delays no answer, and survives [AO-6-01@oneshot]', async () => {
  const { folder, fire } = await openRule({ script: 'forks', event: 'UserPromptSubmit' });
  expect(say(await fire())).toBe('allow ["left a child"]');
  expect(isAlive(childOf(folder))).toBe(true);
});

test.each([
  { isStrict: false, says: 'allow open agentao.timeout' },
  { isStrict: true, says: 'deny hook "rule" did not answer in time closed agentao.timeout' },
])(
  'a hanging rule is killed with its children: $says [PK-2-25@oneshot AO-7-35@oneshot AO-7-36@oneshot]',
  async ({ isStrict, says }) => {
    const { folder, fire } = await openRule({
      script: 'hangs',
      event: 'PreToolUse',
      isStrict,
      timeoutMs: 300,
    });
    expect(say(await fire())).toBe(says);
    await expect.poll(() => isAlive(childOf(folder))).toBe(false);
  },
);

test.each([
  { isStrict: false, says: 'allow open agentao.spawn' },
  { isStrict: true, says: 'deny hook "rule" could not be started closed agentao.spawn' },
])(
  'a rule with a missing folder cannot be started: $says [AO-7-35@oneshot AO-7-36@oneshot]',
  async ({ isStrict, says }) => {
    const { folder, fire } = await openRule({ script: 'deaf', event: 'PreToolUse', isStrict });
    rmSync(join(folder, 'sub'), { recursive: true });
    expect(say(await fire())).toBe(says);
  },
);

test('a rule gets its folder, JSON on stdin and the environment that it names [AO-6-01@oneshot AO-6-02@oneshot]', async () => {
  const { folder, fire } = await openRule({ script: 'tells', event: 'UserPromptSubmit' });
  expect(say(await fire())).toBe(`allow ["${folder}/sub|yes|unset|{event:"]`);
});

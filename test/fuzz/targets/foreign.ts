import type { Answer } from '../../../src/contract/hook.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { chibi } from '../../../src/dialects/chibi/dialect.ts';
import { claudeEvents, claudeGuardEvents } from '../../../src/dialects/claude/config/settings.ts';
import * as agentaoAsking from '../../dialects/agentao/asking.ts';
import * as chibiAsking from '../../dialects/chibi/asking.ts';
import { left, readAt } from '../../dialects/claude/handler.ts';
import { answered, answerTo } from '../../dialects/picoclaw/seat.ts';
import { bytesOf, holds, type Target } from '../target.ts';

/** The first two characters select the point and the exit; the rest is the output. */
interface Printed {
  readonly point: string;
  readonly exit: number | null;
  readonly stdout: Buffer;
  readonly said: Readonly<Record<string, unknown>> | undefined;
}

const exits = [0, 0, 0, 0, 1, 2, 127, null];

function printedAt(input: string, points: readonly string[]): Printed {
  const stdout = bytesOf(input.slice(2));
  return {
    point: points[(input.charCodeAt(0) || 0) % points.length] ?? '',
    exit: exits[input.charCodeAt(1) & 7] ?? null,
    stdout,
    said: objectIn(stdout),
  };
}

function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString().trim());
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMapping ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

function passes({ verdict }: Answer): boolean {
  return verdict === 'allow' || verdict === 'modify' || verdict === 'respond';
}

function isNamed({ metadata }: Answer): boolean {
  return metadata.text.includes('"failed_open"');
}

function seedsAt(points: readonly string[], texts: readonly string[]): string[] {
  return points.flatMap((_point, index) =>
    texts.map((text) => String.fromCharCode(index) + String.fromCharCode(0) + text),
  );
}

const common = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    'true',
    'false',
    'null',
    '1',
    '"allow"',
    '"deny"',
    '"block"',
    '"reason":',
    '\\',
    ' ',
  ],
  ...['"__proto__":', '\u00ef\u00bb\u00bf', '\u00ff', '\n', '"approve"', '"ask"', '""', '{}', '[]'],
];

const guards = ['PreToolUse', 'PermissionRequest', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'PreCompact'];
const claudePoints = [...guards, ...claudeEvents.filter((event) => !guards.includes(event))];

/** Output of a Claude Code handler. Source of the rules: docs/reference/protocols/claude-code-hooks.md. */
export const claude: Target = {
  seeds: seedsAt(guards, [
    ...['approve', 'Allow', 'yes'].map((behavior) =>
      JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior } } }),
    ),
    ...['approve', 'Allow', 'yes'].map((permissionDecision) =>
      JSON.stringify({ hookSpecificOutput: { permissionDecision } }),
    ),
    '{"continue":true,"decision":"block","reason":"no"}',
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}}',
    '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{}}}}',
    'plain text',
  ]),
  tokens: [
    ...common,
    ...[
      '"continue":',
      '"stopReason":',
      '"decision":',
      '"hookSpecificOutput":',
      '"hookEventName":',
      '"PreToolUse"',
    ],
    ...[
      '"permissionDecision":',
      '"updatedInput":',
      '"behavior":',
      '"additionalContext":',
      '"updatedToolOutput":',
    ],
    ...[
      '"action":',
      '"async":true',
      '"suppressOutput":',
      '"systemMessage":',
      '"defer"',
      '"interrupt":',
      '"message":',
    ],
  ],
  maxLength: 600,
  run: (input) => {
    const { point, exit, stdout, said } = printedAt(input, claudePoints);
    const reply = left(stdout, { exitCode: exit, stderr: 'why' });
    const own = readAt(point, reply).output;
    const closed = readAt(point, reply, { onFailure: 'deny' }).output;
    holds(!isNamed(own) || !passes(closed) || !claudeGuardEvents.has(point), 'open though closed', point);
    // Where nothing can be stopped, exit code 2 is a message to the model. At the end of a turn it forces another turn.
    if (exit !== 0 && exit !== 2 && claudeGuardEvents.has(point)) {
      holds(!passes(closed) || said !== undefined, 'a failure passes', point, exit);
    }
    if (exit === 2 && point === 'PreToolUse') holds(!passes(own), 'exit code 2 passes');
    const output = memberOf(said, 'hookSpecificOutput');
    if (point === 'PermissionRequest') {
      const isSaid = memberOf(memberOf(output, 'decision'), 'behavior') === 'allow';
      holds(!passes(own) || isSaid, 'an approval', own.verdict);
    }
    if (point === 'PreToolUse' && exit === 0 && passes(own)) {
      const word = memberOf(output, 'permissionDecision') ?? 'allow';
      holds(word === 'allow' || word === 'ask', 'it passes with', word);
      holds(memberOf(said, 'continue') !== false && memberOf(said, 'decision') !== 'block', 'it is stopped');
    }
  },
};

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}

const agentaoPoints = Object.keys(agentao.points);

export const agentaoRules: Target = {
  seeds: seedsAt(agentaoPoints, [
    '{"blockingError":"no","messages":[{"content":"x"}]}',
    '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}},"continue":true}',
    '{"attachment_type":"hook_success","payload":{"decision":"approve"},"additionalContext":["a"]}',
  ]),
  tokens: [
    ...common,
    ...[
      '"blockingError":',
      '"blocking_error":',
      '"hook_blocking_error"',
      '"preventContinuation":',
      '"continue":',
    ],
    ...[
      '"decision":',
      '"stopReason":',
      '"additionalContext":',
      '"hookSpecificOutput":',
      '"attachment_type":',
    ],
    ...[
      '"payload":',
      '"messages":',
      '"permissionDecision":',
      '"updatedInput":',
      '"updatedToolOutput":',
      '"force_continue":',
    ],
    ...['NaN', 'Infinity', "'", 'True', 'None', '"hook_success"', '"defer"'],
  ],
  maxLength: 600,
  run: (input) => {
    const { point, exit, stdout, said } = printedAt(input, agentaoPoints);
    const { ask, left: leftBy, seatAt } = agentaoAsking;
    const reply = leftBy(stdout, { exit });
    const own = ask({ point, reply });
    const closed = ask({ point, reply, seat: { ...seatAt(point), onFailure: 'deny' } });
    const isGuard = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit'].includes(point);
    holds(!isNamed(own) || !passes(closed) || !isGuard, 'open though closed', point);
    const error = memberOf(said, 'blockingError') ?? memberOf(said, 'blocking_error') ?? null;
    const isTwice = /blocking_?error[\s\S]*blocking_?error/i.test(input);
    if (isGuard && error !== null && !isTwice) holds(!passes(own), 'a blocking error passes', point, error);
    // At a prompt, the exit code counts only without output.
    if (
      isGuard &&
      exit !== 0 &&
      said === undefined &&
      (point !== 'UserPromptSubmit' || stdout.length === 0)
    ) {
      holds(!passes(own) || isNamed(own), 'a failure passes unnamed', point, exit);
    }
  },
};

const chibiPoints = Object.keys(chibi.points);

export const chibiPlugins: Target = {
  seeds: seedsAt(chibiPoints, [
    '{"block":true,"message":"no"}',
    '{"arguments":{"a":1}}',
    '{"prompt":"p","inject":["x"]}',
    '',
  ]),
  tokens: [
    ...common,
    ...[
      '"block":',
      '"denied":',
      '"message":',
      '"arguments":',
      '"output":',
      '"prompt":',
      '"inject":',
      '"tools":',
    ],
    ...[
      '"include":',
      '"exclude":',
      '"request_body":',
      '"fallback":',
      '"call_agent"',
      '"fuel":',
      '"fuel_delta":',
    ],
    ...['"delivered":', '"via":', '"response":', '"approved":'],
  ],
  maxLength: 600,
  run: (input) => {
    const { point, exit, stdout, said } = printedAt(input, chibiPoints);
    const reply = chibiAsking.printed(stdout, { exitCode: exit, signal: exit === null ? 'SIGKILL' : null });
    const own = chibiAsking.readAt(point, reply);
    const closed = chibiAsking.readAt(point, reply, 'deny');
    const isFilter = chibi.points[point]?.isFilter === true;
    const isWhole = exit === 0 && said !== undefined;
    holds(!isFilter || isWhole || (own.verdict === 'allow' && isNamed(own)), 'unnamed', point, own.verdict);
    holds(!isNamed(own) || closed.verdict === 'deny', 'open though closed', point, closed.verdict);
    const isGate = ['pre_tool', 'pre_shell_exec', 'pre_file_read'].includes(point);
    const blocks = memberOf(said, 'block') === true || memberOf(said, 'denied') === true;
    if (isGate && isWhole && blocks && own.verdict !== 'deny') holds(!passes(own), 'a block is lost', point);
  },
};

const stages = ['before_llm', 'after_llm', 'before_tool', 'after_tool', 'approve_tool'];
const passing: readonly unknown[] = ['continue', 'modify', 'respond'];
const denying: readonly unknown[] = ['deny_tool', 'abort_turn', 'hard_abort'];

export const picoclaw: Target = {
  seeds: seedsAt(stages, [
    '{"action":"continue","reason":"ok"}',
    '{"action":"modify","call":{"tool":"echo","arguments":{"a":2}},"request":{"model":"n"},"response":{"content":"x"},"result":{"for_llm":"y"}}',
    '{"action":"respond","result":{"for_llm":"z","media":[]}}',
    '{"action":"deny_tool","reason":"no"}',
    '{"approved":true,"reason":"yes"}',
    'null',
  ]),
  tokens: [
    ...common,
    ...[
      '"action":',
      '"Action":',
      '"approved":',
      '"continue"',
      '"modify"',
      '"respond"',
      '"deny_tool"',
      '"abort_turn"',
    ],
    ...[
      '"hard_abort"',
      '"call":',
      '"request":',
      '"response":',
      '"result":',
      '"for_llm":',
      '"messages":',
      '"model":',
    ],
    ...[
      '"tools":',
      '"options":',
      '"tool":',
      '"arguments":',
      '"content":',
      '"tool_calls":',
      '"media":',
      '"allow":',
    ],
  ],
  maxLength: 600,
  run: (input) => {
    const { point, stdout } = printedAt(input, stages);
    const text = stdout.toString();
    const value = parsed(text);
    if (value === undefined) return;
    const own = answerTo(point, answered(text));
    const closed = answerTo(point, answered(text), { onFailure: 'deny' });
    holds(!isNamed(own) || !passes(closed), 'open though closed', point);
    if (point === 'approve_tool') {
      holds(!passes(own) || memberOf(value, 'approved') === true, 'an approval', own.verdict);
      return;
    }
    const action = memberOf(value, 'action') ?? '';
    holds(!passes(closed) || passing.includes(action), 'it passes with', action);
    if (denying.includes(action)) holds(!passes(own) || point !== 'before_tool', 'a denial passes', action);
    holds(!denying.slice(1).includes(action) || !passes(own), 'an abort passes', action);
  },
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

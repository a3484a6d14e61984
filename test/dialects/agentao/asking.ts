import { type ErrorCode, RuntimeError, toFault } from '../../../src/base/errors.ts';
import { type Answer, answers } from '../../../src/contract/hook.ts';
import { createHookContext, type HookContext } from '../../../src/contract/turn.ts';
import type { AgentaoSettings } from '../../../src/dialects/agentao/config/settings.ts';
import { agentao } from '../../../src/dialects/agentao/dialect.ts';
import { type Composed, compose, type HookAnswer } from '../../../src/dialects/compose.ts';
import type { HookEntry, Payload, Question } from '../../../src/dialects/foreign-dialect.ts';
import type { Reply } from '../../../src/process/transport.ts';

export const scene: HookContext = {
  ...createHookContext('s1'),
  now: '2026-01-02T03:04:05Z',
  transcript: '/run/s1.jsonl',
};

export const payloads: Readonly<Record<string, Payload>> = {
  UserPromptSubmit: { userMessage: 'hello' },
  SessionStart: {},
  SessionEnd: {},
  PreToolUse: { toolName: 'run_shell_command', toolInput: { command: 'ls' } },
  PostToolUse: { toolName: 'run_shell_command', toolInput: { command: 'ls' }, toolOutput: '{"files":1}' },
  PostToolUseFailure: { toolName: 'run_shell_command', toolInput: {}, error: 'boom' },
  Stop: { last_assistant_message: 'done' },
  PreCompact: { trigger: 'manual' },
};

export function questionAt(point: string, changes: Partial<Question> = {}): Question {
  const { hookContext: where = scene, payload = payloads[point] ?? {} } = changes;
  return { point, payload: agentao.complete(point, payload, where), hookContext: where };
}

export function seatAt(event: string, changes: Partial<AgentaoSettings> = {}): HookEntry<AgentaoSettings> {
  const settings = { event, command: './hook.sh', stopReentryCap: 3, projectDir: '/project', ...changes };
  return { name: 'guard', onFailure: 'own', cwd: '/project', settings };
}

export interface Ended {
  readonly exit?: number | null;
  readonly stderr?: string;
}

export function left(stdout: string | Uint8Array, { exit = 0, stderr = '' }: Ended = {}): Reply {
  const signal = exit === null ? 'SIGKILL' : null;
  return { via: 'process', exitCode: exit, signal, stdout: Buffer.from(stdout), stderr };
}

export function fault(code: ErrorCode): RuntimeError {
  return new RuntimeError(code, 'it went wrong');
}

export interface Asking {
  readonly point: string;
  readonly reply: Reply | RuntimeError;
  readonly seat?: HookEntry<AgentaoSettings>;
  readonly question?: Question;
}

/** The dialect's answer alone. A RuntimeError becomes the denial that the runtime makes of it. */
export function ask({ point, reply, seat = seatAt(point), question = questionAt(point) }: Asking): Answer {
  try {
    return agentao.decode(seat, question, reply).output;
  } catch (error) {
    // Any other error is a defect and fails the test.
    if (error instanceof RuntimeError) return answers.deny(error.message, { error: toFault(error) });
    throw error;
  }
}

export function said(point: string, ...values: readonly unknown[]): Answer[] {
  return values.map((value) => ask({ point, reply: left(JSON.stringify(value)) }));
}

export function conclude(question: Question, given: readonly Answer[], selected?: number): Composed {
  const spoken: HookAnswer[] = given.map((answer, index) => ({ hook: `h${index + 1}`, answer }));
  const point = agentao.points[question.point];
  if (point === undefined) throw new Error(`no point ${question.point}`);
  const composed = compose(spoken, point.composition);
  return agentao.conclude?.(question, spoken, composed, selected) ?? composed;
}

/** An answer in one line, without the records: verdict, reason or code, replacements, contexts, other metadata. */
export function say(answer: Answer): string {
  const { agentao: _, ...metadata } = JSON.parse(answer.metadata.text);
  const isFault = (answer.verdict === 'deny' || answer.verdict === 'abort') && answer.error !== undefined;
  const parts = [
    answer.verdict === 'abort' ? `abort ${answer.scope}` : answer.verdict,
    isFault ? answer.error?.code : JSON.stringify(answer.reason),
    'replace' in answer ? answer.replace?.text : undefined,
    answer.context === undefined ? undefined : JSON.stringify(answer.context),
    metadata.failed_open?.cause ?? metadata.failed_closed?.cause ?? metadata.replacement,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

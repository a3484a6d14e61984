import type { PendingDocument, PendingRecord } from '../../../contract/approval.ts';
import { visible, visibleLine } from '../../../text/escape-invisible.ts';
import { exactText } from '../exact-text.ts';
import { facts } from '../facts.ts';
import type { NextCommands } from '../next-command.ts';

/** What a person must know to decide about a call. */
export interface Question {
  readonly id: string;
  readonly run: string;
  readonly tool: string;
  readonly step: string;
  readonly hook: string | null;
  readonly reason: string;
  readonly message: string;
  /** JSON text. */
  readonly args: string;
  /** ISO 8601; null: never. */
  readonly expires: string | null;
}

export function questionOfDocument(document: PendingDocument): Question {
  const { id, run_id, tool, step, hook, reason, message, expires_at } = document;
  const args = exactText(document, 'args');
  return { id, run: run_id, tool, step, hook, reason, message, args, expires: expires_at };
}

export function questionOfRecord(record: PendingRecord): Question {
  const { id, runId, tool, step, hook, reason, message, args, expiresAt } = record;
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return { id, run: runId, tool, step, hook, reason, message, args: args.text, expires };
}

/** The question as lines for a person. Nothing that a tool or model wrote can pass for something else. */
export function questionText(question: Question): string {
  const { id, run, tool, step, hook, reason, message, args, expires } = question;
  const lines = facts([
    ['id', id],
    ['run', run],
    ['tool', visibleLine(tool)],
    ['step', visibleLine(step.replace(/\/call$/, ''))],
    ...(hook === null ? [] : [['asked by', `hook "${visibleLine(hook)}"`] as const]),
    ['arguments', jsonLine(args)],
    ...(expires === null ? [] : [['expires', expires] as const]),
  ]);
  return `${headline({ reason, message })}\n${lines.replaceAll(/^/gm, '  ')}`;
}

/** JSON text on one line, its strings and numbers as they are. */
export function jsonLine(text: string): string {
  return visible(
    text.replaceAll(/("(?:[^"\\]+|\\.)*")|\s+/g, (_all, string?: string) => string ?? ' ').trim(),
  );
}

/** The first line alone. */
export function headline({ reason, message }: Pick<Question, 'reason' | 'message'>): string {
  return `pending: ${visibleLine(message)}${reason === '' ? '' : ` (${visibleLine(reason)})`}`;
}

/** What can be done about a call, each as a command. */
export function choicesText(id: string, commands: NextCommands): string {
  return facts([
    ['approve:', commands.approve(id)],
    ['reject:', commands.reject(id)],
    ['respond:', commands.respond(id)],
  ]);
}

/** How to go on with a run: after the choices about its calls, or alone. */
export function resumeText(
  run: string,
  commands: NextCommands,
  { isLast }: { readonly isLast: boolean },
): string {
  return facts([[(isLast ? 'then:' : 'go on:').padEnd('approve:'.length), commands.resume(run)]]);
}

/** Where nothing can be done about what waits, because it ends with this process; `instead` says what would help. */
export function lostText(instead: string): string {
  return `the state store is memory: what waits here ends with this process, and nobody can decide about it\nhint: Set spec.state_store to {type: sqlite}, or ${instead}.`;
}

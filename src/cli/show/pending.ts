import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import {
  isQuestion,
  type PendingChoice,
  type PendingDocument,
  type PendingInfo,
  type PendingRecord,
  placeOfStep,
} from '../../contract/approval.ts';
import type { NextCommands } from '../next-command.ts';
import { formatFields, labelsText } from './columns.ts';
import { exactText } from './exact-text.ts';

export interface PendingQuestion {
  readonly id: string;
  readonly run: string;
  readonly tool: string;
  readonly step: string;
  readonly hook: string | null;
  readonly reason: string;
  readonly message: string;
  /** JSON text; for a question, the schema of its answer and who may give it. */
  readonly args: string;
  /** ISO 8601; null: never. */
  readonly expires: string | null;
  /** The approvals so far; undefined: one person decides. */
  readonly approvals: string | undefined;
  /** More fields: names and values. */
  readonly context?: readonly (readonly [string, string])[];
}

/** Undefined if one person decides. */
export function approvalsText(
  quorum: number | undefined,
  approvals: readonly { readonly by: string }[] = [],
): string | undefined {
  if (quorum === undefined) return undefined;
  const names = approvals.map(({ by }) => escapeInvisibleLine(by)).join(', ');
  return `${approvals.length} of ${quorum}${names === '' ? '' : `: ${names}`}`;
}

/** What `pending show` adds to the question: the outermost run, the caller and who may decide. */
export function contextOf({ run, caller, deciders }: PendingInfo): (readonly [string, string])[] {
  const labels = labelsText(run.labels);
  return [
    ...(run.kind === 'pipeline' ? [['pipeline', escapeInvisibleLine(run.name)] as const] : []),
    ...(labels === '' ? [] : [['labels', labels] as const]),
    ...(caller === null ? [] : [['caller', jsonLine(exactText({ caller }, 'caller'))] as const]),
    ...(deciders === null ? [] : [['deciders', deciders.map(escapeInvisibleLine).join(', ')] as const]),
  ];
}

export function questionOfDocument(document: PendingDocument): PendingQuestion {
  const { id, run_id, tool, step, hook, reason, message, expires_at } = document;
  const args = exactText(document, isQuestion(document) ? 'members' : 'args');
  const approvals = approvalsText(document.quorum, document.approvals);
  return { id, run: run_id, tool, step, hook, reason, message, args, expires: expires_at, approvals };
}

export function questionOfRecord(record: PendingRecord): PendingQuestion {
  const { id, runId, tool, hook, reason, message, args, expiresAt } = record;
  const step = placeOfStep(record.step, record);
  const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
  const approvals = approvalsText(record.quorum, record.consents);
  const shown = isQuestion(record) ? record.members.text : args.text;
  return { id, run: runId, tool, step, hook, reason, message, args: shown, expires, approvals };
}

export function questionText(question: PendingQuestion): string {
  const { id, run, tool, step, hook, reason, message, args, expires, approvals, context = [] } = question;
  const lines = formatFields([
    ['id', id],
    ['run', run],
    ...context,
    ...(isQuestion({ tool }) ? [] : [['tool', escapeInvisibleLine(tool)] as const]),
    ['step', escapeInvisibleLine(step.replace(/\/(?:call|ask)$/, ''))],
    ...(hook === null ? [] : [['asked by', `hook "${escapeInvisibleLine(hook)}"`] as const]),
    [isQuestion({ tool }) ? 'answer' : 'arguments', jsonLine(args)],
    ...(expires === null ? [] : [['expires', expires] as const]),
    ...(approvals === undefined ? [] : [['approved', approvals] as const]),
  ]);
  return `${headline({ reason, message })}\n${lines.replaceAll(/^/gm, '  ')}`;
}

export function jsonLine(text: string): string {
  // A value of many megabytes has millions of strings, and most are written without such space.
  if (!/[^\S ]| {2}/.test(text)) return escapeInvisible(text.trim());
  return escapeInvisible(
    text.replaceAll(/("(?:[^"\\]+|\\.)*")|\s+/g, (_all, string?: string) => string ?? ' ').trim(),
  );
}

export function headline({ reason, message }: Pick<PendingQuestion, 'reason' | 'message'>): string {
  return `pending: ${escapeInvisibleLine(message)}${reason === '' ? '' : ` (${escapeInvisibleLine(reason)})`}`;
}

export function choicesText(id: string, commands: NextCommands, choices: readonly PendingChoice[]): string {
  const shown = (['approve', 'answer', 'reject', 'respond'] as const).filter((each) =>
    choices.includes(each),
  );
  return formatFields(shown.map((choice) => [`${choice}:`, commands[choice](id)]));
}

/** `isLast`: the command follows the choices about pending calls. */
export function resumeText(
  run: string,
  commands: NextCommands,
  { isLast }: { readonly isLast: boolean },
): string {
  return formatFields([[(isLast ? 'then:' : 'resume:').padEnd('approve:'.length), commands.resume(run)]]);
}

export function memoryStoreText(instead: string): string {
  return `the state store is memory: what waits here ends with this process, and nobody else can decide it\nhint: Set spec.state_store to {type: sqlite}, or ${instead}.`;
}

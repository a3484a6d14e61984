import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { formatCount } from '../../base/text/phrases.ts';
import { cut } from '../../base/text/width.ts';
import type { PendingInfo } from '../../contract/approval.ts';
import type { RunDetails, RunInfo, RunSummary, ShownStatus, TimelineEntry } from '../../contract/run.ts';
import type { NextCommands } from '../next-command.ts';
import type { Terminal } from '../terminal.ts';
import { formatFields, labelsText } from './columns.ts';
import { exactTexts } from './exact-text.ts';
import { choicesText, headline, jsonLine, resumeText } from './pending.ts';
import type { StepTextOptions } from './run-steps.ts';

interface WidthOf {
  /** Columns; undefined: values are not cut. */
  readonly width: number | undefined;
}

export async function printDetails(
  details: RunSummary & Partial<RunDetails>,
  pendings: readonly PendingInfo[],
  commands: NextCommands,
  { print, printColumns, width }: Pick<Terminal, 'print' | 'printColumns'> & WidthOf,
): Promise<void> {
  const { formatDuration } = await import('../../runtime/runtime.ts');
  print(summary(details, width));
  if (details.timeline !== undefined) {
    print('');
    printColumns(toRows(details.timeline, formatDuration));
  }
  for (const pending of pendings) {
    print('');
    print(headline(pending));
    print(choicesText(pending.id, commands, pending.choices));
  }
  if (details.timeline_cut === true) print('…');
  printChildren(details, { print, printColumns });
  if (['running', 'cut_off', 'pending', 'suspended', 'waiting'].includes(details.status)) {
    print(
      `\n${resumeText(details.parent?.root_run_id ?? details.run_id, commands, { isLast: details.pendings.length > 0 })}`,
    );
  }
}

function printChildren(
  { children = [], children_cut }: Partial<RunDetails>,
  { print, printColumns }: Pick<Terminal, 'print' | 'printColumns'>,
): void {
  if (children.length === 0) return;
  print('');
  printColumns(
    children.map(({ run_id, name, status, parent }) => [
      run_id,
      escapeInvisibleLine(parent?.step ?? ''),
      escapeInvisibleLine(name),
      wordOf(status),
    ]),
  );
  if (children_cut === true) print('…');
}

export function totalsText(
  { totals }: RunDetails,
  { formatDuration, formatUsd }: Pick<StepTextOptions, 'formatDuration' | 'formatUsd'>,
): string {
  const { duration_ms, model_calls, tool_calls, scores, input_tokens, output_tokens, cost_usd } = totals;
  const { unmeasured_calls, unpriced_calls } = totals;
  const isMeasured = model_calls > unmeasured_calls;
  const tokens = `${input_tokens} tokens in, ${output_tokens} out${notAll(unmeasured_calls)}`;
  return [
    `total: ${formatDuration(duration_ms)}`,
    formatCount(totals.steps, 'step'),
    formatCount(tool_calls, 'tool call'),
    formatCount(model_calls, 'model call'),
    ...(scores > 0 ? [formatCount(scores, 'score')] : []),
    ...(isMeasured ? [tokens] : []),
    ...(cost_usd === null ? [] : [`${formatUsd(cost_usd)}${notAll(unpriced_calls)}`]),
  ].join(', ');
}

function notAll(unknown: number): string {
  return unknown === 0 ? '' : ` (${formatCount(unknown, 'call')} unknown)`;
}

function summary(details: RunSummary, width: number | undefined): string {
  const { run_id, kind, name, file, status, error, output, labels, parent } = details;
  const exact = exactTexts(details);
  return formatFields([
    ['run', run_id],
    [kind, `${escapeInvisibleLine(name)}${file === null ? '' : ` (${escapeInvisibleLine(file)})`}`],
    ['status', status === 'suspended' || status === 'waiting' ? statusText(details) : wordOf(status)],
    ...(parent === undefined
      ? []
      : [['step of', `${parent.root_run_id}: ${escapeInvisibleLine(parent.step)}`] as const]),
    ...(labels === undefined ? [] : [['labels', labelsText(labels)] as const]),
    ['input', fitIn(jsonLine(exact('input')), width)],
    ...(status === 'completed' || output !== null
      ? [['output', fitIn(jsonLine(exact('output')), width)] as const]
      : []),
    ...(error === null || status === 'suspended'
      ? []
      : [['error', `[${error.code}] ${escapeInvisible(error.message)}`] as const]),
  ]);
}

function fitIn(value: string, width: number | undefined): string {
  return width === undefined ? value : cut(value, Math.max(20, width - 10));
}

function toRows(timeline: readonly TimelineEntry[], formatDuration: (ms: number) => string): string[][] {
  const [first] = timeline;
  const begins = new Map<string, string>();
  return timeline.map((entry) => {
    const { at, what, step, detail } = entry;
    const key = pairOf(entry);
    const began = begins.get(key);
    if (what === 'step began' || what === 'pending') begins.set(key, at);
    const isEnd = what === 'step ended' || what === 'decided';
    const took = isEnd && began !== undefined ? formatDuration(between(began, at)) : '';
    const after = first === undefined ? '' : `+${formatDuration(between(first.at, at))}`;
    return [
      at,
      after,
      what,
      step === null ? '' : escapeInvisibleLine(step),
      took,
      escapeInvisibleLine(detail),
    ];
  });
}

/** The key that pairs a start and an end: the step, or the pending call's id at the beginning of the detail. */
function pairOf({ what, step, detail }: TimelineEntry): string {
  const isCall = what === 'pending' || what === 'decided';
  return isCall ? (detail.split(':')[0] ?? '') : `${step}`;
}

function between(from: string, to: string): number {
  // Not negative, even if the clock was set back.
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

function wordOf(status: ShownStatus): string {
  return status.replaceAll('_', ' ');
}

export function statusText({ status, pending, lacks_worker, suspended, waits_until }: RunInfo): string {
  const waits = [
    ...(suspended === undefined
      ? []
      : [
          `[${suspended.error.code}] ${escapeInvisibleLine(suspended.error.message)}`,
          `since ${suspended.since}, tried ${suspended.tries === 1 ? 'once' : `${suspended.tries} times`}, due at ${suspended.due_at}`,
        ]),
    ...(pending > 0 ? [`${pending} to decide`] : []),
    ...(waits_until === undefined ? [] : [`waits until ${waits_until}`]),
    ...(lacks_worker ? ['no worker has its files'] : []),
  ];
  return waits.length === 0 ? wordOf(status) : `${wordOf(status)} (${waits.join('; ')})`;
}

import type { Fault } from '../../base/errors.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import { cut, padEnd, textWidth } from '../../base/text/width.ts';
import type {
  HookDetails,
  ModelCallDetails,
  ScoreDetails,
  StepDetails,
  ToolCallDetails,
  WorkDetails,
} from '../../contract/run.ts';
import { exactText, exactTexts } from './exact-text.ts';
import { jsonLine } from './pending.ts';

export interface StepTextOptions {
  readonly formatDuration: (ms: number) => string;
  readonly formatUsd: (amount: number) => string;
  /** The terminal's columns; undefined: values are not cut. */
  readonly width: number | undefined;
  readonly isDetailed: boolean;
}

export function stepText(step: StepDetails, options: StepTextOptions): string {
  const { kind, status, duration_ms, retry } = step;
  const took = duration_ms === null || status === 'skipped' ? [] : [options.formatDuration(duration_ms)];
  const headline = [
    escapeInvisibleLine(step.step),
    kind ?? '',
    status,
    ...took,
    retry === undefined ? '' : `retry ${retry}`,
  ]
    .filter(Boolean)
    .join('  ');
  const fields = [
    ...step.work.flatMap((work) => workFields(step, work, options)),
    ...endFields(step, options),
  ];
  return [headline, formatBlock(fields, options.width)].filter(Boolean).join('\n');
}

function endFields(step: StepDetails, { isDetailed }: StepTextOptions): Field[] {
  const { error, failed_at, view, kind } = step;
  const fields: Field[] = [];
  if (kind === 'chat' && isObject(view)) {
    if (isDetailed && Array.isArray(view['messages'])) fields.push(...messageFields(view['messages']));
    else if (typeof view['text'] === 'string' && view['text'] !== '')
      fields.push(['text', plain(view['text'])]);
  }
  if (kind === 'for_each' && isObject(view) && Array.isArray(view['items']))
    fields.push(['items', String(view['items'].length)]);
  if (error !== undefined && !step.work.some((work) => 'error' in work && isSame(work.error, error)))
    fields.push(['error', faultText(error)]);
  if (failed_at !== undefined && failed_at !== step.step)
    fields.push(['failed at', escapeInvisibleLine(failed_at)]);
  return fields;
}

function messageFields(messages: readonly unknown[]): Field[] {
  return messages.flatMap((message): Field[] => {
    if (!isObject(message)) return [];
    const { role, content, tool_calls: calls } = message;
    const text = typeof content === 'string' ? content : stringifyJson(content ?? '');
    const asked = Array.isArray(calls) && calls.length > 0 ? [jsonLine(stringifyJson(calls))] : [];
    return [[escapeInvisibleLine(String(role)), [plain(text), ...asked].filter(Boolean).join('\n')]];
  });
}

function workFields(step: StepDetails, work: WorkDetails, options: StepTextOptions): Field[] {
  switch (work.what) {
    case 'tool call':
      return callFields(step, work, options);
    case 'model call':
      return modelFields(work, options);
    case 'score':
      return scoreFields(work);
    case 'hooks':
      return hookFields(work);
  }
}

function callFields(step: StepDetails, call: ToolCallDetails, { formatDuration }: StepTextOptions): Field[] {
  const { tool, status, attempts, duration_ms, hook, reason, error, path } = call;
  const exact = exactTexts(call);
  const isOnly = step.kind === 'tool';
  const often = attempts > 1 ? `, started ${attempts} times` : '';
  const took = duration_ms === null || isOnly ? '' : ` in ${formatDuration(duration_ms)}`;
  const said = isOnly && status !== 'pending' && attempts < 2 ? '' : `: ${status}${took}${often}`;
  return [
    ['tool', `${escapeInvisibleLine(tool ?? path)}${said}`],
    ...(tool === null ? [] : [['args', jsonLine(exact('args'))] as const]),
    ...('sent' in call ? [['sent', jsonLine(exact('sent'))] as const] : []),
    ...('result' in call ? [['result', jsonLine(exact('result'))] as const] : []),
    ...(reason === undefined
      ? []
      : [['reason', plain(hook === undefined ? reason : `hook "${hook}": ${reason}`)] as const]),
    ...(error === undefined ? [] : [['error', faultText(error)] as const]),
    ...reportFields(call, exact),
  ];
}

function modelFields(call: ModelCallDetails, { formatDuration, formatUsd }: StepTextOptions): Field[] {
  const { status, finish_reason, input_tokens, output_tokens, cost_usd, duration_ms, error, attempts } = call;
  const said = [
    finish_reason ?? status,
    input_tokens === null || output_tokens === null
      ? 'tokens unknown'
      : `${input_tokens} in, ${output_tokens} out`,
    ...(cost_usd === null ? [] : [formatUsd(cost_usd)]),
    ...(duration_ms === null ? [] : [formatDuration(duration_ms)]),
    ...(attempts > 1 ? [`started ${attempts} times`] : []),
  ];
  return [
    ['model', escapeInvisibleLine(said.join(', '))],
    ...(error === undefined ? [] : [['error', faultText(error)] as const]),
    ...reportFields(call),
  ];
}

function scoreFields(score: ScoreDetails): Field[] {
  const { status, detail, passed } = score;
  const value =
    score.score === null ? (status === 'open' ? 'not scored yet' : 'unscored') : String(score.score);
  const verdict = passed === null ? '' : passed ? ', passed' : ', failed';
  return [
    ['eval', `${escapeInvisibleLine(score.eval ?? score.path)}: ${value}${verdict}`],
    ...(score.content === null ? [] : [['content', contentText(score)] as const]),
    ...(isEmpty(score.params) ? [] : [['params', jsonLine(exactText(score, 'params'))] as const]),
    ...(detail === '' ? [] : [['detail', plain(detail)] as const]),
  ];
}

function contentText(score: ScoreDetails): string {
  return typeof score.content === 'string' ? plain(score.content) : jsonLine(exactText(score, 'content'));
}

function hookFields(hooks: HookDetails): Field[] {
  const { decision } = hooks;
  if (!isObject(decision)) return [];
  const { stopped, failures, context } = decision;
  const said = { stopped, failures, context };
  const kept = Object.entries(said).filter(([, value]) => value !== undefined && !isEmpty(value));
  return kept.length === 0 ? [] : [['hooks', jsonLine(stringifyJson(Object.fromEntries(kept)))]];
}

/** What hooks said about the call; nothing if each phase has an empty report, because no hook ran. */
function reportFields(
  call: { readonly metadata?: unknown },
  exact = (member: string) => exactText(call, member),
): Field[] {
  const { metadata } = call;
  const isSaid = isObject(metadata) && Object.values(metadata).some((report) => !isEmpty(report));
  return isSaid ? [['hooks', jsonLine(exact('metadata'))]] : [];
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function isSame(one: Fault | undefined, other: Fault): boolean {
  return one !== undefined && one.code === other.code && one.message === other.message;
}

function faultText({ code, message }: Fault): string {
  return `[${code}] ${plain(message)}`;
}

function plain(text: string): string {
  return escapeInvisible(text);
}

type Field = readonly [name: string, value: string];

/**
 * Formats indented names and values. With a width, a value takes at most three lines; without one it is shown whole.
 */
function formatBlock(fields: readonly Field[], width: number | undefined): string {
  const nameWidth = Math.max(0, ...fields.map(([name]) => name.length));
  const indent = ' '.repeat(2 + nameWidth + 2);
  return fields
    .map(([name, value]) => {
      const lines =
        width === undefined ? value.split('\n') : shortLines(value, Math.max(20, width - indent.length));
      return `  ${padEnd(name, nameWidth)}  ${lines.join(`\n${indent}`)}`.trimEnd();
    })
    .join('\n');
}

const MOST_LINES = 3;

function shortLines(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    let rest = line;
    do {
      if (lines.length === MOST_LINES - 1) return [...lines, cut(rest, columns)];
      const part = fitting(rest, columns);
      lines.push(part);
      rest = rest.slice(part.length);
    } while (rest !== '');
  }
  return lines;
}

function fitting(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += textWidth(character);
    if (used > columns && end > 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

import { formatNumber } from '../../base/json/decimal.ts';
import { stringifyJson } from '../../base/json/json.ts';
import { escapeInvisible, escapeInvisibleLine } from '../../base/text/escape-invisible.ts';
import type { CaseRecord, Rating, RatingPlace } from '../../runtime/runtime.ts';
import type { Terminal } from '../terminal.ts';
import { formatFields } from './columns.ts';

type Epoch = CaseRecord['epochs'][number];
type Result = Epoch['results'][number];

export function caseText(record: CaseRecord, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const { id, variant, file, line, tags, score, passed, epochs } = record;
  const head = formatFields([
    ['case', escapeInvisibleLine(id)],
    ...(variant === undefined ? [] : [['variant', escapeInvisibleLine(variant)] as const]),
    ...(file === '' ? [] : [['at', escapeInvisibleLine(`${file}:${line}`)] as const]),
    ...(tags.length === 0 ? [] : [['tags', escapeInvisibleLine(tags.join(', '))] as const]),
    ['score', score === null ? 'unscored' : formatNumber(score, [0, 1])],
    ['', passed ? styleStdout('green', 'passed') : styleStdout('red', 'not passed')],
  ]);
  const parts = epochs.map((epoch) => epochText(epoch, epochs.length, { styleStdout }));
  return [head, ...rowText(record, { styleStdout }), ...parts].join('\n\n');
}

function rowText(
  { row, row_cuts: cuts = [] }: CaseRecord,
  { styleStdout }: Pick<Terminal, 'styleStdout'>,
): string[] {
  if (row === undefined) return [];
  const notes = cuts.map(
    ({ path, unit, kept, length }) => `  ${escapeInvisibleLine(path)} is cut: ${kept} of ${length} ${unit}`,
  );
  return [[styleStdout('bold', 'row'), ...fieldLines(row), ...notes].join('\n')];
}

function fieldLines(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).map(([name, value]) =>
    block(name, typeof value === 'string' ? value : stringifyJson(value)).replaceAll(/^/gm, '  '),
  );
}

function epochText(epoch: Epoch, count: number, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const { content, messages, tool_calls: calls, subject, results, variables } = epoch;
  const parts = [
    ...(count === 1 ? [] : [styleStdout('bold', `epoch ${epoch.epoch}`)]),
    ...messages.map(({ role, content: text }) => block(role, text)),
    ...calls.map((call) => block(`call ${call.name}`, callText(call))),
    ...(content === '' ? [] : [block('judged', content)]),
    ...(variables === undefined ? [] : ['variables:', ...fieldLines(variables)]),
    ...(subject === undefined ? [] : [block('subject', subjectText(subject))]),
    ...results.map((result) => resultText(result, { styleStdout })),
  ];
  return parts.join('\n');
}

function block(name: string, text: string): string {
  const lines = escapeInvisible(text).split('\n');
  return lines.length === 1
    ? `${escapeInvisibleLine(name)}: ${lines[0]}`
    : [`${escapeInvisibleLine(name)}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function callText({ args, result, error }: Epoch['tool_calls'][number]): string {
  return `${stringifyJson(args)} → ${error === '' ? result : `error: ${error}`}`;
}

function subjectText({
  status,
  duration_ms: ms,
  queue_ms: queue,
  cached,
  attempts,
  error,
}: NonNullable<Epoch['subject']>): string {
  const how = [
    timeText(ms, queue),
    ...(cached ? ['from the cache'] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ];
  const why = error === undefined ? '' : `: [${error.code}] ${error.message}`;
  return `${status} (${how.join(', ')})${why}`;
}

function resultText(result: Result, { styleStdout }: Pick<Terminal, 'styleStdout'>): string {
  const {
    eval: id,
    score,
    passed,
    detail,
    error,
    duration_ms: ms,
    queue_ms: queue,
    attempts,
    stderr,
    data,
    params,
    content,
  } = result;
  const word = passed ? styleStdout('green', 'passed') : styleStdout('red', 'not passed');
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  const head = `${escapeInvisibleLine(id)}: ${score === null ? 'unscored' : formatNumber(score, [0, 1])} ${word} (${timeText(ms, queue)}${tries})`;
  const more = [
    ...(detail === '' ? [] : [block('detail', detail)]),
    ...(error === undefined ? [] : [block('error', `[${error.code}] ${error.message}`)]),
    ...(error === undefined || error.hint === '' ? [] : [block('hint', error.hint)]),
    ...(content === undefined ? [] : [block('content', content)]),
    ...(params === undefined ? [] : [block('params', stringifyJson(params))]),
    ...(data === undefined ? [] : [block('data', stringifyJson(data))]),
    ...(stderr === undefined ? [] : [block('stderr', stderr.trimEnd())]),
    ...guardLines(result),
  ];
  return [styleStdout('bold', head), ...more.map((text) => text.replaceAll(/^/gm, '  '))].join('\n');
}

function timeText(ms: number, queue = 0): string {
  return queue === 0 ? `${ms} ms` : `${ms} ms after ${queue} ms in the queue`;
}

function guardLines({ guard }: Result): string[] {
  if (guard === undefined) return [];
  const { hook, phase, verdict, decided_by: by, expected, hooks } = guard;
  const wanted = expected === null ? '' : expected ? ', should be flagged' : ', should pass';
  const asked = hooks.map(
    ({ name, verdict: answer, duration_ms: ms }) => `${name} ${answer} (${formatNumber(ms)} ms)`,
  );
  return [
    block('guard', `${hook} ${phase}: ${verdict}${by === null ? '' : ` by ${by}`}${wanted}`),
    ...(asked.length === 0 ? [] : [block('hooks', asked.join(', '))]),
  ];
}

export function ratingsText(ratings: readonly Rating[]): string {
  return ['ratings', ...ratings.map((rating) => `  ${ratingText(rating).replaceAll('\n', '\n  ')}`)].join(
    '\n',
  );
}

export function ratingText(rating: Rating): string {
  const { eval: evalId, by, at, score, label, comment } = rating;
  const of = evalId === null ? '' : `, ${escapeInvisibleLine(evalId)}`;
  const said = [
    ...(score === null ? [] : [formatNumber(score, [0, 1])]),
    ...(label === null ? [] : [escapeInvisibleLine(label)]),
  ].join(' ');
  const head = `${caseName(rating)}${of}: ${said}${said === '' ? '' : ' '}by ${escapeInvisibleLine(by)} at ${at}`;
  if (comment === null) return head;
  const lines = escapeInvisible(comment).split('\n');
  return lines.length === 1 ? `${head}: ${lines[0]}` : [head, ...lines.map((line) => `  ${line}`)].join('\n');
}

export function caseName({ case: id, variant }: Pick<RatingPlace, 'case' | 'variant'>): string {
  const name = `case ${escapeInvisibleLine(id)}`;
  return variant === undefined ? name : `${name} (${escapeInvisibleLine(variant)})`;
}

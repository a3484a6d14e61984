import { formatNumber } from '../../../../json/decimal.ts';
import { stringifyJson } from '../../../../json/json.ts';
import type { CaseRecord } from '../../../../runtime/open-runtime.ts';
import { visible, visibleLine } from '../../../../text/escape-invisible.ts';
import { facts } from '../../facts.ts';
import type { Terminal } from '../../terminal.ts';

type Epoch = CaseRecord['epochs'][number];
type Result = Epoch['results'][number];

/** Everything that is known of a case, for people: what was judged in each epoch, and what each eval said of it. */
export function caseText(record: CaseRecord, { style }: Pick<Terminal, 'style'>): string {
  const { id, file, line, tags, score, passed, epochs } = record;
  const head = facts([
    ['case', visibleLine(id)],
    ...(file === '' ? [] : [['at', visibleLine(`${file}:${line}`)] as const]),
    ...(tags.length === 0 ? [] : [['tags', visibleLine(tags.join(', '))] as const]),
    ['score', score === null ? 'unscored' : formatNumber(score, [0, 1])],
    ['', passed ? style('green', 'passed') : style('red', 'not passed')],
  ]);
  return [head, ...epochs.map((epoch) => epochText(epoch, epochs.length, { style }))].join('\n\n');
}

function epochText(epoch: Epoch, count: number, { style }: Pick<Terminal, 'style'>): string {
  const { content, messages, tool_calls: calls, subject, results } = epoch;
  const parts = [
    ...(count === 1 ? [] : [style('bold', `epoch ${epoch.epoch}`)]),
    ...messages.map(({ role, content: said }) => block(role, said)),
    ...calls.map((call) => block(`call ${call.name}`, callText(call))),
    ...(content === '' ? [] : [block('judged', content)]),
    ...(subject === undefined ? [] : [block('subject', subjectText(subject))]),
    ...results.map((result) => resultText(result, { style })),
  ];
  return parts.join('\n');
}

/** A text below its name, so that it stays as it is. */
function block(name: string, text: string): string {
  const lines = visible(text).split('\n');
  return lines.length === 1
    ? `${visibleLine(name)}: ${lines[0]}`
    : [`${visibleLine(name)}:`, ...lines.map((line) => `  ${line}`)].join('\n');
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

function resultText(result: Result, { style }: Pick<Terminal, 'style'>): string {
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
  const word = passed ? style('green', 'passed') : style('red', 'not passed');
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  const head = `${visibleLine(id)}: ${score === null ? 'unscored' : formatNumber(score, [0, 1])} ${word} (${timeText(ms, queue)}${tries})`;
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
  return [style('bold', head), ...more.map((text) => text.replaceAll(/^/gm, '  '))].join('\n');
}

function timeText(ms: number, queue = 0): string {
  return queue === 0 ? `${ms} ms` : `${ms} ms after ${queue} ms in the queue`;
}

function guardLines({ guard }: Result): string[] {
  if (guard === undefined) return [];
  const { hook, phase, verdict, decided_by: by, expected, hooks } = guard;
  const wanted = expected === null ? '' : expected ? ', should be flagged' : ', should pass';
  const asked = hooks.map(
    ({ name, verdict: said, duration_ms: ms }) => `${name} ${said} (${formatNumber(ms)} ms)`,
  );
  return [
    block('guard', `${hook} ${phase}: ${verdict}${by === null ? '' : ` by ${by}`}${wanted}`),
    ...(asked.length === 0 ? [] : [block('hooks', asked.join(', '))]),
  ];
}

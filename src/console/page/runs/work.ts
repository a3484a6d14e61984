import { isObject } from '../../../base/json/json.ts';
import { type Child, fold, foreign, make } from '../../../base/page/dom.ts';
import { count, counted, duration, score } from '../../../base/page/format.ts';
import { renderFault, renderText } from '../../../base/page/text.ts';
import { formatUsd } from '../../../base/text/phrases.ts';
import type { StepDetails, WorkDetails } from '../../../contract/run.ts';
import { entriesOf, renderTree } from '../inbox/json-tree.ts';

/** Words for the line of a step, such as `refund, 2 model calls`. */
export function summarize({ work, retry, failed_at: failedAt, step, error }: StepDetails): string {
  const tools = work.flatMap((each) => (each.what === 'tool call' && each.tool !== null ? [each.tool] : []));
  const counts = (['tool call', 'model call', 'score'] as const).map((what) => {
    const number = work.filter((each) => each.what === what).length;
    return number === 0 || (what === 'tool call' && tools.length === 1) ? '' : counted(number, what);
  });
  const said = [
    ...[tools.length === 1 && tools[0] !== step ? tools[0] : '', ...counts],
    retry === undefined ? '' : `retry ${retry}`,
    failedAt === undefined || failedAt === step ? '' : `failed at ${failedAt}`,
    error?.message ?? '',
  ];
  return said.filter((words) => words !== '').join(', ');
}

/** The error of a step, its work and its value, all whole. */
export function renderStep({ error, work, view, kind }: StepDetails): Child {
  const messages = kind === 'chat' && isObject(view) ? view['messages'] : undefined;
  const isOfWork = work.some((each) => 'error' in each && each.error?.message === error?.message);
  return [
    error !== undefined && !isOfWork && renderFault(error),
    work.map((each) => make('section', { class: 'work' }, renderWork(each))),
    Array.isArray(messages) && fold(counted(messages.length, 'message'), true, messages.map(renderMessage)),
    view !== null && fold('Value of the step', work.length === 0, renderValue(view)),
  ];
}

const titles: Readonly<Record<string, string>> = {
  ...{ args: 'Arguments', sent: 'Arguments sent, after changes', result: 'Result', reason: 'Reason' },
  ...{ message: '', content: 'Judged text', params: 'Parameters', detail: 'Detail', data: 'Data' },
  ...{ metadata: 'Decisions of hooks', decision: 'Decisions', idempotency_key: 'Idempotency key' },
};

function renderWork(work: WorkDetails): Child {
  const members = new Map<string, unknown>(Object.entries(work));
  const name = 'tool' in work ? work.tool : 'eval' in work ? work.eval : null;
  const parts = Object.entries(titles).map(([member, title]) => {
    const value = members.get(member) ?? '';
    if (value === '' || entriesOf(value)?.length === 0) return null;
    return make(
      'div',
      {},
      title !== '' && make('p', { class: 'label' }, title),
      member === 'message' ? renderMessage(value) : renderValue(value),
    );
  });
  return [
    make(
      'h3',
      {},
      `${work.what[0]?.toUpperCase()}${work.what.slice(1)} `,
      ...[foreign(name ?? work.path, 'place'), ' ', make('small', {}, factsOf(work).join(' · '))],
    ),
    parts,
    'error' in work && work.error !== undefined && renderFault(work.error),
  ];
}

function factsOf(work: WorkDetails): string[] {
  if (work.what === 'hooks') return [];
  const facts: string[] = [work.status];
  if (work.what === 'tool call' && work.hook !== undefined) facts.push(`by hook ${work.hook}`);
  if (work.what === 'score')
    facts.push(score(work.score), work.passed === null ? '' : work.passed ? 'passed' : 'did not pass');
  if (work.what === 'model call') {
    const { input_tokens: input, output_tokens: output, cost_usd: cost, finish_reason: reason = '' } = work;
    facts.push(
      reason,
      input === null || output === null
        ? 'tokens unknown'
        : `${count(input)} tokens in, ${count(output)} out`,
    );
    if (cost !== null) facts.push(formatUsd(cost));
  }
  if (work.duration_ms !== null) facts.push(duration(work.duration_ms));
  if (work.attempts > 1) facts.push(`started ${work.attempts} times`);
  return facts.filter((fact) => fact !== '');
}

/** A text as it is; anything else as JSON with exact digits. */
export function renderValue(value: unknown) {
  return typeof value === 'string' ? renderText(value) : renderTree(value);
}

function renderMessage(message: unknown) {
  const { role, content, ...rest } = isObject(message) ? message : { content: message };
  const others = Object.entries(rest).filter(([, value]) => entriesOf(value)?.length !== 0);
  return make(
    'div',
    { class: 'message' },
    make('p', { class: 'label' }, foreign(String(role ?? 'message'))),
    content !== undefined && content !== null && content !== '' && renderValue(content),
    others.length > 0 && renderTree(Object.fromEntries(others)),
  );
}

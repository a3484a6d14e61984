import type { SourceLocation } from '../../../yaml/problem.ts';
import type { Notes } from '../../suite-import/notes.ts';

/** A row of a table as a test: columns are variables, those that begin with two underscores say more. */
export function testOfRow(
  row: Readonly<Record<string, unknown>>,
  at: SourceLocation,
  notes: Notes,
): Readonly<Record<string, unknown>> {
  const vars: Record<string, unknown> = {};
  const asserts: Readonly<Record<string, unknown>>[] = [];
  const more: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    const text = String(value);
    if (column.startsWith('__expected')) {
      if (text.trim() !== '') asserts.push(assertionOf(text));
    } else if (column === '__description') more['description'] = text;
    else if (column === '__metric') more['metric'] = text;
    else if (column === '__threshold') more['threshold'] = Number.parseFloat(text) || undefined;
    else if (column.startsWith('__') && text !== '')
      notes.add('error', at, `the column \`${column}\` is not carried`);
    else if (!column.startsWith('__')) vars[column] = value;
  }
  const { metric, ...rest } = more;
  return { vars, assert: asserts.map((each) => (metric ? { ...each, metric } : each)), ...rest };
}

/** `type(threshold): value`, the short forms for code and judges, or a text that the answer must equal. */
function assertionOf(text: string): Readonly<Record<string, unknown>> {
  const code = /^(?:javascript|fn|eval):([\s\S]*)$/.exec(text);
  if (code !== null) return { type: 'javascript', value: code[1]?.trim() };
  const judged = /^(?:grade|llm-rubric):([\s\S]*)$/.exec(text);
  if (judged !== null) return { type: 'llm-rubric', value: judged[1] };
  if (/^python:/.test(text)) return { type: 'python', value: text.slice('python:'.length).trim() };
  const script = /^file:\/\/.*\.(py|js|ts)(?::\w+)?$/.exec(text);
  if (script !== null) return { type: script[1] === 'py' ? 'python' : 'javascript', value: text };
  const typed = new RegExp(
    `^((?:not-)?(?:${typeNames}))(?:\\((\\d+(?:\\.\\d+)?)\\))?(?::([\\s\\S]*))?$`,
  ).exec(text);
  return typed === null ? { type: 'equals', value: text } : typedAssertion(typed);
}

function typedAssertion([, type = '', threshold, value]: RegExpExecArray): Readonly<Record<string, unknown>> {
  const base = type.replace(/^not-/, '');
  if (/-(any|all)$/.test(base)) return { type, value: value?.split(',').map((each) => each.trim()) };
  const measured = measuredTypes.includes(base)
    ? { threshold: Number(threshold) || (base === 'similar' ? 0.8 : 0.75) }
    : {};
  return { type, value: trimmed(base, value), ...measured };
}

/** Text counts to the letter, as it does there; a schema is JSON. */
function trimmed(type: string, value: string | undefined): unknown {
  if (!type.endsWith('json') || value === undefined) return value;
  try {
    const schema: unknown = JSON.parse(value);
    return schema;
  } catch {
    return value.trim();
  }
}

const measuredTypes = [
  'answer-relevance',
  'classifier',
  'context-faithfulness',
  'context-recall',
  'context-relevance',
  'cost',
  'latency',
  'levenshtein',
  'perplexity',
  'perplexity-score',
  'rouge-n',
  'similar',
  'starts-with',
];

const typeNames = [
  ...measuredTypes,
  'bleu',
  'contains',
  'contains-all',
  'contains-any',
  'contains-json',
  'contains-sql',
  'contains-xml',
  'equals',
  'factuality',
  'g-eval',
  'icontains',
  'icontains-all',
  'icontains-any',
  'is-json',
  'is-refusal',
  'is-sql',
  'is-valid-openai-function-call',
  'is-valid-openai-tools-call',
  'is-xml',
  'model-graded-closedqa',
  'model-graded-factuality',
  'moderation',
  'regex',
  'webhook',
].join('|');

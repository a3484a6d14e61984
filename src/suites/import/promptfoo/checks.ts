import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/try-parse.ts';
import { asDraft07 } from '../../../base/yaml/ajv.ts';
import { omitUndefined } from '../../../base/yaml/present.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { type Code, javascriptEndings, readCode } from '../suite/programs.ts';
import type { Notes, SourceFiles } from '../suite/source-files.ts';
import type { Check } from '../suite/suite.ts';
import { escapePattern } from '../suite/template.ts';
import type { Embedders, Judges } from './judges.ts';
import type { Templates } from './templates.ts';

/** An assertion with everything filled in. */
export interface GivenAssertion {
  /** Without `not-`. */
  readonly type: string;
  /** Whether it was written with `not-`. */
  readonly isInverse: boolean;
  readonly value: unknown;
  /** The assertion as it is written, for readers of further keys. */
  readonly own: Source;
  /** What is made of the answer before it is judged, in order. */
  readonly transforms: readonly Code[];
  /** The model that judges, where this assertion or its test names one. */
  readonly judge: Source | undefined;
  /** What the judge is asked, where this assertion, its test or all tests say it. */
  readonly rubricPrompt: Source | undefined;
}

export interface AssertionContext {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly templates: Source;
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly judges: Judges;
  readonly embedders: Embedders;
  readonly nunjucks: Templates;
  /** What the test makes of each answer; undefined where that cannot be run. */
  readonly transforms: readonly Code[] | undefined;
  readonly judge: GivenAssertion['judge'];
  readonly rubricPrompt: GivenAssertion['rubricPrompt'];
  /** Whether the test has a threshold, so that the mean of all scores decides, and no single verdict. */
  readonly isAggregated: boolean;
}

/** A check, why there is none, or undefined for a type that others know. */
type FoundCheck = Check | { readonly fault: string } | undefined;

/** Assertions about the text alone, as built-in checks with the same verdict. */
export function textAssertion({ type, value, own }: GivenAssertion): FoundCheck {
  const limit = () => own.at('threshold').number() ?? (typeof value === 'number' ? value : undefined);
  switch (type) {
    case 'equals':
      if (isObject(value) || Array.isArray(value))
        return { type: 'json_path', params: { expression: '@', expected: value } };
      return { type: 'equals', params: { expected: textOf(value) } };
    case 'contains':
    case 'icontains':
      return withValue(value, () => found([textOf(value)], type === 'icontains', '|'));
    case 'contains-any':
    case 'icontains-any':
      return withList(value, (list) => found(list, type === 'icontains-any', '|'));
    case 'contains-all':
    case 'icontains-all':
      return withList(value, (list) => found(list, type === 'icontains-all', '&'));
    case 'starts-with':
      // Tables give it one, at which promptfoo does not look.
      own.at('threshold').number();
      return withValue(value, () => ({ type: 'starts_with', params: { expected: textOf(value) } }));
    case 'regex':
      return withValue(value, () => ({ type: 'regex', params: { pattern: textOf(value) } }));
    case 'is-json':
      return json(value, false);
    case 'contains-json':
      return isObject(value) ? json(value, true) : undefined;
    case 'rouge-n':
      return withValue(value, () => compared('rouge', value, limit() ?? 0.75));
    case 'cost':
      return withLimit(limit(), (max) => ({ type: 'cost_budget', params: { max_cost_usd: max } }));
    case 'latency':
      return withLimit(limit(), (max) => ({ type: 'latency_budget', params: { max_ms: max } }));
    default:
      return undefined;
  }
}

const noValue = { fault: 'an assertion that needs a value has none and is left out' };

function withLimit(limit: number | undefined, use: (limit: number) => Check): FoundCheck {
  return limit === undefined
    ? { fault: 'an assertion that needs a threshold has none and is left out' }
    : use(limit);
}

function withValue(value: unknown, use: () => Check): FoundCheck {
  const isText =
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean';
  return isText ? use() : noValue;
}

function withList(value: unknown, use: (list: readonly string[]) => Check): FoundCheck {
  if (Array.isArray(value)) return value.length > 0 ? use(value.map(textOf)) : noValue;
  if (typeof value !== 'string' || value === '') return noValue;
  const list = splitList(value);
  return 'fault' in list ? list : use(list.values);
}

/** A text with commas as a list, as promptfoo splits it: a quoted part keeps its commas, `""` and `\\"` are quotes in it. */
export function splitList(text: string): { readonly values: readonly string[] } | { readonly fault: string } {
  const values: string[] = [];
  const part = /[\s,]*(?:"((?:\\["\\]|""|[^"\\]|\\(?!["\\]))*)"\s*(?:,|$)|([^\s,"][^,]*))/y;
  while (!/^[\s,]*$/.test(text.slice(part.lastIndex))) {
    const found = part.exec(text);
    if (found === null) return { fault: 'a list of texts whose quotes do not match is left out' };
    values.push(
      found[1]?.replaceAll(/\\(["\\])|""/g, (_, kept: string | undefined) => kept ?? '"') ??
        found[2]?.trim() ??
        '',
    );
  }
  return { values };
}

/** `contains` of Signalbox passes over case, and counts shares: a pattern says exactly what is meant. */
function found(texts: readonly string[], anyCase: boolean, how: '|' | '&'): Check {
  const patterns = texts.map(escapePattern);
  const pattern =
    how === '|' ? patterns.join('|') : `^${patterns.map((each) => `(?=[\\s\\S]*${each})`).join('')}`;
  // An empty pattern is none, and every text holds the empty one.
  return {
    type: 'regex',
    params: { pattern: `${anyCase ? '(?i)' : ''}${pattern === '' ? '(?:)' : pattern}` },
  };
}

function json(value: unknown, isWithin: boolean): FoundCheck {
  const extract = isWithin ? { extract_json: true } : {};
  if (value === undefined || value === null || value === '') return { type: 'json_valid', params: extract };
  if (isObject(value)) return { type: 'json_schema', params: { schema: asDraft07(value), ...extract } };
  return { fault: 'a schema that is no mapping is left out' };
}

function compared(type: 'rouge', value: unknown, least: number): Check {
  return { type, params: { expected: textOf(value) }, threshold: { min_score: least } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(value);
}

/** The names of the evals of the runtime that run code. */
export const codeEvals = { javascript: 'promptfoo-javascript', python: 'promptfoo-python' } as const;

/** Assertions in JavaScript and Python, and the one about edits, which needs a count that no check gives. */
export function codeAssertion(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { type, value, own } = given;
  const isBareJson = type === 'contains-json' && (value === undefined || value === null || value === '');
  if (type === 'levenshtein' || type === 'bleu' || isBareJson) return changedAssertion(given, []);
  if (type !== 'javascript' && type !== 'python') return undefined;
  if (typeof value !== 'string' || value === '')
    return { fault: `a ${type} assertion without code is left out` };
  if (type === 'python' && given.transforms.length > 0)
    return { fault: 'a python assertion about what JavaScript has changed first is left out' };
  const source = readCode(value, context.files, type === 'python' ? ['py'] : javascriptEndings);
  if ('fault' in source) return source;
  const params = {
    ...source,
    ...omitUndefined({ threshold: own.at('threshold').number(), config: own.at('config').whole() }),
    ...(given.transforms.length > 0 && { transforms: given.transforms }),
    ...(context.isAggregated && type === 'javascript' && { scored: true, inverse: given.isInverse }),
  };
  return { type: codeEvals[type], params };
}

/** Assertions about the text that code makes of the answer, which no built-in check could see. */
export function changedAssertion(
  { type, value, own }: GivenAssertion,
  transforms: readonly Code[],
): FoundCheck {
  if (!changeable.includes(type)) return undefined;
  if (type === 'is-json')
    return value === undefined
      ? plain(type, {}, transforms)
      : { fault: 'a schema of what code has changed is left out' };
  if (type === 'contains-json')
    return value === undefined || value === null || value === ''
      ? plain(type, {}, transforms)
      : { fault: 'a schema of what code has changed is left out' };
  if (value === undefined || value === null || value === '') return noValue;
  if (type === 'bleu')
    return typeof value === 'string' ||
      (Array.isArray(value) && value.every((each) => typeof each === 'string'))
      ? {
          ...plain(type, { value }, transforms),
          threshold: { min_score: own.at('threshold').number() ?? 0.5 },
        }
      : noValue;
  if (type === 'levenshtein')
    return typeof value === 'string'
      ? plain(type, { value, threshold: own.at('threshold').number() ?? 5 }, transforms)
      : noValue;
  return plain(type, { value }, transforms);
}

function plain(
  kind: string,
  params: Readonly<Record<string, unknown>>,
  transforms: readonly Code[],
): Extract<Check, { readonly type: string }> {
  const more = transforms.length > 0 ? { transforms } : {};
  return { type: codeEvals.javascript, params: { kind, ...params, ...more } };
}

const changeable = [
  'levenshtein',
  'equals',
  'contains',
  'icontains',
  'contains-any',
  'contains-all',
  'icontains-any',
  'icontains-all',
  'starts-with',
  'regex',
  'is-json',
  'contains-json',
  'bleu',
];

/** Assertions that compare what texts mean. */
export function embeddingAssertion(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { type, transforms } = given;
  const [name, metric = 'cosine'] = type.split(':');
  const isSimilar = name === 'similar';
  if (!isSimilar && type !== 'answer-relevance') return undefined;
  if (isSimilar && metric !== 'cosine')
    return { fault: `\`${type}\` is left out: similarity is the cosine, and no other measure` };
  if (transforms.length > 0) return { fault: `\`${type}\` of what code has changed is left out` };
  return isSimilar ? similarity(given, context) : relevance(given, context);
}

/** Near to one of the texts; what is turned round is far from one of them, as there. */
function similarity(given: GivenAssertion, { embedders }: AssertionContext): FoundCheck {
  const texts: readonly unknown[] = Array.isArray(given.value) ? given.value : [given.value];
  if (texts.length === 0 || !texts.every(isText)) return { fault: '`similar` without a text is left out' };
  const provider = embedders.use(given.judge);
  if (provider === undefined)
    return { fault: '`similar` whose embeddings provider is not carried is left out' };
  const [only] = texts;
  const near = (expected: unknown): Check => ({
    type: 'similarity',
    params: { expected, provider },
    threshold: { min_score: given.own.at('threshold').number() ?? 0.75 },
  });
  if (texts.length === 1) return near(only);
  return given.isInverse ? { all_of: texts.map(near) } : near(texts);
}

function isText(value: unknown): boolean {
  return (
    (typeof value === 'string' && value.trim() !== '') ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  );
}

/** To the question of the test; else to the prompt, which is in the messages of a chat. */
function relevance(given: GivenAssertion, context: AssertionContext): FoundCheck {
  const { query } = context.vars;
  const provider = context.judges.use(given.judge);
  if (provider === undefined) return { fault: '`answer-relevance` whose judge is not carried is left out' };
  const embedder = context.embedders.use(given.judge);
  if (embedder === undefined)
    return { fault: '`answer-relevance` whose embeddings provider is not carried is left out' };
  const hasQuestion = typeof query === 'string' && query.trim() !== '';
  given.own.note(
    'warning',
    hasQuestion
      ? '`answer-relevance` is judged by answer_relevance, whose prompt is Signalbox’s own'
      : '`answer-relevance` is judged by answer_relevance, whose prompt is Signalbox’s own; the question is the prompt, which programs leave unscored',
  );
  return {
    type: 'answer_relevance',
    params: { ...(hasQuestion && { question: query }), provider, embedding_provider: embedder },
    threshold: { min_score: given.own.at('threshold').number() ?? 0 },
  };
}

interface Judged {
  /** The check, where there is one for it; else llm_judge with criteria. */
  readonly check?: string;
  /** What is judged; undefined where the value says it, or the check. */
  readonly criteria?: string;
  /** Whether the value is a right answer. */
  readonly hasReference?: true;
  /** Whether a `rubricPrompt` is asked in its place. */
  readonly hasOwnPrompt?: true;
  /** Variables of the test that the judge must see. */
  readonly variables: readonly string[];
  readonly threshold: number;
}

/** Assertions that a model judges, in words of Signalbox’s own. */
const judgedTypes: Readonly<Record<string, Judged | undefined>> = {
  'llm-rubric': { hasOwnPrompt: true, variables: [], threshold: 0.5 },
  'model-graded-closedqa': { variables: [], threshold: 0.5 },
  'g-eval': { variables: [], threshold: 0.7 },
  factuality: { check: 'factuality', hasReference: true, variables: [], threshold: 0.5 },
  'context-faithfulness': { check: 'faithfulness', variables: ['context'], threshold: 0 },
  'context-recall': { check: 'context_recall', hasReference: true, variables: ['context'], threshold: 0 },
  'context-relevance': {
    criteria: 'The share of the context that is needed to answer the question. Do not judge the answer.',
    variables: ['query', 'context'],
    threshold: 0,
  },
};

/** A judge with another prompt than promptfoo’s, which is told. */
export function modelAssertion(given: GivenAssertion, context: AssertionContext): FoundCheck {
  if (given.type === 'is-refusal') return refusal(given);
  const type = given.type === 'model-graded-factuality' ? 'factuality' : given.type;
  const kind = Object.hasOwn(judgedTypes, type) ? judgedTypes[type] : undefined;
  if (kind === undefined) return undefined;
  if (given.transforms.length > 0) return { fault: `\`${type}\` of what code has changed is left out` };
  const { value } = given;
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  const text: unknown = isList ? value.join('\n') : value;
  const prompt = given.rubricPrompt === undefined ? undefined : readRubricPrompt(given.rubricPrompt, context);
  if (prompt !== undefined && kind.hasOwnPrompt === undefined)
    return { fault: `\`${type}\` with a \`rubricPrompt\` is left out` };
  if (prompt !== undefined && 'fault' in prompt) return prompt;
  if (prompt !== undefined) return withPrompt({ ...given, value: text }, prompt.text, context);
  const needsValue = kind.hasReference === true || (kind.check ?? kind.criteria) === undefined;
  if (needsValue && (typeof text !== 'string' || text === ''))
    return { fault: `\`${type}\` without a value is left out` };
  const missing = kind.variables.find((name) => typeof context.vars[name] !== 'string');
  if (missing !== undefined) return { fault: `\`${type}\` without a variable \`${missing}\` is left out` };
  const provider = context.judges.use(given.judge);
  if (provider === undefined) return { fault: `\`${type}\` whose judge is not carried is left out` };
  const check = kind.check ?? 'llm_judge';
  given.own.note('warning', `\`${type}\` is judged by ${check}, whose prompt is Signalbox’s own`);
  const seen = Object.fromEntries(kind.variables.map((name) => [name, context.vars[name]]));
  const { query } = context.vars;
  const params =
    kind.check === undefined
      ? { criteria: kind.criteria ?? text, ...(kind.variables.length > 0 && { extra: seen }) }
      : {
          ...seen,
          ...(kind.hasReference && { expected: text }),
          ...(typeof query === 'string' && { question: query }),
        };
  return {
    type: check,
    params: { ...params, provider },
    threshold: { min_score: given.own.at('threshold').number() ?? kind.threshold },
  };
}

/** The user’s own prompt around what is judged, which llm_judge shows as data. */
function withPrompt(given: GivenAssertion, prompt: string, { judges }: AssertionContext): FoundCheck {
  const { type, value, own } = given;
  const provider = judges.use(given.judge);
  if (provider === undefined) return { fault: `\`${type}\` whose judge is not carried is left out` };
  if (value !== undefined && value !== null && typeof value !== 'string')
    return { fault: `\`${type}\` whose value is no text is left out` };
  own.note(
    'warning',
    `\`rubricPrompt\` is the task of llm_judge, which shows the answer beside it and asks for a score from 0 to 1`,
  );
  return {
    type: 'llm_judge',
    params: {
      prompt,
      ...(value !== undefined && value !== null && value !== '' && { criteria: value }),
      provider,
    },
    threshold: { min_score: given.own.at('threshold').number() ?? 0.5 },
  };
}

/** By wording, as there, but with other phrases. */
function refusal({ own, transforms }: GivenAssertion): FoundCheck {
  if (transforms.length > 0) return { fault: '`is-refusal` of what code has changed is left out' };
  own.note('warning', '`is-refusal` is judged by refusal, whose phrases are Signalbox’s own');
  return { type: 'refusal', params: {} };
}

type Read = { readonly text: string } | { readonly fault: string };

/** What llm_judge knows too, and fills in itself. */
const places = { output: '{{output}}', rubric: '{{rubric}}' };

/** A text, messages, or a file of either, as the task of a judge: the variables of the test are filled in, the answer is not. */
function readRubricPrompt(given: Source, { files, notes, nunjucks, vars }: AssertionContext): Read {
  const own = given.text();
  const isFile = own?.startsWith('file://') === true;
  if (isFile && /\.(?:py|[cm]?[jt]s|rb)(?::\w+)?$/.test(own))
    return { fault: 'an assertion whose `rubricPrompt` a program makes is left out' };
  const found = isFile ? files.open(own) : given;
  if ('fault' in found) return found;
  const written = found.text();
  const messages = written === undefined ? found : messagesIn(written, found, notes);
  const text = messages === undefined ? written : messageTexts(messages);
  if (text === undefined || text.trim() === '')
    return { fault: 'an assertion whose `rubricPrompt` is no text and no list of messages is left out' };
  const filled = nunjucks.fill(text, { ...vars, ...places });
  if ('fault' in filled) return { fault: `an assertion whose \`rubricPrompt\` ${filled.fault} is left out` };
  return { text: String(filled.value) };
}

/** Messages that are written as JSON. */
function messagesIn(text: string, at: Source, notes: AssertionContext['notes']): Source | undefined {
  const value = /^\s*\[/.test(text) ? tryParse(text) : undefined;
  return Array.isArray(value) ? notes.open(value, () => at.location) : undefined;
}

function messageTexts(messages: Source): string | undefined {
  const items = messages.items();
  const texts = items.flatMap((message) => {
    // One judge reads the messages of every role.
    message.at('role').word('system', 'user');
    return message.at('content').text() ?? [];
  });
  return texts.length === items.length ? texts.join('\n\n') : undefined;
}

import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { asDraft07 } from '../../../base/yaml/ajv.ts';
import type { Source } from '../../../base/yaml/source.ts';
import { omitUndefined } from '../../../base/yaml/wording.ts';
import { type Code, javascriptEndings, readCode } from '../suite/programs.ts';
import type { Fault, Notes, SourceFiles } from '../suite/source-files.ts';
import type { Check } from '../suite/suite.ts';
import { escapePattern } from '../suite/template.ts';
import type { Graders } from './judges.ts';
import type { Templates } from './templates.ts';

export interface GivenAssertion {
  /** Without the prefix `not-`. */
  readonly type: string;
  readonly isInverse: boolean;
  readonly value: unknown;
  readonly own: Source;
  readonly transforms: readonly Code[];
  readonly judge: Source | undefined;
  readonly rubricPrompt: Source | undefined;
}

export interface AssertionContext {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly templates: Source;
  readonly files: SourceFiles;
  readonly notes: Notes;
  readonly graders: Graders;
  readonly nunjucks: Templates;
  readonly transforms: readonly Code[] | undefined;
  readonly judge: GivenAssertion['judge'];
  readonly rubricPrompt: GivenAssertion['rubricPrompt'];
  /** Whether the test has a threshold, so that the mean of all scores decides instead of each verdict. */
  readonly isAggregated: boolean;
}

type ReadCheck = (given: GivenAssertion, context: AssertionContext) => Check | Fault | undefined;

interface AssertionType {
  readonly check: ReadCheck;
  /** Judges an answer after its transforms. Without it, an assertion with transforms has no equivalent. */
  readonly changed?: ReadCheck;
  readonly isSettled?: true;
  /** The score is a share, not 0 or 1. */
  readonly isShare?: true;
  /** Returns how the verdict may differ from promptfoo’s. */
  readonly differs?: (value: unknown) => string | undefined;
}

/** Returns undefined for a type without an equivalent. */
export function assertionTypeOf(type: string): AssertionType | undefined {
  const name = type.startsWith('similar:') ? 'similar' : type;
  return Object.hasOwn(assertionTypes, name) ? assertionTypes[name] : undefined;
}

export const codeEvals = { javascript: 'promptfoo-javascript', python: 'promptfoo-python' } as const;

/** All imported assertion types, as listed in docs/reference/promptfoo.md. */
export const assertionTypes: Readonly<Record<string, AssertionType | undefined>> = {
  equals: inText(({ value }) =>
    isObject(value) || Array.isArray(value)
      ? { type: 'json_path', params: { expression: '@', expected: value } }
      : { type: 'equals', params: { expected: textOf(value) } },
  ),
  contains: inText(oneText((text) => found([text], '', '|'))),
  icontains: inText(oneText((text) => found([text], '(?i)', '|'))),
  'contains-any': inText(listOfTexts((list) => found(list, '', '|'))),
  'icontains-any': inText(listOfTexts((list) => found(list, '(?i)', '|'))),
  'contains-all': inText(listOfTexts((list) => found(list, '', '&'))),
  'icontains-all': inText(listOfTexts((list) => found(list, '(?i)', '&'))),
  'starts-with': inText(oneText((text) => ({ type: 'starts_with', params: { expected: text } }))),
  regex: inText(oneText((text) => ({ type: 'regex', params: { pattern: text } }))),
  'is-json': {
    ...inText(({ value }) => json(value, {})),
    changed: (given) => (given.value === undefined ? inProgram(given) : changedSchema),
  },
  'contains-json': {
    ...inText((given) => {
      if (isObject(given.value)) return json(given.value, { extract_json: true });
      return isEmpty(given.value) ? inProgram(given) : undefined;
    }),
    changed: (given) => (isEmpty(given.value) ? inProgram(given) : changedSchema),
    differs: (value) =>
      isObject(value)
        ? '`contains-json` checks the first JSON of the answer; promptfoo checks each object in it'
        : undefined,
  },
  'rouge-n': {
    check: ({ value, own }) => ({
      type: 'rouge',
      params: { expected: textOf(value) },
      threshold: { min_score: limitOf(own, value) ?? 0.75 },
    }),
    isShare: true,
    differs: () => '`rouge-n` becomes the check rouge, which splits words and punctuation differently',
  },
  cost: {
    check: ({ value, own }) => {
      const limit = limitOf(own, value);
      return limit === undefined ? noLimit : { type: 'cost_budget', params: { max_cost_usd: limit } };
    },
  },
  latency: {
    check: ({ value, own }) => {
      const limit = limitOf(own, value);
      return limit === undefined ? noLimit : { type: 'latency_budget', params: { max_ms: limit } };
    },
  },
  bleu: changeable((given) => {
    const { value, own } = given;
    const isTexts = Array.isArray(value) && value.every((each) => typeof each === 'string');
    if (isEmpty(value) || (typeof value !== 'string' && !isTexts)) return noValue;
    return { ...inProgram(given, { value }), threshold: { min_score: own.at('threshold').number() ?? 0.5 } };
  }),
  levenshtein: changeable((given) => {
    const { value, own } = given;
    if (typeof value !== 'string' || value === '') return noValue;
    return inProgram(given, { value, threshold: own.at('threshold').number() ?? 5 });
  }),
  javascript: changeable(inCode),
  python: changeable(inCode),
  similar: { ...changeable(similarity), isShare: true },
  'answer-relevance': { check: relevance, changed: leftOutChanged, isShare: true },
  'is-refusal': {
    check: ({ own }) => {
      own.note('warning', '`is-refusal` becomes the check refusal, which has its own list of phrases');
      return { type: 'refusal', params: {} };
    },
    changed: leftOutChanged,
    isSettled: true,
  },
  'llm-rubric': judged('llm-rubric', { hasOwnPrompt: true, variables: [], threshold: 0.5 }),
  'model-graded-closedqa': judged('model-graded-closedqa', { variables: [], threshold: 0.5 }),
  'g-eval': judged('g-eval', { variables: [], threshold: 0.7 }),
  factuality: judged('factuality', factuality()),
  'model-graded-factuality': judged('factuality', factuality()),
  'context-faithfulness': judged('context-faithfulness', {
    check: 'faithfulness',
    variables: ['context'],
    threshold: 0,
  }),
  'context-recall': judged('context-recall', {
    check: 'context_recall',
    hasReference: true,
    variables: ['context'],
    threshold: 0,
  }),
  'context-relevance': judged('context-relevance', {
    criteria: 'The share of the context that is needed to answer the question. Do not judge the answer.',
    variables: ['query', 'context'],
    threshold: 0,
  }),
};

const noValue = { fault: 'an assertion that needs a value has none, and is left out' };
const noLimit = { fault: 'an assertion that needs a threshold has none, and is left out' };
const changedSchema = { fault: 'a schema for text that code has changed is left out' };

function inText(check: ReadCheck): AssertionType {
  const changed: ReadCheck = (given) =>
    isEmpty(given.value) ? noValue : inProgram(given, { value: given.value });
  return { check, changed, isSettled: true };
}

function changeable(check: ReadCheck): AssertionType {
  return { check, changed: check };
}

function inProgram({ type, transforms }: GivenAssertion, params: Readonly<Record<string, unknown>> = {}) {
  const more = transforms.length > 0 ? { transforms } : {};
  return { type: codeEvals.javascript, params: { kind: type, ...params, ...more } };
}

function leftOutChanged({ type }: Pick<GivenAssertion, 'type'>): Fault {
  return { fault: `\`${type}\` on text that code has changed is left out` };
}

function oneText(toCheck: (text: string) => Check): ReadCheck {
  return ({ value }) => {
    const isText = !isEmpty(value) && ['string', 'number', 'boolean'].includes(typeof value);
    return isText ? toCheck(textOf(value)) : noValue;
  };
}

function listOfTexts(toCheck: (list: readonly string[]) => Check): ReadCheck {
  return ({ value }) => {
    if (Array.isArray(value)) return value.length > 0 ? toCheck(value.map(textOf)) : noValue;
    if (typeof value !== 'string' || value === '') return noValue;
    const list = splitList(value);
    return 'fault' in list ? list : toCheck(list.values);
  };
}

/** Splits at commas as promptfoo does. Quoted parts keep commas; `""` and `\\"` are quotes inside them. */
export function splitList(text: string): { readonly values: readonly string[] } | Fault {
  const values: string[] = [];
  const part = /[\s,]*(?:"((?:\\["\\]|""|[^"\\]|\\(?!["\\]))*)"\s*(?:,|$)|([^\s,"][^,]*))/y;
  while (!/^[\s,]*$/.test(text.slice(part.lastIndex))) {
    const found = part.exec(text);
    if (found === null) return { fault: 'a list of texts whose quotes do not match is left out' };
    const quoted = found[1]?.replaceAll(/\\(["\\])|""/g, (_, kept: string | undefined) => kept ?? '"');
    values.push(quoted ?? found[2]?.trim() ?? '');
  }
  return { values };
}

/** Signalbox's `contains` ignores case and scores shares, so an exact pattern is used. */
function found(texts: readonly string[], flags: '' | '(?i)', how: '|' | '&'): Check {
  const patterns = texts.map(escapePattern);
  const pattern =
    how === '|' ? patterns.join('|') : `^${patterns.map((each) => `(?=[\\s\\S]*${each})`).join('')}`;
  // An empty pattern is invalid, but every text contains the empty string.
  return { type: 'regex', params: { pattern: `${flags}${pattern === '' ? '(?:)' : pattern}` } };
}

function json(value: unknown, extract: Readonly<Record<string, unknown>>): Check | Fault {
  if (isEmpty(value)) return { type: 'json_valid', params: extract };
  if (isObject(value)) return { type: 'json_schema', params: { schema: asDraft07(value), ...extract } };
  return { fault: 'a schema that is not a mapping is left out' };
}

function limitOf(own: Source, value: unknown): number | undefined {
  return own.at('threshold').number() ?? (typeof value === 'number' ? value : undefined);
}

function isEmpty(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(value);
}

function inCode(given: GivenAssertion, { files, isAggregated }: AssertionContext): Check | Fault {
  const { type, value, own, transforms } = given;
  const language = type === 'python' ? 'python' : 'javascript';
  if (typeof value !== 'string' || value === '')
    return { fault: `a ${type} assertion without code is left out` };
  if (language === 'python' && transforms.length > 0)
    return { fault: 'a python assertion on text that JavaScript has changed is left out' };
  const source = readCode(value, files, language === 'python' ? ['py'] : javascriptEndings);
  if ('fault' in source) return source;
  const params = {
    ...source,
    ...omitUndefined({ threshold: own.at('threshold').number(), config: own.at('config').whole() }),
    ...(transforms.length > 0 && { transforms }),
    ...(isAggregated && language === 'javascript' && { scored: true, inverse: given.isInverse }),
  };
  return { type: codeEvals[language], params };
}

/** Passes if one of the texts is similar. As in promptfoo, the inverse passes if one is dissimilar. */
function similarity(given: GivenAssertion, { graders }: AssertionContext): Check | Fault {
  const { type, value, own } = given;
  const [, metric = 'cosine'] = type.split(':');
  if (metric !== 'cosine')
    return { fault: `\`${type}\` is left out: the only measure of similarity is the cosine` };
  if (given.transforms.length > 0) return leftOutChanged(given);
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isText = (each: unknown): boolean =>
    typeof each === 'string' ? each.trim() !== '' : typeof each === 'number' || typeof each === 'boolean';
  if (texts.length === 0 || !texts.every(isText)) return { fault: '`similar` without a text is left out' };
  const provider = graders.embedder(given.judge);
  if (provider === undefined)
    return { fault: '`similar` is left out, because its embeddings provider is not imported' };
  const near = (expected: unknown): Check => ({
    type: 'similarity',
    params: { expected, provider },
    threshold: { min_score: own.at('threshold').number() ?? 0.75 },
  });
  if (texts.length === 1) return near(texts[0]);
  return given.isInverse ? { all_of: texts.map(near) } : near(texts);
}

function relevance({ own, judge }: GivenAssertion, { vars, graders }: AssertionContext): Check | Fault {
  const { query } = vars;
  const provider = graders.judge(judge);
  if (provider === undefined)
    return { fault: '`answer-relevance` is left out, because its judge is not imported' };
  const embedder = graders.embedder(judge);
  if (embedder === undefined)
    return { fault: '`answer-relevance` is left out, because its embeddings provider is not imported' };
  const hasQuestion = typeof query === 'string' && query.trim() !== '';
  const without = hasQuestion
    ? ''
    : '; the question is the prompt, so cases with programs as providers are unscored';
  own.note(
    'warning',
    `\`answer-relevance\` becomes the check answer_relevance, which has its own prompt${without}`,
  );
  return {
    type: 'answer_relevance',
    params: { ...(hasQuestion && { question: query }), provider, embedding_provider: embedder },
    threshold: { min_score: own.at('threshold').number() ?? 0 },
  };
}

interface Judged {
  readonly check?: string;
  readonly criteria?: string;
  readonly hasReference?: true;
  readonly hasOwnPrompt?: true;
  readonly variables: readonly string[];
  readonly threshold: number;
}

function factuality(): Judged {
  return { check: 'factuality', hasReference: true, variables: [], threshold: 0.5 };
}

function judged(type: string, kind: Judged): AssertionType {
  const { check = 'llm_judge', hasReference = false, variables } = kind;
  const read: ReadCheck = ({ value, own, judge, rubricPrompt }, context) => {
    const { vars, graders } = context;
    const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
    const text: unknown = isList ? value.join('\n') : value;
    const judgedBy = (params: Readonly<Record<string, unknown>>, warning: string): Check => {
      own.note('warning', warning);
      const min_score = own.at('threshold').number() ?? kind.threshold;
      return { type: check, params, threshold: { min_score } };
    };
    const noJudge = { fault: `\`${type}\` is left out, because its judge is not imported` };
    if (rubricPrompt !== undefined) {
      // llm_judge shows the user's own prompt as data.
      const prompt = readRubricPrompt(rubricPrompt, context);
      if (kind.hasOwnPrompt === undefined)
        return { fault: `\`${type}\` with a \`rubricPrompt\` is left out` };
      if ('fault' in prompt) return prompt;
      const provider = graders.judge(judge);
      if (provider === undefined) return noJudge;
      if (!isEmpty(text) && typeof text !== 'string')
        return { fault: `\`${type}\` whose value is not text is left out` };
      return judgedBy(
        { prompt: prompt.text, ...(!isEmpty(text) && { criteria: text }), provider },
        '`rubricPrompt` becomes the task of llm_judge, which adds the answer and requests a score from 0 to 1',
      );
    }
    const needsValue = hasReference || (kind.check ?? kind.criteria) === undefined;
    if (needsValue && (typeof text !== 'string' || text === ''))
      return { fault: `\`${type}\` without a value is left out` };
    const missing = variables.find((name) => typeof vars[name] !== 'string');
    if (missing !== undefined) return { fault: `\`${type}\` without a variable \`${missing}\` is left out` };
    const provider = graders.judge(judge);
    if (provider === undefined) return noJudge;
    const seen = Object.fromEntries(variables.map((name) => [name, vars[name]]));
    const { query } = vars;
    const params =
      kind.check === undefined
        ? { criteria: kind.criteria ?? text, ...(variables.length > 0 && { extra: seen }) }
        : {
            ...seen,
            ...(hasReference && { expected: text }),
            ...(typeof query === 'string' && { question: query }),
          };
    return judgedBy(
      { ...params, provider },
      `\`${type}\` becomes the check ${check}, which has its own prompt`,
    );
  };
  return { check: read, changed: () => leftOutChanged({ type }), isShare: true };
}

/**
 * Converts a text, messages, or a file of either to a judge task. Fills in the variables of the test, but not the
 * answer.
 */
function readRubricPrompt(
  given: Source,
  { files, notes, nunjucks, vars }: AssertionContext,
): { readonly text: string } | Fault {
  const own = given.text();
  const isFile = own?.startsWith('file://') === true;
  if (isFile && /\.(?:py|[cm]?[jt]s|rb)(?::\w+)?$/.test(own))
    return { fault: 'an assertion whose `rubricPrompt` comes from a program is left out' };
  const source = isFile ? files.open(own) : given;
  if ('fault' in source) return source;
  const written = source.text();
  const listed = written !== undefined && /^\s*\[/.test(written) ? tryParse(written) : undefined;
  const list = Array.isArray(listed) ? notes.open(listed, () => source.location) : source;
  const items = list.items();
  const texts = items.flatMap((message) => {
    message.at('role').word('system', 'user');
    return message.at('content').text() ?? [];
  });
  const isMessages = written === undefined || list !== source;
  const text = isMessages ? (texts.length === items.length ? texts.join('\n\n') : undefined) : written;
  if (text === undefined || text.trim() === '')
    return { fault: 'an assertion whose `rubricPrompt` is neither text nor a list of messages is left out' };
  // llm_judge fills in these two itself.
  const filled = nunjucks.fill(text, { ...vars, output: '{{output}}', rubric: '{{rubric}}' });
  if ('fault' in filled) return { fault: `an assertion whose \`rubricPrompt\` ${filled.fault} is left out` };
  return { text: String(filled.value) };
}

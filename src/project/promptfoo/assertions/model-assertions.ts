import type { AssertionContext, FoundCheck, GivenAssertion } from './assertion-model.ts';
import { readRubricPrompt } from './rubric-prompt.ts';

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

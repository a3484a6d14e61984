import { isObject, Json } from '../../../base/json/json.ts';
import { formatCount } from '../../../base/text/format-count.ts';
import { findNearest } from '../../../base/text/suggest.ts';
import { findViolations } from '../../../base/yaml/violation.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckInput, ParamProblem, Params } from '../check.ts';
import { schemaOf } from '../check-schema.ts';
import { formatChecks } from './format.ts';
import { looseParam } from './instruction.ts';
import { keywordChecks } from './keywords.ts';
import { lengthChecks } from './lengths.ts';
import { wordingChecks } from './wording.ts';

/** The rules by IFEval's names. */
export const ruleChecks: readonly Check[] = [
  ...keywordChecks,
  ...lengthChecks,
  ...formatChecks,
  ...wordingChecks,
];

export const ifeval: Check = {
  type: 'ifeval',
  aliases: [],
  family: 'instructions',
  summary:
    'How many rules of a row of IFEval’s dataset the content keeps. With the default threshold, the pass rate is its prompt-level accuracy.',
  range: 'ratio',
  params: {
    instruction_id_list: {
      schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
      required: true,
      description: 'The rules, by the names of the checks above.',
    },
    kwargs: {
      schema: { type: 'array', items: { type: ['object', 'null'] } },
      default: [],
      description: 'The params of each; what is null, or none of the rule’s, is passed over.',
    },
    loose: looseParam,
  },
  example: {
    params: {
      instruction_id_list: ['punctuation:no_comma', 'length_constraints:number_words'],
      kwargs: [{}, { num_words: 300, relation: 'at least' }],
    },
    content: 'Short and without a comma.',
    score: 0.5,
  },
  findProblems: findUnknownRules,
  run: scoreRules,
};

function findUnknownRules({ instruction_id_list: ids }: Params): readonly ParamProblem[] {
  if (!Array.isArray(ids)) return [];
  const types = ruleChecks.map(({ type }) => type);
  return ids
    .filter((id) => typeof id === 'string' && !types.includes(id))
    .map((id: string) => {
      const nearest = findNearest(id, types);
      const hint = nearest === undefined ? '' : `; did you mean \`${nearest}\`?`;
      return { param: 'instruction_id_list', message: `has the unknown rule ${JSON.stringify(id)}${hint}` };
    });
}

async function scoreRules(asked: CheckInput): Promise<EvalOutcome> {
  const { instruction_id_list: ids, kwargs, loose } = asked.params;
  if (!Array.isArray(ids) || !Array.isArray(kwargs)) return unscored('there are no rules');
  const rules: Record<string, boolean> = {};
  let followed = 0;
  for (const [index, id] of ids.entries()) {
    const check = ruleChecks.find(({ type }) => type === id);
    const params = check && paramsOf(check, kwargs[index], loose);
    if (check === undefined || params === undefined)
      return unscored(`the params of rule ${index}, ${String(id)}, cannot be used`);
    const outcome = await check.run({ ...asked, params });
    if (outcome.status === 'unscored') return unscored(`${String(id)}: ${outcome.reason}`);
    if (outcome.score === 1) followed += 1;
    rules[`${index} ${String(id)}`] = outcome.score === 1;
  }
  const broken = Object.keys(rules).filter((rule) => !rules[rule]);
  const detail = `${followed} of ${formatCount(ids.length, 'rule')}${broken.length === 0 ? '' : `; not: ${broken.join(', ')}`}`;
  return scored(followed / ids.length, detail, Json.from(rules));
}

/** The dataset gives every rule every param, null where it has no meaning. */
function paramsOf(check: Check, given: unknown, loose: unknown): Params | undefined {
  const specs = Object.entries(check.params);
  const taken = isObject(given) ? given : {};
  const params = Object.fromEntries(
    specs
      .map(([name, spec]) => [name, taken[name] ?? spec.default] as const)
      .filter(([, value]) => value !== undefined),
  );
  const isComplete = specs.every(([name, spec]) => !spec.required || Object.hasOwn(params, name));
  if (!isComplete || findViolations(params, schemaOf(check)).length > 0) return undefined;
  return { ...params, loose };
}

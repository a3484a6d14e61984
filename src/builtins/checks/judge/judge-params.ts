import { isObject } from '../../../base/json/json.ts';
import type { ParamProblem, ParamSpec, Params } from '../check.ts';

const text = { type: 'string', minLength: 1 };

export const judgeParams = {
  criteria: { schema: text, description: 'What to judge.' },
  rubric: { schema: text, description: 'What each score means.' },
  prompt: {
    schema: text,
    description:
      'The task of the judge in your own words. `{{output}}` in it stands for the judged text, `{{rubric}}` for `criteria`. The judge sees both beside it, as data in quotes, and still answers with a score of the `scale`.',
  },
  scale: {
    schema: {
      type: 'object',
      required: ['min', 'max'],
      properties: { min: { type: 'number' }, max: { type: 'number' } },
      additionalProperties: false,
    },
    description:
      'The scale of the judge’s own score, such as `{min: 1, max: 5}`. The score of the check is (x - min) / (max - min), from 0 to 1, as are thresholds; a score outside the scale leaves the check unscored. Default: 0 to 1.',
  },
  system_prompt: {
    schema: text,
    description:
      'The role of the judge; Signalbox adds the rules for its answer. Default: an impartial judge.',
  },
  provider: {
    schema: text,
    asks: 'llm',
    description:
      'The id of the provider of the judge. Default: the one with the id `judge`, or the only one.',
  },
  model: { schema: text, description: 'The model. Default: the provider’s own.' },
  extra: {
    schema: { type: 'object' },
    description: 'Further facts for the judge, such as a reference answer. The judge sees them as data.',
  },
} as const satisfies Readonly<Record<string, ParamSpec>>;

export function scaleOf({ scale }: Params): { readonly min: number; readonly max: number } {
  return isObject(scale) ? { min: Number(scale['min']), max: Number(scale['max']) } : { min: 0, max: 1 };
}

export function findScaleProblems(params: Params): readonly ParamProblem[] {
  const { min, max } = scaleOf(params);
  return min < max
    ? []
    : [{ param: 'scale', message: `has a min of ${min}, which is not below its max of ${max}` }];
}

export const requiredJudgeParams = [['criteria', 'rubric', 'prompt', 'system_prompt']] as const;

import { isObject } from '../../../base/json/json.ts';
import type { ParamProblem, ParamSpec, Params } from '../check.ts';

const text = { type: 'string', minLength: 1 };

export const judgeParams = {
  criteria: { schema: text, description: 'What to judge.' },
  rubric: { schema: text, description: 'Which score stands for what.' },
  prompt: {
    schema: text,
    description:
      'The task of the judge in words of its own. `{{output}}` in it stands for what is judged, `{{rubric}}` for `criteria`: the judge is shown both beside it, as data in quotes, and still answers with a score of the `scale`.',
  },
  scale: {
    schema: {
      type: 'object',
      required: ['min', 'max'],
      properties: { min: { type: 'number' }, max: { type: 'number' } },
      additionalProperties: false,
    },
    description:
      'The scale of the judge’s own score, such as `{min: 1, max: 5}`. The score of the check is (x - min) / (max - min), from 0 to 1, as are thresholds; what lies outside is unscored. Default: 0 to 1.',
  },
  system_prompt: {
    schema: text,
    description: 'Who the judge is; the rules for its answer are added to it. Default: an impartial judge.',
  },
  provider: {
    schema: text,
    asks: 'llm',
    description:
      'The id of the provider that is asked. Default: the one with the id `judge`, or the only one.',
  },
  model: { schema: text, description: 'The model. Default: the provider’s own.' },
  extra: {
    schema: { type: 'object' },
    description: 'Further facts for the judge, such as a reference answer. They are shown as data.',
  },
} as const satisfies Readonly<Record<string, ParamSpec>>;

export function scaleOf({ scale }: Params): { readonly min: number; readonly max: number } {
  return isObject(scale) ? { min: Number(scale['min']), max: Number(scale['max']) } : { min: 0, max: 1 };
}

export function findScaleProblems(params: Params): readonly ParamProblem[] {
  const { min, max } = scaleOf(params);
  return min < max
    ? []
    : [{ param: 'scale', message: `has a min, ${min}, that is not below its max, ${max}` }];
}

export const requiredJudgeParams = [['criteria', 'rubric', 'prompt', 'system_prompt']] as const;

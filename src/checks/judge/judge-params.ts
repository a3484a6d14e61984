import type { ParamSpec } from '../check.ts';

const text = { type: 'string', minLength: 1 };

/** The params of every judge check. */
export const judgeParams = {
  criteria: { schema: text, description: 'What to judge.' },
  rubric: { schema: text, description: 'Which score stands for what.' },
  prompt: {
    schema: text,
    description:
      'The task of the judge in words of its own. `{{output}}` in it stands for what is judged, `{{rubric}}` for `criteria`: the judge is shown both beside it, as data in quotes, and still answers with a score from 0 to 1.',
  },
  system_prompt: {
    schema: text,
    description: 'Who the judge is; the rules for its answer are added to it. Default: an impartial judge.',
  },
  provider: {
    schema: text,
    description:
      'The id of the provider that is asked. Default: the one with the id `judge`, or the only one.',
  },
  model: { schema: text, description: 'The model. Default: the provider’s own.' },
  extra: {
    schema: { type: 'object' },
    description: 'Further facts for the judge, such as a reference answer. They are shown as data.',
  },
} as const satisfies Readonly<Record<string, ParamSpec>>;

/** At least one of these must be given. */
export const requiredJudgeParams = [['criteria', 'rubric', 'prompt', 'system_prompt']] as const;

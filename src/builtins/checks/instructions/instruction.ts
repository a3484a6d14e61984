import { formatCount } from '../../../base/text/phrases.ts';
import { type EvalOutcome, scored, unscored } from '../../../contract/eval.ts';
import type { Check, CheckExample, ParamProblem, ParamSpec, Params } from '../check.ts';

/** A rule for an answer that needs no model. */
export interface Instruction {
  readonly type: string;
  readonly summary: string;
  readonly params: Readonly<Record<string, ParamSpec>>;
  readonly example: CheckExample;
  readonly findProblems?: (params: Params) => readonly ParamProblem[];
  /** `text` is not blank, and its lines end with `\n`. */
  judge(text: string, params: Params): Finding | Promise<Finding>;
}

export type Finding = { readonly follows: boolean; readonly detail: string } | { readonly unknown: string };

/**
 * Source of the rules: Zhou et al. 2023, https://arxiv.org/abs/2311.07911, and
 * https://github.com/google-research/google-research/tree/master/instruction_following_eval
 */
export function instructionCheck(instruction: Instruction): Check {
  const { judge: _judge, ...described } = instruction;
  return {
    ...described,
    aliases: [],
    family: 'instructions',
    range: '0 or 1',
    params: { ...instruction.params, loose: looseParam },
    run: async ({ params, request }) =>
      toOutcome(await judgeAnswer(instruction, request.content, params, params['loose'] === true)),
  };
}

export const looseParam: ParamSpec = {
  schema: { type: 'boolean' },
  default: false,
  description:
    'Whether it is enough that the content follows the rule without its first or last line or its asterisks.',
};

async function judgeAnswer(
  { judge }: Pick<Instruction, 'judge'>,
  content: string,
  params: Params,
  isLoose: boolean,
): Promise<Finding> {
  if (content.length > MAX_LENGTH) return { unknown: `the content is longer than ${MAX_LENGTH} characters` };
  const text = content.replaceAll(/\r\n?/g, '\n');
  if (text.trim() === '') return { follows: false, detail: 'there is no text' };
  const strict = await judge(text, params);
  if (!isLoose || !('follows' in strict) || strict.follows) return strict;
  for (const variant of variantsOf(text)) {
    const found = await judge(variant, params);
    if ('follows' in found && found.follows) return { ...found, detail: `${found.detail}, loosely` };
  }
  return strict;
}

/** Takes about half a second to count. */
const MAX_LENGTH = 1_000_000;

/** The variants of IFEval's loose measure: models begin with “Sure, here it is:” and add markup. */
function variantsOf(text: string): string[] {
  const lines = text.split('\n');
  const cut = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map((kept) => kept.join('\n').trim());
  const plain = [text, ...cut].map((variant) => variant.replaceAll('*', ''));
  return [...cut, ...plain].filter((variant) => variant.trim() !== '');
}

function toOutcome(found: Finding): EvalOutcome {
  return 'unknown' in found ? unscored(found.unknown) : scored(found.follows ? 1 : 0, found.detail);
}

export const relationParam: ParamSpec = {
  schema: { enum: ['at least', 'less than'] },
  default: 'at least',
  description: 'Whether the number is the minimum, or the first number that is too high.',
};

export function countParam(description: string): ParamSpec {
  return { schema: { type: 'integer', minimum: 0 }, required: true, description };
}

export function compareCount(actual: number, wanted: unknown, relation: unknown, noun: string): Finding {
  const limit = Number(wanted);
  const follows =
    relation === 'less than' ? actual < limit : relation === 'exactly' ? actual === limit : actual >= limit;
  return { follows, detail: `${formatCount(actual, noun)}, wanted ${String(relation)} ${limit}` };
}

import { scored } from '../../contract/eval.ts';
import { Json } from '../../json/json.ts';
import type { Check, Params } from '../check.ts';
import { foldCase, textsOf, textsParam } from '../text/text-params.ts';

export const choice: Check = {
  type: 'choice',
  aliases: ['multiple_choice'],
  family: 'reference',
  summary:
    'Whether the content chooses the expected answer of several: the last `answer: X` or `answer is X`, or else the choice that it begins with, or else the only one that it names.',
  range: '0 or 1',
  params: {
    expected: { schema: { type: 'string', minLength: 1 }, required: true, description: 'The right choice.' },
    choices: {
      schema: { ...textsParam, uniqueItems: true },
      default: ['A', 'B', 'C', 'D', 'E'],
      description:
        'All of them, as they are written in answers, in any case; also in brackets, bold or quotes.',
    },
  },
  example: {
    params: { expected: 'B' },
    content: 'A is too small and C is no prime, so the answer is **B**.',
    score: 1,
  },
  findProblems: ({ expected, choices }: Params) =>
    Array.isArray(choices) && !choices.some((one) => foldCase(String(one)) === foldCase(String(expected)))
      ? [{ param: 'expected', message: `is none of the choices ${choices.map(String).join(', ')}` }]
      : [],
  run: ({ params, request }) => {
    const chosen = findChoice(request.content, textsOf(params, 'choices'));
    const data = Json.from({ choice: chosen ?? null });
    if (chosen === undefined) return scored(0, 'no choice was found', data);
    const isRight = foldCase(chosen) === foldCase(String(params['expected']));
    return scored(isRight ? 1 : 0, `chose ${chosen}`, data);
  },
};

/** The choice of an answer, as it is written in the list; undefined where none, or more than one, may be meant. */
function findChoice(content: string, choices: readonly string[]): string | undefined {
  const text = content.normalize('NFC');
  const longestFirst = choices.toSorted((one, other) => other.length - one.length);
  const any = longestFirst.map((one) => escapePattern(one.normalize('NFC'))).join('|');
  const whole = String.raw`["'\u201c\u2018*_\x60([{\s]{0,20}(${any})(?![\p{L}\p{M}\p{N}_])`;
  const told = [...text.matchAll(new RegExp(String.raw`answer(?:\s{1,5}is)?\s{0,5}[:=]?${whole}`, 'giu'))].at(
    -1,
  );
  const led = new RegExp(`^${whole}`, 'iu').exec(text.trimStart());
  // A lone `A` in the middle of a sentence is an article more often than a choice.
  const isExact = choices.some((one) => one.length === 1) ? 'gu' : 'giu';
  const named = new Set(
    [
      ...text.matchAll(
        new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}_])(${any})(?![\p{L}\p{M}\p{N}_])`, isExact),
      ),
    ].map(([, name = '']) => foldCase(name)),
  );
  const found =
    told?.[1] ??
    (isAlone(text, led) ? led?.[1] : undefined) ??
    (named.size === 1 ? [...named][0] : undefined);
  return found === undefined ? undefined : choices.find((one) => foldCase(one) === foldCase(found));
}

/** Whether a choice at the beginning is one, and not the first word of a sentence. */
function isAlone(text: string, led: RegExpExecArray | null): boolean {
  if (led === null) return false;
  const rest = text.trimStart().slice(led[0].length);
  return /^["'”’*_`\s]*([).:\]},\n]|$)/u.test(rest);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

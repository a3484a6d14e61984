import { Json } from '../../../base/json/json.ts';
import { foldCase, foldText, openWords } from '../../../base/text/words.ts';
import { scored } from '../../../contract/eval.ts';
import type { Check, Params } from '../check.ts';
import { textsOf, textsParam } from '../text/text-params.ts';

export const choice: Check = {
  type: 'choice',
  aliases: ['multiple_choice'],
  family: 'reference',
  summary:
    'Whether the content chooses the expected answer of several: the last `answer: X` or `answer is X` (in twelve languages), or else the choice that it begins with, or else the only one that it names.',
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
  const text = foldCase(content).trimStart();
  const { isAt } = openWords(text);
  const longestFirst = choices.toSorted((one, other) => other.length - one.length);
  // The choice at a position, behind brackets, quotes and marks of Markdown.
  const choiceFrom = (start: number): { choice: string; end: number } | undefined => {
    for (let at = start; at <= start + 20; at += 1) {
      const choice = longestFirst.find((one) => isAt(foldCase(one), at));
      if (choice !== undefined) return { choice, end: at + foldCase(choice).length };
      if (!/["'\u201c\u2018*_`([{\s\u300c\u300e]/.test(text[at] ?? '')) return undefined;
    }
    return undefined;
  };
  const told = [...text.matchAll(answer)]
    .map(({ 0: lead, index }) => choiceFrom(index + lead.length))
    .findLast((found) => found !== undefined);
  if (told !== undefined) return told.choice;
  const led = choiceFrom(0);
  if (led !== undefined && standsAlone.test(text.slice(led.end))) return led.choice;
  // A lone `A` in the middle of a sentence is an article more often than a choice.
  const fold = choices.some((one) => one.length === 1) ? foldText : foldCase;
  const named = namedChoices(fold(content), new Map(choices.map((one) => [fold(one), one])));
  return named.size === 1 ? [...named][0] : undefined;
}

/** What says that a choice follows, in capitals. */
const answer =
  /(?:ANSWER|ANTWORT|RÉPONSE|RESPUESTA|RESPOSTA|RISPOSTA|ОТВЕТ|答案|答え|正解|정답|उत्तर|คำตอบ)(?:\s{0,5}(?:IS|IST|LAUTET|EST|ES|É|È|是|为|為|は|은|है|คือ))?\s{0,5}[:=]?/gu;

/** What follows a choice at the beginning that is not the first word of a sentence. */
const standsAlone = /^["'”’*_`\s\u300d\u300f]*([).:\]},\n\u3002\u3001]|$)/u;

/** The choices that stand in the text as words of their own; one within a longer one does not count. */
function namedChoices(text: string, choices: ReadonlyMap<string, string>): ReadonlySet<string> {
  const { find } = openWords(text);
  const places: { start: number; end: number; choice: string }[] = [];
  for (const [folded, choice] of choices)
    for (let start = find(folded); start !== -1; start = find(folded, start + folded.length))
      places.push({ start, end: start + folded.length, choice });
  places.sort((one, other) => one.start - other.start || other.end - one.end);
  const named = new Set<string>();
  let end = 0;
  for (const place of places) {
    if (place.start < end) continue;
    named.add(place.choice);
    end = place.end;
  }
  return named;
}

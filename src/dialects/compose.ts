import { Json } from '../base/json/json.ts';
import { asText } from '../base/json/parse.ts';
import { elementsOf, membersOf } from '../base/json/scan.ts';
import { type Answer, answers, type Verdict } from '../contract/hook.ts';
import { mergeMetadata } from './metadata.ts';

export interface Composition {
  /** strictest: abort, deny, ask, respond, modify, allow. first: the first that is neither allow nor modify. */
  readonly verdict: 'strictest' | 'first';
  /** The merge of a `replace` member that several hooks gave. A member not listed uses `last`. */
  readonly members?: Readonly<Record<string, Merge>>;
}

/** last: the last hook's value. list: all lists concatenated. reversed: concatenated from the last hook on. */
type Merge = 'last' | 'list' | 'reversed' | 'intersection' | 'union' | 'shallow' | 'paragraphs';

export interface HookAnswer {
  readonly hook: string;
  readonly answer: Answer;
}

export interface Composed {
  /** Null if every hook only allowed. */
  readonly hook: string | null;
  readonly answer: Answer;
}

export function compose(
  hookAnswers: readonly HookAnswer[],
  { verdict, members = {} }: Composition,
): Composed {
  const decider = verdict === 'first' ? hookAnswers.find(stops) : strictestOf(hookAnswers);
  const extras = {
    metadata: mergeMetadata(
      (decider === undefined ? hookAnswers : [...hookAnswers, decider]).map(({ answer }) => answer.metadata),
    ),
    context: hookAnswers.flatMap(({ answer }) => answer.context ?? []),
  };
  const modifiers = hookAnswers.filter(({ answer }) => replaceOf(answer) !== undefined);
  const replace = mergeReplace(
    modifiers.map(({ answer }) => replaceOf(answer) ?? new Json('{}')),
    members,
  );
  if (decider !== undefined && stops(decider)) {
    const { answer } = decider;
    const replacement = answer.verdict === 'ask' && replace !== undefined ? { replace } : {};
    return {
      hook: decider.hook,
      answer: { ...answer, ...contextOf(extras), metadata: extras.metadata, ...replacement },
    };
  }
  const reason = hookAnswers.findLast(({ answer }) => answer.reason !== '')?.answer.reason ?? '';
  if (replace === undefined) return { hook: null, answer: answers.allow({ ...extras, reason }) };
  return { hook: modifiers.at(-1)?.hook ?? null, answer: answers.modify(replace, { ...extras, reason }) };
}

function contextOf({ context }: { readonly context: readonly string[] }) {
  return context.length === 0 ? {} : { context };
}

const ranks: readonly Verdict[] = ['allow', 'modify', 'respond', 'ask', 'deny', 'abort'];

function strictestOf(hookAnswers: readonly HookAnswer[]): HookAnswer | undefined {
  const rank = ({ answer }: HookAnswer) => ranks.indexOf(answer.verdict);
  return hookAnswers.reduce<HookAnswer | undefined>(
    (best, next) => (best === undefined || rank(next) > rank(best) ? next : best),
    undefined,
  );
}

function stops({ answer: { verdict } }: HookAnswer): boolean {
  return verdict !== 'allow' && verdict !== 'modify';
}

function replaceOf(answer: Answer): Json | undefined {
  return answer.verdict === 'modify' || answer.verdict === 'ask' ? answer.replace : undefined;
}

function mergeReplace(replaces: readonly Json[], rules: Readonly<Record<string, Merge>>): Json | undefined {
  if (replaces.length === 0) return undefined;
  const valuesByKey = new Map<string, Json[]>();
  for (const replace of replaces) {
    for (const [key, value] of Object.entries(membersOf(replace)))
      valuesByKey.set(key, [...(valuesByKey.get(key) ?? []), value]);
  }
  const merged = [...valuesByKey].map(([key, values]) => [key, merge(values, rules[key] ?? 'last')]);
  return Json.from(Object.fromEntries(merged));
}

function merge(values: readonly Json[], rule: Merge): Json {
  switch (rule) {
    case 'last':
      return values.at(-1) ?? new Json('null');
    case 'list':
      return Json.from(values.flatMap(listOf));
    case 'reversed':
      return Json.from(values.toReversed().flatMap(listOf));
    case 'union':
      return Json.from(unique(values.flatMap(listOf)));
    case 'intersection': {
      const [first = [], ...others] = values.map(listOf);
      const isEverywhere = ({ text }: Json) =>
        others.every((list) => list.some((each) => each.text === text));
      return Json.from(unique(first.filter(isEverywhere)));
    }
    case 'shallow':
      return Json.from(Object.fromEntries(values.flatMap((value) => Object.entries(membersOf(value)))));
    case 'paragraphs':
      return Json.from(values.map(({ value }) => asText(value)).join('\n\n'));
  }
}

function unique(list: readonly Json[]): Json[] {
  return list.filter((each, index) => list.findIndex(({ text }) => text === each.text) === index);
}

function listOf(json: Json): Json[] {
  return Array.isArray(json.value) ? elementsOf(json) : [json];
}

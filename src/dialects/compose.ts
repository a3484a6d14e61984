import { type Answer, answers, type Verdict } from '../contract/hook.ts';
import { Json } from '../json/json.ts';
import { elementsOf, partsOf } from '../json/scan.ts';
import type { Composition, Merge } from './composition.ts';
import { mergeMetadata } from './metadata.ts';

/** What one hook of a point answered. */
export interface Spoken {
  readonly hook: string;
  readonly answer: Answer;
}

/** What several hooks of a point came to, and which of them decided. */
export interface Composed {
  /** Null when every hook merely allowed. */
  readonly hook: string | null;
  readonly answer: Answer;
}

/** One answer out of several, in the order of the hooks, by the rule of their point. */
export function compose(spoken: readonly Spoken[], { verdict, members = {} }: Composition): Composed {
  const decider = verdict === 'first' ? spoken.find(stops) : strictestOf(spoken);
  const beside = {
    metadata: mergeMetadata(
      (decider === undefined ? spoken : [...spoken, decider]).map(({ answer }) => answer.metadata),
    ),
    context: spoken.flatMap(({ answer }) => answer.context ?? []),
  };
  const modifiers = spoken.filter(({ answer }) => replaceOf(answer) !== undefined);
  const replace = mergeReplace(
    modifiers.map(({ answer }) => replaceOf(answer) ?? new Json('{}')),
    members,
  );
  if (decider !== undefined && stops(decider)) {
    const { answer } = decider;
    const carried = answer.verdict === 'ask' && replace !== undefined ? { replace } : {};
    return {
      hook: decider.hook,
      answer: { ...answer, ...contextOf(beside), metadata: beside.metadata, ...carried },
    };
  }
  const reason = spoken.findLast(({ answer }) => answer.reason !== '')?.answer.reason ?? '';
  if (replace === undefined) return { hook: null, answer: answers.allow({ ...beside, reason }) };
  return { hook: modifiers.at(-1)?.hook ?? null, answer: answers.modify(replace, { ...beside, reason }) };
}

function contextOf({ context }: { readonly context: readonly string[] }) {
  return context.length === 0 ? {} : { context };
}

const ranks: readonly Verdict[] = ['allow', 'modify', 'respond', 'ask', 'deny', 'abort'];

function strictestOf(spoken: readonly Spoken[]): Spoken | undefined {
  const rank = ({ answer }: Spoken) => ranks.indexOf(answer.verdict);
  return spoken.reduce<Spoken | undefined>(
    (best, next) => (best === undefined || rank(next) > rank(best) ? next : best),
    undefined,
  );
}

function stops({ answer: { verdict } }: Spoken): boolean {
  return verdict !== 'allow' && verdict !== 'modify';
}

function replaceOf(answer: Answer): Json | undefined {
  return answer.verdict === 'modify' || answer.verdict === 'ask' ? answer.replace : undefined;
}

/** All replacements in one; undefined when there is none. */
function mergeReplace(replaces: readonly Json[], rules: Readonly<Record<string, Merge>>): Json | undefined {
  if (replaces.length === 0) return undefined;
  const given = new Map<string, Json[]>();
  for (const replace of replaces) {
    for (const [key, value] of Object.entries(partsOf(replace)))
      given.set(key, [...(given.get(key) ?? []), value]);
  }
  const merged = [...given].map(([key, values]) => [key, merge(values, rules[key] ?? 'last')]);
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
      return Json.from(Object.fromEntries(values.flatMap((value) => Object.entries(partsOf(value)))));
    case 'paragraphs':
      return Json.from(values.map(({ value }) => String(value)).join('\n\n'));
  }
}

function unique(list: readonly Json[]): Json[] {
  return list.filter((each, index) => list.findIndex(({ text }) => text === each.text) === index);
}

/** A value that is no list is a list of one. */
function listOf(json: Json): Json[] {
  return Array.isArray(json.value) ? elementsOf(json) : [json];
}

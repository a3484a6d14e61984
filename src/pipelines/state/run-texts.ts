import { FreshText } from '../../base/json/compose.ts';
import type { Json } from '../../base/json/json.ts';
import { fromSkeleton, LongJson, type LongText, PartedJson } from '../../base/json/parted.ts';
import { KeptText, measureText, QuotedText, type TextMeasure } from '../../store/kept-text.ts';
import type { Store } from '../../store/store.ts';

/** The long texts of one run, each of which is kept once. */
export interface RunTexts {
  /** Makes known what the store has. */
  add(outcome: Json): void;
  /** The outcome of a step, with what the run has already in place of what is the same. */
  adopt(step: string, outcome: Json): Json;
}

export function createRunTexts(store: Pick<Store, 'readText'>, runId: string): RunTexts {
  const known = new Map<string, KeptText>();
  const add = (text: KeptText): KeptText => {
    const key = keyOf(text);
    if (!known.has(key)) known.set(key, text);
    return text;
  };
  const find = (text: string): KeptText | undefined => {
    const kept = known.get(keyOf(measureText(text)));
    return kept?.read() === text ? kept : undefined;
  };
  const adoptPart = (part: LongText, step: string, number: number): LongText => {
    if (!(part instanceof FreshText)) return part;
    const { text, string } = part;
    const same = find(text) ?? (string === undefined ? undefined : find(string));
    if (same !== undefined) return same.length === text.length ? same : new QuotedText(same);
    const place = { runId, step, number };
    return add(new KeptText(place, measureText(text), () => store.readText(place), text));
  };
  return {
    add: (outcome) => {
      for (const text of keptTextsOf(outcome)) add(text);
    },
    adopt: (step, outcome) => {
      if (outcome instanceof LongJson) return new LongJson(adoptPart(outcome.long, step, 0));
      if (!(outcome instanceof PartedJson)) return outcome;
      const parts = outcome.parts.map((part, number) => adoptPart(part, step, number));
      return fromSkeleton(outcome.skeleton, parts);
    },
  };
}

function keyOf({ length, hash }: TextMeasure): string {
  return `${length}:${hash}`;
}

function keptTextsOf(outcome: Json): KeptText[] {
  return outcome instanceof PartedJson ? outcome.parts.filter((part) => part instanceof KeptText) : [];
}

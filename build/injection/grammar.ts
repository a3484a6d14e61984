import { createRandom } from './random.ts';

/**
 * A family of sentences: a pattern in which `{list}` stands for any word of a list. A family is never split between
 * training and test.
 */
export interface Family {
  readonly pattern: string;
  readonly count: number;
}

/** Returns the distinct sentences of the families, the same in every run. */
export function expand(
  families: readonly Family[],
  lists: Readonly<Record<string, readonly string[]>>,
  seed: number,
): readonly { readonly text: string; readonly family: number }[] {
  const random = createRandom(seed);
  const pick = (name: string) => {
    const list = lists[name] ?? [];
    return list[Math.floor(random() * list.length)] ?? '';
  };
  return families.flatMap(({ pattern, count }, family) => {
    const texts = Array.from({ length: count }, () => {
      let text = pattern;
      for (let depth = 0; depth < 3; depth++)
        text = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => pick(name));
      return text;
    });
    return [...new Set(texts)].map((text) => ({ text, family }));
  });
}

/** How the scores of a case's epochs become one. */
export type Reduction =
  | { readonly kind: 'mean' | 'median' | 'mode' | 'max' }
  /** The chance that of k epochs one passes. */
  | { readonly kind: 'pass_at'; readonly k: number }
  /** 1 when at least k epochs passed, else 0. */
  | { readonly kind: 'at_least'; readonly k: number };

/** `mean`, `median`, `mode`, `max`, `pass@2` or `at_least_2`; undefined for any other text. */
export function readReduction(text: string): Reduction | undefined {
  if (text === 'mean' || text === 'median' || text === 'mode' || text === 'max') return { kind: text };
  const [, name, digits] = /^(pass@|at_least_)([1-9]\d{0,3})$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { kind: name === 'pass@' ? 'pass_at' : 'at_least', k: Number(digits) };
}

export function nameReduction(reduction: Reduction): string {
  if (reduction.kind === 'pass_at') return `pass@${reduction.k}`;
  return reduction.kind === 'at_least' ? `at_least_${reduction.k}` : reduction.kind;
}

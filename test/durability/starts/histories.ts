import fc from 'fast-check';

/** Events of the two processes of a history, in order. */
export type Happening =
  | { readonly what: 'freeze'; readonly owner: number; readonly ms: number }
  | { readonly what: 'cut'; readonly owner: number }
  | { readonly what: 'resume'; readonly owner: number }
  | { readonly what: 'abort'; readonly owner: number }
  | { readonly what: 'cancel'; readonly owner: number }
  | { readonly what: 'fill' }
  | { readonly what: 'free' }
  | { readonly what: 'approve' | 'reject'; readonly owner: number }
  | { readonly what: 'expire' };

export type History = readonly { readonly afterMs: number; readonly happening: Happening }[];

const owner = fc.integer({ min: 0, max: 1 });
const one = <What extends Happening['what']>(what: What) => fc.record({ what: fc.constant(what), owner });

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('freeze' as const),
      owner,
      ms: fc.constantFrom(3, 20, 250, 250),
    }),
  },
  { weight: 3, arbitrary: one('cut') },
  { weight: 6, arbitrary: one('resume') },
  { weight: 1, arbitrary: one('abort') },
  { weight: 2, arbitrary: one('cancel') },
  { weight: 1, arbitrary: fc.constant({ what: 'fill' as const }) },
  { weight: 2, arbitrary: fc.constant({ what: 'free' as const }) },
  { weight: 3, arbitrary: one('approve') },
  { weight: 1, arbitrary: one('reject') },
  { weight: 1, arbitrary: fc.constant({ what: 'expire' as const }) },
);

const history: fc.Arbitrary<History> = fc.array(
  fc.record({ afterMs: fc.constantFrom(0, 0, 1, 2, 5, 20), happening }),
  { minLength: 1, maxLength: 14 },
);

/** The same seed gives the same histories. */
export function sampleHistories(count: number, seed: number): History[] {
  return fc.sample(history, { numRuns: count, seed });
}

import { RuntimeError } from '../base/errors.ts';
import { suggest } from '../base/text/suggest.ts';
import type { Gate, Suite, Variant } from './file/model.ts';
import { mostVariants } from './file/schema.ts';
import { nameOfPair } from './subject/read-variants.ts';

/** Cases of a matrix, over all its variants: each asks its subject anew, so that more are rather a mistake. */
export const mostMatrixCases = 1_000_000;

/** Which variant a case is of. */
export interface VariantPlace {
  readonly name: string;
  /** From 0, in the order of the suite. */
  readonly index: number;
  /** How many there are. */
  readonly of: number;
}

/** The places of the variants of a suite; undefined where it is no matrix. */
export function placesOf({ variants }: Pick<Suite, 'variants'>): readonly VariantPlace[] | undefined {
  return variants?.map(({ name }, index) => ({ name, index, of: variants.length }));
}

/** The place of the variant of that name; undefined where there is none, as in a run that is no matrix. */
export function placeOf(
  variants: readonly { readonly name: string }[] = [],
  name: string | undefined,
): VariantPlace | undefined {
  const index = variants.findIndex((variant) => variant.name === name);
  return name === undefined || index === -1 ? undefined : { name, index, of: variants.length };
}

/** The number that an item has where those of all variants stand in one row: by row, then by variant. */
export function numberAmong(row: number, place: VariantPlace | undefined): number {
  return place === undefined ? row : (row - 1) * place.of + place.index + 1;
}

/** The index of the variant that such a number is of. */
export function variantAmong(number: number, of: number): number {
  return (number - 1) % of;
}

/**
 * The suite with its chat asked of these providers, several of which are variants; undefined: as it is. Throws USAGE, also for a gate
 * that names a variant which there is not.
 */
export function withProviders(suite: Suite, providers: readonly string[] | undefined): Suite {
  if (providers === undefined) return suite;
  const named = askOf(suite, providers);
  for (const gate of suite.gates) requireVariants(gate, named);
  return named;
}

function askOf(suite: Suite, providers: readonly string[]): Suite {
  requireProviders(providers);
  const { subject, variants, ...rest } = suite;
  const [provider = ''] = providers;
  if (subject?.kind === 'chat' && providers.length === 1)
    return { ...rest, subject: { ...subject, chat: { ...subject.chat, provider } } };
  const prompts = promptsOf(suite);
  const named = providers.flatMap((each) => prompts.map((prompt) => askedOf(prompt, each, providers.length)));
  if (named.length <= mostVariants) return { ...rest, variants: named };
  throw new RuntimeError(
    'USAGE',
    `--provider makes ${named.length} variants, and there may be ${mostVariants}`,
  );
}

function requireProviders(providers: readonly string[]): void {
  const twice = providers.find((each, index) => providers.indexOf(each) < index);
  if (twice !== undefined) throw new RuntimeError('USAGE', `--provider names ${twice} twice`);
  if (providers.length > 0 && !providers.includes('')) return;
  throw new RuntimeError('USAGE', '--provider names no provider', { hint: 'Write it like --provider a,b.' });
}

/** A variant for each prompt of the suite. Throws USAGE where a subject is no chat of the suite’s own. */
function promptsOf({ file, subject, variants = [] }: Suite): readonly Pick<Variant, 'prompt' | 'subject'>[] {
  if (subject?.kind === 'chat') return [{ subject }];
  const [first] = variants;
  if (first?.provider !== undefined) return variants.filter(({ provider }) => provider === first.provider);
  throw new RuntimeError(
    'USAGE',
    `--provider needs a suite whose subject is a chat, and that of ${file} is none`,
    {
      hint: 'Several subjects of other kinds are `subject.variants` of the suite.',
    },
  );
}

function askedOf(
  { prompt, subject }: Pick<Variant, 'prompt' | 'subject'>,
  provider: string,
  providers: number,
): Variant {
  return {
    name: nameOfPair({ provider, prompt }, providers),
    provider,
    ...(prompt === undefined ? {} : { prompt }),
    subject: subject.kind === 'chat' ? { ...subject, chat: { ...subject.chat, provider } } : subject,
  };
}

function requireVariants({ variants = [], betterThan }: Gate, suite: Suite): void {
  const known = (suite.variants ?? []).map(({ name }) => name);
  const named = [...variants, ...(betterThan === undefined ? [] : [betterThan])];
  const missing = named.find((name) => !known.includes(name));
  if (missing === undefined) return;
  const { hint } = suggest(missing, known, 'variants');
  throw new RuntimeError(
    'USAGE',
    `a gate of the suite names the variant ${missing}, which this run does not have`,
    {
      hint: hint ?? 'Give --provider all that its gates name.',
    },
  );
}

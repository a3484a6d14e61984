import { RuntimeError } from '../base/errors.ts';
import { suggest } from '../base/text/suggest.ts';
import type { Gate, Suite, Variant } from './file/model.ts';
import { mostVariants } from './file/schema.ts';
import { nameOfPair } from './subject/read-variants.ts';

/** The maximum over all variants. More is probably a mistake, because each case calls its subject. */
export const mostMatrixCases = 1_000_000;

export interface VariantPlace {
  readonly name: string;
  readonly index: number;
  readonly of: number;
}

export function placesOf({ variants }: Pick<Suite, 'variants'>): readonly VariantPlace[] | undefined {
  return variants?.map(({ name }, index) => ({ name, index, of: variants.length }));
}

export function placeOf(
  variants: readonly { readonly name: string }[] = [],
  name: string | undefined,
): VariantPlace | undefined {
  const index = variants.findIndex((variant) => variant.name === name);
  return name === undefined || index === -1 ? undefined : { name, index, of: variants.length };
}

/** Numbers items by row, then by variant. */
export function numberAmong(row: number, place: VariantPlace | undefined): number {
  return place === undefined ? row : (row - 1) * place.of + place.index + 1;
}

export function variantAmong(number: number, of: number): number {
  return (number - 1) % of;
}

/**
 * Replaces the providers of the suite's chat; several become variants. Undefined `providers` returns the suite
 * unchanged. Throws USAGE, also for a gate with an unknown variant.
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
  throw new RuntimeError('USAGE', `--provider makes ${named.length} variants; the limit is ${mostVariants}`);
}

function requireProviders(providers: readonly string[]): void {
  const twice = providers.find((each, index) => providers.indexOf(each) < index);
  if (twice !== undefined) throw new RuntimeError('USAGE', `duplicate provider ${twice} in --provider`);
  if (providers.length > 0 && !providers.includes('')) return;
  throw new RuntimeError('USAGE', '--provider has no provider', { hint: 'Write it like --provider a,b.' });
}

/** Throws USAGE unless each subject is a chat defined in the suite. */
function promptsOf({ file, subject, variants = [] }: Suite): readonly Pick<Variant, 'prompt' | 'subject'>[] {
  if (subject?.kind === 'chat') return [{ subject }];
  const [first] = variants;
  if (first?.provider !== undefined) return variants.filter(({ provider }) => provider === first.provider);
  throw new RuntimeError(
    'USAGE',
    `--provider needs a suite whose subject is a chat, but that of ${file} is not`,
    {
      hint: 'Use `subject.variants` of the suite for several subjects of other kinds.',
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
      hint: hint ?? 'Pass --provider every provider that the gates name.',
    },
  );
}

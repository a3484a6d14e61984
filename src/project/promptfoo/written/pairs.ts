import { nameOfPair } from '../../../suite/subject/read-variants.ts';
import type { AskedOf } from '../cases/cases.ts';
import { isNamed } from '../names.ts';
import { type ImportedPrompt, promptName } from '../prompts/prompt-model.ts';
import type { ImportedProvider } from '../providers/providers.ts';
import type { ImportedConfig } from './imported-config.ts';

/** A provider with a prompt that it is asked. */
export interface Pair {
  /** Of the variant, as the results of promptfoo’s have it when they are imported. */
  readonly name: string;
  readonly provider: ImportedProvider;
  readonly prompt: ImportedPrompt;
}

/** The pairs that the tests of a group ask, by provider. */
export function pairsOf(
  config: ImportedConfig,
  { provider: own, providers, prompts }: AskedOf,
): readonly Pair[] {
  const asked = own === undefined ? config.providers : [own];
  return asked
    .filter(
      (provider) => own !== undefined || isNamed(providers, [provider.name, provider.label, provider.id]),
    )
    .flatMap((provider) =>
      config.prompts
        .filter((prompt) => isAsked(prompt, provider) && isNamed(prompts, [prompt.label, prompt.source]))
        .map((prompt) => ({ name: pairName(provider.name, prompt, config.counts), provider, prompt })),
    );
}

/** `openai`, `prompt-1`, or `openai/prompt-1`, by what there are several of. */
export function pairName(
  provider: string,
  prompt: Pick<ImportedPrompt, 'number'>,
  counts: ImportedConfig['counts'],
): string {
  return nameOfPair(
    { provider, prompt: counts.prompts > 1 ? promptName(prompt) : undefined },
    counts.providers,
  );
}

/** Whether a provider is asked that prompt: all of them, unless it names some. */
function isAsked({ label, source }: ImportedPrompt, { prompts }: ImportedProvider): boolean {
  return prompts === undefined || isNamed(prompts, [label, source]);
}

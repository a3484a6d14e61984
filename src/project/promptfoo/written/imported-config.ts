import type { SourceFiles } from '../../suite-import/source-files.ts';
import type { ImportedCase } from '../cases/cases.ts';
import type { ImportedPrompt } from '../prompts/prompt-model.ts';
import type { ImportedProvider } from '../providers/providers.ts';

/** What is left of a config once everything in it is known. */
export interface ImportedConfig {
  readonly name: string;
  readonly prompts: readonly ImportedPrompt[];
  readonly providers: readonly ImportedProvider[];
  /** How many of both the config has, with those that are left out: names of variants go by it. */
  readonly counts: { readonly prompts: number; readonly providers: number };
  readonly cases: readonly ImportedCase[];
  /** What prompts make of each case, by their names; of a prompt that is no plain template. */
  readonly made: readonly Readonly<Record<string, unknown>>[];
  /** The entries of the models that grade, and of those that embed. */
  readonly graders: readonly Readonly<Record<string, unknown>>[];
  readonly repeat: number | undefined;
  readonly files: SourceFiles;
}

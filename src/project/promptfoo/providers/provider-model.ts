import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';

/** One provider as the config has it. */
export interface GivenProvider {
  readonly id: string;
  readonly label: string;
  readonly config: Source;
  /** What it makes of its answers. */
  readonly transform: Source;
  readonly at: Source;
}

/** Where files are, and where to say what is left out. */
export interface ProviderContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

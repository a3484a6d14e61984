import type { Path } from '../../../yaml/document.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';

/** One provider as the config has it, and where. */
export interface GivenProvider {
  readonly id: string;
  readonly label: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** What it makes of its answers. */
  readonly transform: unknown;
  readonly at: Path;
}

/** Where files are, and where to say what is left out. */
export interface ProviderContext {
  readonly files: SourceFiles;
  readonly notes: Notes;
}

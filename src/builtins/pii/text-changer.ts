import type { Edit } from './edit.ts';

/**
 * `original`: real values, sent to a model. `echo`: a model's text with pseudonyms. `restored`: a model's text for
 * people or tools, with pseudonyms restored.
 */
export type TextSource = 'original' | 'echo' | 'restored';

export interface TextChanger {
  /** Returns the changes in order. `prefix` is the text before, which does not change. */
  edit(text: string, source: TextSource, prefix?: string): Edit[];
  /** Blocks every finding in a text that cannot be changed; returns whether there was any. */
  blockAll(text: string, source: TextSource, prefix: string): boolean;
}

import type { Edit } from './edit.ts';

/**
 * Where a text comes from and goes. `original`: real values, on the way to a model. `echo`: a model's text,
 * which has pseudonyms. `restored`: a model's text on the way to people or tools, where pseudonyms become
 * values again.
 */
export type TextSource = 'original' | 'echo' | 'restored';

/** What changes the texts of a payload, and keeps count of it. */
export interface TextChanger {
  /** The changes that a text needs, in order. The prefix is what stands before it and is not changed. */
  edit(text: string, source: TextSource, prefix?: string): Edit[];
  /** Blocks every finding in a text that cannot be changed; returns whether there was any. */
  blockAll(text: string, source: TextSource, prefix: string): boolean;
}

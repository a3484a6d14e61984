import type { Source } from '../../../yaml/source.ts';
import type { Notes } from '../../suite-import/notes.ts';
import type { SourceFiles } from '../../suite-import/source-files.ts';
import type { Code } from '../code.ts';

/** A message whose text is a template. */
export interface TemplateMessage {
  readonly role: string;
  readonly content: string;
}

/** What is asked, before anything is filled in. */
export type PromptBody =
  /** One message of the user, for a prompt that is a plain text. */
  | { readonly kind: 'messages'; readonly messages: readonly TemplateMessage[]; readonly isText: boolean }
  /** A template that may make a conversation of its variables; one that is JSON is filled in text by text. */
  | { readonly kind: 'whole'; readonly template: string; readonly isJson: boolean }
  /** A program that makes it while the suite runs. */
  | { readonly kind: 'program'; readonly language: 'javascript' | 'python'; readonly code: Code };

/** A prompt of the config. */
export interface ImportedPrompt {
  readonly label: string;
  /** What the config has in its place. */
  readonly source: string;
  /** Its place among all prompts of the config, from 1; also of those that are left out. */
  readonly number: number;
  readonly body: PromptBody;
  /** Options of its chats, beside those of the model. */
  readonly chat?: Readonly<Record<string, unknown>>;
  readonly at: Source;
}

/** A prompt that has no number yet. */
export type UnnumberedPrompt = Omit<ImportedPrompt, 'number'>;

/** Where a prompt stands, and where to say what is left out. */
export interface PromptPlace {
  readonly at: Source;
  readonly files: SourceFiles;
  readonly notes: Notes;
}

/** What a prompt is called in rows and as a variant. */
export function promptName({ number }: Pick<ImportedPrompt, 'number'>): string {
  return `prompt-${number}`;
}

/** Says why a prompt is left out. */
export function leaveOut({ at }: PromptPlace, message: string, hint?: string): readonly [] {
  at.leave(message, hint);
  return [];
}

/** The label of a prompt, by which providers and tests name it. */
export function noteLabel(given: Source): string | undefined {
  const label = given.text();
  if (label !== undefined && label.trim() !== '')
    given.note(
      'note',
      `the label ${JSON.stringify(label)} is not carried: a variant is called by the number of its prompt`,
    );
  return label;
}

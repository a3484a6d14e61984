import type { WireRules } from './codec.ts';

/**
 * Declares what a value of a body may be. Bodies are closed: a value without its shape is shown to hooks whole, in
 * `other`, or the body is refused. Null fits every shape; unknown keys fit none.
 *
 * A value passes only if hooks see it (`Show`, `'other'`, or not of its shape) or if it is a leaf without text:
 *
 * - `id`: a string of at most 256 letters, digits and `_ . : | / + = -` (`isPlainId`).
 * - `number`: a number, `true` or `false`.
 * - `date`: an ISO 8601 time with its zone.
 * - `sealed`: empty, or Base64 of at least 22 characters whose bytes are not UTF-8 text.
 * - `padding`: at most 64 meaningless letters and digits.
 * - `model`: a string that the reader looks up in a table of known names and never forwards otherwise.
 * - `vector`: a list of numbers, or Base64 of four-byte numbers that are not UTF-8 text.
 * - `none`: null only.
 * - `{ words }`: one of these strings.
 * - `other`: any value; hooks always see it in `other`.
 */
export type Shape =
  | Leaf
  | Words
  | Bytes
  | Copy
  | SealedCopy
  | Reference
  | Link
  | Items
  | Each
  | ObjectShape
  | Kinds
  | ByType
  | Show;

export type Leaf = 'id' | 'number' | 'date' | 'sealed' | 'padding' | 'model' | 'vector' | 'none' | 'other';

/** Base64 of a file. It passes if `opaque` lists its kind or the `type` of its object. */
export interface Bytes {
  readonly bytes: 'image' | 'audio';
}

export type Members = Readonly<Record<string, Shape>>;

export interface Words {
  readonly words: ReadonlySet<string>;
}

/**
 * A copy of a text in another form, such as log probabilities. Hooks see it in `other` unless it is null or `emptied`.
 * If a hook changes the message, the copy becomes `emptied` or is removed, even if the hook repeats it.
 */
interface Copy {
  readonly emptied: 'null' | '[]' | 'absent';
}

/** An encrypted copy of a text, removed if a hook changes the text. */
export interface SealedCopy {
  /** The sibling member with the text, shown in `other`; its copy is removed. A copy of the reasoning becomes null. */
  readonly sealedCopyOf: { readonly member: string } | 'reasoning';
}

/** Content stored upstream. Refused unless `references` lists its name; otherwise shown in `other`. */
interface Reference {
  readonly reference: string;
}

/** A string that says which call a message answers. Hooks see it in `tool_result`. Other values are refused. */
interface Link {
  readonly link: string;
}

export interface Items {
  readonly items: Shape;
  /** The members, besides `text`, of an element that holds only a text. Hooks may add such elements. */
  readonly newText?: Readonly<Record<string, unknown>>;
  /** Whether a string may replace the list. */
  readonly orString?: true;
  /** Whether an element is the unit that `goesWith: 'item'` removes. */
  readonly areItems?: true;
  /** Elements of this `type`, and the runs of elements between them, are separate messages in `Seen.messages`. */
  readonly apart?: string;
}

/** A list whose elements are separate messages in `Seen.messages`. */
export interface Each {
  readonly each: Shape;
  /** The prefix of the elements' paths in `other`; empty by default. */
  readonly as?: string;
}

export interface ObjectShape {
  readonly members: Members;
  /** The prefix of paths in `other`; the object's own path by default. */
  readonly as?: string;
}

/** An object that names its kind. Unknown kinds are refused unless `opaque` lists them. */
export interface Kinds {
  readonly kinds: Readonly<Record<string, Shape>>;
  /** The member that names the kind; `type` by default. Kinds need not declare it. */
  readonly by?: string;
  /** The member that contains `by`; the object itself by default. Kinds describe the whole object. */
  readonly in?: string;
  /** The kind of an unnamed object that has this member; '' matches any object. */
  readonly implied?: readonly (readonly [member: string, kind: string])[];
  /** What happens to unknown kinds; `refused` by default. */
  readonly unknown?: 'refused' | 'other';
}

/** A value of several JSON types. Other types are refused unless `rest` is declared. */
export interface ByType {
  readonly rest?: Shape;
  readonly string?: Shape;
  readonly array?: Shape;
  readonly object?: Shape;
}

export type Show = ShowText | ShowSealed | ShowCall | ShowResult | ShowCitation | ShowMedia | ShowFinish;

export interface ShowText {
  readonly show: 'text' | 'reasoning' | 'refusal';
  /** The member with the text, which is required. Absent: the value itself is the string. */
  readonly text?: string;
  /** The member that contains `text`; the object itself by default. */
  readonly in?: string;
  readonly of?: Members;
  readonly held?: Members;
  /** The `type` in `parts`; `text` by default. */
  readonly as?: string;
  /** If a hook changes a signed text, its whole entry is removed. */
  readonly isSigned?: true;
  /**
   * The text may repeat an earlier one under another name, and then changes with it. Different text is shown in
   * `other`.
   */
  readonly isTwin?: true;
  /** What is removed with the text: its entry by default, or the surrounding item. */
  readonly goesWith?: 'item';
}

export interface ShowCall {
  readonly show: 'call';
  /** The member with the ID; of several, the first string counts. */
  readonly id: string | readonly string[];
  /** The member that contains name and arguments; the call itself by default. */
  readonly in?: string;
  readonly name: string | { readonly is: string };
  /** The member with the arguments as text or JSON, or the members that form the arguments. */
  readonly args: string | readonly string[];
  /** The upstream runs the call, never the client. */
  readonly isServed?: true;
  readonly result?: ResultContent;
  readonly of?: Members;
  readonly held?: Members;
}

interface ResultContent {
  readonly content: string;
  /** The content is the text that this shape shows. Absent: hooks see the whole JSON without escapes. */
  readonly shape?: Shape;
  /** Objects with file bytes in the result. Refused unless `opaque` lists `image` or `file`. */
  readonly bytes?: BytesForm;
}

/** An object of this `type` with bytes and a media type. */
export interface BytesForm {
  readonly type: string;
  readonly data: string;
  readonly mediaType: string;
}

export interface ShowResult extends ResultContent {
  readonly show: 'result';
  readonly id: string;
  readonly isError?: string;
  readonly of?: Members;
}

interface ShowSealed {
  readonly show: 'sealed';
  readonly data: string;
  readonly of?: Members;
}

export interface ShowCitation {
  readonly show: 'citation';
  readonly in?: string;
  readonly type?: string;
  /** The string members for hooks; the whole value as JSON by default. */
  readonly tell?: readonly string[];
  /** JSON that replaces a list without remaining citations; an empty list by default. */
  readonly emptied?: 'null';
  readonly of?: Members;
  readonly held?: Members;
}

/**
 * Passes if `opaque` lists its `media` or `type`. Hooks see its type, name, size, digest and URL, and the text of text
 * files.
 */
export interface ShowMedia {
  readonly show: 'media';
  readonly media: 'image' | 'audio' | 'video' | 'file';
  /** The member that holds the file: an object or a URL string. */
  readonly in?: string;
  readonly url?: readonly string[];
  readonly bytes?: readonly string[];
  /** The member with the ID of a stored file. Refused unless `references` lists `file_id`. */
  readonly reference?: string;
  readonly mediaType?: string;
  /** The member with the second half of the media type. */
  readonly format?: string;
  readonly filename?: string;
  /** The member with an audio file's transcript, which hooks cannot change. */
  readonly transcript?: string;
  readonly isOf: string;
  /** Text files pass without being listed, because hooks read them. */
  readonly passesText?: true;
  readonly of?: Members;
  readonly held?: Members;
}

/**
 * The API's words for the finish reason and their native ones. Hooks see unknown words as they are. Such a word is
 * removed if a hook changes the message without repeating it.
 */
export interface ShowFinish {
  readonly show: 'finish';
  readonly words: Readonly<Record<string, string>>;
  /** The API's words for further native reasons. If present, hooks may use only known reasons. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
}

export interface WalkContext {
  readonly rules: WireRules;
  readonly isAnswer: boolean;
  /** The prefix of paths in errors, such as `messages[3]`; '' for a whole body. */
  readonly at: string;
}

export function words(...list: readonly string[]): Words {
  return { words: new Set(list) };
}

export function all(shape: Shape, ...keys: readonly string[]): Members {
  return Object.fromEntries(keys.map((key) => [key, shape]));
}

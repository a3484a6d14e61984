import type { WireRules } from './codec.ts';

/**
 * What a value of a body may be, declared as data. A body has a closed shape: whatever is not of its shape is shown to hooks
 * whole, as a member of `other`, or the body is refused. Null is of every shape; a member with an unknown key is of none.
 *
 * There are only two ways for a value to pass: hooks see it (`Show`, `'other'`, and what has not its shape), or it is a leaf
 * that holds no text:
 *
 * - `id`: a string of at most 256 letters, digits and `_ . : | / + = -` (`isPlainId`).
 * - `number`: a number, `true` or `false`.
 * - `date`: an ISO 8601 time with its zone.
 * - `sealed`: empty, or base64 of at least 22 characters whose bytes are no UTF-8 text.
 * - `padding`: at most 64 letters and digits that mean nothing.
 * - `model`: a string that the reader looks up itself among names that it knows, and never passes on otherwise.
 * - `vector`: a list of numbers, or base64 of numbers of four bytes that are no UTF-8 text.
 * - `none`: null alone.
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

/** Base64 of a file, which passes if `opaque` lists its kind, or the `type` of the object that has it. */
export interface Bytes {
  readonly bytes: 'image' | 'audio';
}

export type Members = Readonly<Record<string, Shape>>;

export interface Words {
  readonly words: ReadonlySet<string>;
}

/**
 * A copy of a text in another form, such as log probabilities. Hooks see it in `other`, unless it is null or `emptied` already.
 * When a hook changes the message, this JSON takes its place, or it is taken out, even if the hook repeats it.
 */
interface Copy {
  readonly emptied: 'null' | '[]' | 'absent';
}

/** An encrypted copy of a text, which goes when a hook changes that. */
export interface SealedCopy {
  /** The member beside it that has the text, and that hooks see in `other`: the copy is taken out. Or the reasoning: null takes its place. */
  readonly sealedCopyOf: { readonly member: string } | 'reasoning';
}

/** Content that the upstream keeps: refused unless `references` of the config lists this name, else shown in `other`. */
interface Reference {
  readonly reference: string;
}

/** A string that says which call a message answers: hooks see it as this member of `tool_result`. Another value is refused. */
interface Link {
  readonly link: string;
}

export interface Items {
  readonly items: Shape;
  /** The members of an element that holds a text alone, but for `text`: hooks may then add one. */
  readonly newText?: Readonly<Record<string, unknown>>;
  /** Whether a string may stand in the place of the list. */
  readonly orString?: true;
  /** Whether an element is what a text with `goesWith: 'item'` goes with. */
  readonly areItems?: true;
  /** Elements of this `type` are messages of their own, as is what stands between two of them: `Seen.messages`. */
  readonly apart?: string;
}

/** A list each of whose elements is a message of its own: `Seen.messages`. */
export interface Each {
  readonly each: Shape;
  /** How paths in `other` begin there; empty by default. */
  readonly as?: string;
}

export interface ObjectShape {
  readonly members: Members;
  /** How paths in `other` begin there, in place of the object's own path. */
  readonly as?: string;
}

/** An object that names its kind. An unknown kind is refused unless `opaque` of the config lists it. */
export interface Kinds {
  readonly kinds: Readonly<Record<string, Shape>>;
  /** The member that names the kind; `type` by default. It needs no mention in the shapes of the kinds. */
  readonly by?: string;
  /** The member that is the object with `by`; absent: the object itself. The shapes of the kinds are of the whole object. */
  readonly in?: string;
  /** The kind of an object that has this member and does not name its kind: `[member, kind]`. An empty member: of any object. */
  readonly implied?: readonly (readonly [member: string, kind: string])[];
  /** What becomes of a kind that is not known; `refused` by default. */
  readonly unknown?: 'refused' | 'other';
}

/** A value of several JSON types. One of another type is refused, unless `rest` is its shape. */
export interface ByType {
  readonly rest?: Shape;
  readonly string?: Shape;
  readonly array?: Shape;
  readonly object?: Shape;
}

/** What hooks see as more than a member of `other`. */
export type Show = ShowText | ShowSealed | ShowCall | ShowResult | ShowCitation | ShowMedia | ShowFinish;

/** A text. The value is a string, or an object whose member `text` is one. */
export interface ShowText {
  readonly show: 'text' | 'reasoning' | 'refusal';
  /** The member that has the text; an object without such a string is refused. Absent: the value is the string itself. */
  readonly text?: string;
  /** The member whose member is `text`; absent: the object itself. */
  readonly in?: string;
  readonly of?: Members;
  readonly held?: Members;
  /** How `parts` calls a `text`; `text` by default. */
  readonly as?: string;
  /** The text is signed: a hook that changes it takes its whole entry out. */
  readonly isSigned?: true;
  /** The same text may have been shown before, under another name: it changes with that one. A different one is in `other`. */
  readonly isTwin?: true;
  /** What is taken out where the text goes: the entry itself by default, or the one around it, such as the item of a summary. */
  readonly goesWith?: 'item';
}

/** A call of a tool. */
export interface ShowCall {
  readonly show: 'call';
  /** The member that identifies it; of several the first that is a string. */
  readonly id: string | readonly string[];
  /** The member that holds the name and the arguments; absent: the call itself does. */
  readonly in?: string;
  /** The member with the name; or the name of a tool that has none there. */
  readonly name: string | { readonly is: string };
  /** The member with the arguments, as a text or as JSON; or the members that together are the arguments. */
  readonly args: string | readonly string[];
  /** Whether the upstream runs it, so that the client never does. */
  readonly isServed?: true;
  /** The result that the call itself has. */
  readonly result?: ResultContent;
  readonly of?: Members;
  /** The members of `in`. */
  readonly held?: Members;
}

interface ResultContent {
  /** The member with the result. */
  readonly content: string;
  /** Its content is what this shape shows as `text`. Absent: hooks see any JSON whole, as its text without escapes. */
  readonly shape?: Shape;
  /** What holds the bytes of a file in any JSON: refused unless `opaque` lists `image` or `file`. */
  readonly bytes?: BytesForm;
}

/** An object of this `type` with bytes in a member, and their media type in another. */
export interface BytesForm {
  readonly type: string;
  readonly data: string;
  readonly mediaType: string;
}

/** A result of a tool that the upstream ran. */
export interface ShowResult extends ResultContent {
  readonly show: 'result';
  /** The member with the id of the call. */
  readonly id: string;
  /** The member that says whether the tool failed. */
  readonly isError?: string;
  readonly of?: Members;
}

interface ShowSealed {
  readonly show: 'sealed';
  readonly data: string;
  readonly of?: Members;
}

/** Something that a text cites. */
export interface ShowCitation {
  readonly show: 'citation';
  /** The member that holds what is told. */
  readonly in?: string;
  /** Its `type` for hooks. */
  readonly type?: string;
  /** The strings that hooks are told; absent: the whole value as JSON. */
  readonly tell?: readonly string[];
  /** The JSON that takes the place of a list whose citations all go; absent: the list becomes empty. */
  readonly emptied?: 'null';
  readonly of?: Members;
  readonly held?: Members;
}

/**
 * A file. It passes if `opaque` lists its `media` or its own `type`. Hooks see its type, name, size, digest and address, and its
 * text where its bytes are text.
 */
export interface ShowMedia {
  readonly show: 'media';
  readonly media: 'image' | 'audio' | 'video' | 'file';
  /** The member that holds the file: an object, or a string that is its address. */
  readonly in?: string;
  /** Members with an address. */
  readonly url?: readonly string[];
  /** Members with base64, or with a `data:` address. */
  readonly bytes?: readonly string[];
  /** The member with the id of a file that the upstream keeps: refused unless `references` lists `file_id`. */
  readonly reference?: string;
  readonly mediaType?: string;
  /** The member with the second half of the media type. */
  readonly format?: string;
  readonly filename?: string;
  /** The member with what an audio says, which cannot be changed. */
  readonly transcript?: string;
  /** The media type where nothing tells it. */
  readonly isOf: string;
  /** Whether text files pass unlisted, as hooks read them. */
  readonly passesText?: true;
  readonly of?: Members;
  readonly held?: Members;
}

/** Why a model stopped: the API's words and the native ones. Another string is told as it is, and goes when a hook changes the message without repeating it. */
export interface ShowFinish {
  readonly show: 'finish';
  readonly words: Readonly<Record<string, string>>;
  /** The API's words for further native ones, if hooks may give no others. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
}

export interface WalkContext {
  readonly rules: WireRules;
  readonly isAnswer: boolean;
  /** How paths in errors begin, such as `messages[3]`; empty for a whole body. */
  readonly at: string;
}

export function words(...list: readonly string[]): Words {
  return { words: new Set(list) };
}

/** Shapes of one kind for several members: `all('number', 'a', 'b')` is `{ a: 'number', b: 'number' }`. */
export function all(shape: Shape, ...keys: readonly string[]): Members {
  return Object.fromEntries(keys.map((key) => [key, shape]));
}

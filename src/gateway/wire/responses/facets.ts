import type { Json } from '../../../json/json.ts';
import type { MediaPart } from '../../../provider/messages/media.ts';
import type { Edits } from '../edits.ts';
import { Leftovers } from '../leftovers.ts';
import type { WireFile } from '../media.ts';
import type { Place } from '../place.ts';

/** What items of the API tell, each with the place where it stands. */
export class Facets {
  /** Texts and files of messages and of results, in order. */
  readonly body: BodyFacet[] = [];
  readonly refusals: TextFacet[] = [];
  readonly reasoning: TextFacet[] = [];
  readonly calls: CallFacet[] = [];
  readonly results: ResultFacet[] = [];
  readonly citations: CitationFacet[] = [];
  readonly leftovers = new Leftovers();
}

/** An entry of a list or object, which can be taken out. */
export interface Entry {
  readonly owner: Place;
  readonly entry: string | number;
}

export interface TextFacet extends Entry {
  readonly kind: 'text';
  /** The string; `entry` is the part that has it. */
  readonly place: Place;
  /** Members of the part that tell the text again, or point into it: emptied where it changes. */
  readonly copies: readonly Place[];
}

export interface MediaFacet extends Entry {
  readonly kind: 'media';
  readonly description: MediaPart;
  /** The file and the address that has its bytes, where they are text. */
  readonly inline: { readonly file: WireFile; readonly place: Place } | undefined;
}

export type BodyFacet = TextFacet | MediaFacet;

export interface CallFacet extends Entry {
  readonly id: string;
  readonly name: string;
  readonly namePlace: Place | undefined;
  /** One JSON object, else the text as a JSON string. */
  readonly args: Json;
  /** Whether the client is to run it, not the API. */
  readonly isOfClient: boolean;
  /** Throws REPLY_MALFORMED. */
  writeArgs(args: unknown, edits: Edits): void;
}

/** The result of a tool that the API ran, as its call or an item of its own has it. */
interface ResultFacet extends Entry {
  readonly id: string;
  readonly name: string;
  readonly texts: readonly TextFacet[];
}

export interface CitationFacet extends Entry {
  readonly place: Place;
  readonly description: Readonly<Record<string, unknown>>;
}

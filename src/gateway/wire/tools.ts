import { isSameToTheDigit } from '../../base/json/equal.ts';
import type { ToolListing } from '../../contract/provider.ts';
import type { Edits } from './edits.ts';
import { unwritable } from './faults.ts';
import type { Place } from './place.ts';

/** The tools that a request offers, as foreign hooks see them; all definitions are in `other` as well. */
export interface RequestedTools {
  readonly listings: readonly ToolListing[];
  /** Writes what hooks left of them. Throws REPLY_MALFORMED for tools that were not there. */
  write(changed: readonly ToolListing[], edits: Edits): void;
}

/** Where tools stand in a body. */
interface ToolForm {
  /** The members with lists of tools. */
  readonly lists: readonly string[];
  /** The object that has the name of a tool; undefined for one that is not listed. */
  readonly hold: (tool: Place) => Place | undefined;
  readonly schema: 'parameters' | 'input_schema';
}

interface SentTool {
  readonly listing: ToolListing;
  readonly held: Place;
  readonly list: string;
  readonly index: number;
}

export function readTools(body: Place, form: ToolForm): RequestedTools {
  const sent = form.lists.flatMap((list) => readList(list, body, form));
  const listings = sent.map(({ listing }) => listing);
  return {
    listings,
    write: (changed, edits) => {
      if (changed !== listings && !isSameToTheDigit(changed, listings))
        writeTools(changed, { sent, body, form }, edits);
    },
  };
}

function readList(list: string, body: Place, { hold, schema }: ToolForm): SentTool[] {
  return (body.at(list)?.items ?? []).flatMap((place, index) => {
    const held = hold(place);
    const name = held?.at('name')?.text;
    if (held === undefined || name === undefined) return [];
    const description = held.at('description')?.text ?? '';
    const listing = { name, description, input_schema: held.at(schema)?.value ?? {} };
    return [{ listing, held, list, index }];
  });
}

interface SentTools {
  readonly sent: readonly SentTool[];
  readonly body: Place;
  readonly form: ToolForm;
}

function writeTools(changed: readonly ToolListing[], { sent, body, form }: SentTools, edits: Edits): void {
  const wanted = new Map(changed.map((listing) => [listing.name, listing]));
  if (changed.some(({ name }) => !sent.some(({ listing }) => listing.name === name)))
    throw unwritable('a hook offers the model a tool that the request has not');
  const gone = sent.filter(({ listing }) => !wanted.has(listing.name));
  for (const list of form.lists) {
    const place = body.at(list);
    const indexes = gone.filter((tool) => tool.list === list).map(({ index }) => index);
    if (place === undefined || indexes.length === 0) continue;
    if (indexes.length === place.items.length) edits.remove(body, list);
    else for (const index of indexes) edits.remove(place, index);
  }
  for (const { listing, held } of sent) {
    const now = wanted.get(listing.name);
    if (now === undefined) continue;
    if (now.description !== listing.description) put(held, 'description', now.description, edits);
    if (!isSameToTheDigit(now.input_schema, listing.input_schema))
      put(held, form.schema, now.input_schema, edits);
  }
}

function put(held: Place, key: string, value: unknown, edits: Edits): void {
  const place = held.at(key);
  const json = JSON.stringify(value);
  if (place === undefined) edits.addMember(held, key, json);
  else edits.replace(place, json);
}

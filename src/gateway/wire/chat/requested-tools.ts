import type { ToolListing } from '../../../contract/provider.ts';
import { isSameToTheDigit } from '../../../json/equal.ts';
import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Place } from '../place.ts';

/** The tools that a request offers, as foreign hooks see them. */
export interface RequestedTools {
  readonly listings: readonly ToolListing[];
  /** Writes what hooks left of them. Throws REPLY_MALFORMED for tools that were not there. */
  write(changed: readonly ToolListing[], edits: Edits): void;
}

interface SentTool {
  readonly listing: ToolListing;
  readonly held: Place;
  readonly owner: Place;
  readonly index: number;
}

/** Reads `tools` and the older `functions`; of other kinds than functions and custom tools hooks see the JSON in `other`. */
export function readTools(body: Place): RequestedTools {
  const sent = [
    ...readList(body.at('tools'), (place) => place.at('function') ?? place.at('custom')),
    ...readList(body.at('functions'), (place) => place),
  ];
  const listings = sent.map(({ listing }) => listing);
  return {
    listings,
    write: (changed, edits) => {
      if (changed !== listings) writeTools(changed, { sent, body }, edits);
    },
  };
}

function readList(owner: Place | undefined, hold: (place: Place) => Place | undefined): SentTool[] {
  return (owner?.items ?? []).flatMap((place, index) => {
    const held = hold(place);
    const name = held?.at('name')?.text;
    if (owner === undefined || held === undefined || name === undefined) return [];
    const listing = {
      name,
      description: held.at('description')?.text ?? '',
      input_schema: held.at('parameters')?.value ?? {},
    };
    return [{ listing, held, owner, index }];
  });
}

interface SentTools {
  readonly sent: readonly SentTool[];
  readonly body: Place;
}

function writeTools(changed: readonly ToolListing[], { sent, body }: SentTools, edits: Edits): void {
  const wanted = new Map(changed.map((listing) => [listing.name, listing]));
  if (changed.some(({ name }) => !sent.some(({ listing }) => listing.name === name))) {
    throw unwritable('a hook offers the model a tool that the request has not');
  }
  for (const { listing, held, owner, index } of sent) {
    const now = wanted.get(listing.name);
    if (now === undefined) edits.remove(owner, index);
    else changeListing({ now, before: listing, held }, edits);
  }
  for (const key of ['tools', 'functions']) {
    const owner = body.at(key);
    const isEmpty = owner?.items.every((_, index) =>
      sent.some((tool) => tool.owner === owner && tool.index === index && !wanted.has(tool.listing.name)),
    );
    if (owner !== undefined && owner.items.length > 0 && isEmpty === true) edits.remove(body, key);
  }
}

interface ListingChange {
  readonly now: ToolListing;
  readonly before: ToolListing;
  readonly held: Place;
}

function changeListing({ now, before, held }: ListingChange, edits: Edits): void {
  if (now.description !== before.description)
    put(held, 'description', JSON.stringify(now.description), edits);
  if (!isSameToTheDigit(now.input_schema, before.input_schema)) {
    put(held, 'parameters', JSON.stringify(now.input_schema), edits);
  }
}

function put(held: Place, key: string, json: string, edits: Edits): void {
  const place = held.at(key);
  if (place === undefined) edits.addMember(held, key, json);
  else edits.replace(place, json);
}

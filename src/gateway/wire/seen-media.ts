import { RuntimeError } from '../../base/errors.ts';
import { refusals } from './faults.ts';
import { describeWireFile, isSoundFile, mediaTypeOfUrl, type WireFile } from './media.ts';
import { memberSpot, type Place, type Spot } from './place.ts';
import { isPlainId } from './plain-id.ts';
import type { MediaFacet, Seen } from './seen.ts';
import type { Members, ShowMedia, WalkContext } from './shape.ts';

/** Reads the members that a file does not tell itself. */
type WalkRest = (spot: Spot, members: Members, told: readonly string[]) => void;

/** Shows hooks a file without its bytes, and its text where they are text. Throws RefusedCall. */
export function seeMedia(
  spot: Spot,
  shape: ShowMedia,
  {
    context,
    seen,
    walkRest,
  }: { readonly context: WalkContext; readonly seen: Seen; readonly walkRest: WalkRest },
): void {
  const { invalid, reference, unknown } = refusals(context);
  const held = shape.in === undefined ? spot : memberSpot(spot, shape.in);
  if (held?.place.kind !== 'object' && held?.place.kind !== 'string')
    throw invalid(`has no \`${shape.in}\``, spot);
  const id = shape.reference === undefined ? undefined : memberSpot(held, shape.reference);
  if (id !== undefined && id.place.kind !== 'null' && !context.rules.references.has('file_id'))
    throw reference(id);
  const carrier = carrierOf(held, shape);
  const isListed = isOpaque(spot.place, shape, context);
  if (!isListed && (carrier === undefined || shape.passesText !== true)) {
    if (id === undefined || carrier !== undefined)
      throw unknown(spot.place.at('type')?.text ?? shape.media, spot);
  }
  const file = carrier && fileOf(held.place, carrier, shape);
  if (file !== undefined && !isSoundFile(file))
    throw invalid('has bytes that are no base64', memberSpot(held, carrier?.key ?? '') ?? held);
  const transcript = shape.transcript === undefined ? undefined : held.place.at(shape.transcript);
  const description: MediaFacet['description'] = {
    ...(file === undefined
      ? { type: shape.media === 'file' ? 'document' : shape.media }
      : describeFile(file, () => invalid('is a file of text that cannot be read', spot))),
    ...(transcript !== undefined && { transcript: transcript.text ?? '' }),
  };
  if (!isListed && description.text === undefined && file !== undefined)
    throw unknown(spot.place.at('type')?.text ?? shape.media, spot);
  const isText = file !== undefined && carrier !== undefined && description.text !== undefined;
  const inline = isText ? { file, place: carrier.place } : undefined;
  seen.body.push({ kind: 'media', description, inline, owner: spot.owner, entry: spot.entry });
  const told = toldOf(held.place, carrier, shape);
  if (shape.in === undefined) walkRest(spot, shape.of ?? {}, told);
  else {
    walkRest(spot, shape.of ?? {}, [shape.in]);
    if (held.place.kind === 'object') walkRest(held, shape.held ?? {}, told);
  }
}

function isOpaque(
  place: Place,
  { media, in: member = '' }: ShowMedia,
  { rules: { opaque } }: WalkContext,
): boolean {
  return opaque.has(media) || opaque.has(place.at('type')?.text ?? member);
}

interface Carrier {
  readonly place: Place;
  readonly key: string;
  readonly isUrl: boolean;
}

/** The string that carries the bytes or the address. */
function carrierOf({ place }: Spot, { url = [], bytes = [] }: ShowMedia): Carrier | undefined {
  if (place.kind === 'string') return { place, key: '', isUrl: true };
  for (const key of [...url, ...bytes]) {
    const found = place.at(key);
    if (found?.kind === 'string')
      return { place: found, key, isUrl: url.includes(key) || /^\s*data:/i.test(found.text ?? '') };
  }
  return undefined;
}

function fileOf(held: Place, { place, isUrl }: Carrier, shape: ShowMedia): WireFile {
  const carried = place.text ?? '';
  const filename = shape.filename === undefined ? undefined : held.at(shape.filename)?.text;
  const named = shape.mediaType === undefined ? undefined : held.at(shape.mediaType)?.text;
  const format = shape.format === undefined ? undefined : held.at(shape.format)?.text;
  const type =
    named ?? (format !== undefined && isPlainId(format) ? shape.isOf.replace('*', format) : shape.isOf);
  return isUrl
    ? { url: carried, mediaType: mediaTypeOfUrl(carried) ?? type, filename }
    : { base64: carried, mediaType: type, filename };
}

/** The members that the description tells. */
function toldOf(held: Place, carrier: Carrier | undefined, shape: ShowMedia): string[] {
  const told =
    shape.transcript !== undefined && held.at(shape.transcript)?.kind === 'string' ? [shape.transcript] : [];
  if (carrier === undefined) return told;
  told.push(carrier.key);
  for (const key of [shape.filename, shape.mediaType])
    if (key !== undefined && held.at(key)?.kind === 'string') told.push(key);
  const { format } = shape;
  if (format !== undefined && isPlainId(held.at(format)?.text ?? ' ')) told.push(format);
  return told;
}

function describeFile(file: WireFile, fail: () => Error): MediaFacet['description'] {
  try {
    return { ...describeWireFile(file) };
  } catch (error) {
    if (error instanceof RuntimeError) throw fail();
    throw error;
  }
}

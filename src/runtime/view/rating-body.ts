import { RuntimeError } from '../../base/errors.ts';
import { concatBytes } from '../../base/files/concat-bytes.ts';
import { members, number, optional, readShape, type Shape, text } from '../../base/json/shape.ts';
import { tryParse } from '../../base/json/try-parse.ts';
import type { RatingInput } from '../../suites/rating/rating.ts';

/** Reads what a page sends of a rating, or of one that is taken back. Throws USAGE. */
export async function readRatingBody({ body }: Request): Promise<RatingInput> {
  const bytes = await readBounded(body ?? []);
  return readShape(ratingInput, tryParse(new TextDecoder().decode(bytes)), (path) => {
    const at = path === '' ? '' : ` (at ${path})`;
    return new RuntimeError('USAGE', `what was sent is no rating${at}`, {
      hint: 'It is {"case", "by"} with "variant", "eval", "score", "label" and "comment" as far as they are said.',
    });
  });
}

const ratingInput: Shape<RatingInput> = members<RatingInput>({
  case: text,
  by: text,
  variant: optional(text),
  eval: optional(text),
  score: optional(number),
  label: optional(text),
  comment: optional(text),
});

/** The longest rating as JSON, each of its characters escaped. */
const MOST_BYTES = 128 * 1024;

async function readBounded(body: AsyncIterable<Uint8Array> | readonly never[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new RuntimeError('USAGE', `a rating has at most ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return concatBytes(chunks, length);
}

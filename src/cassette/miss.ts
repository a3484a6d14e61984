import { RuntimeError } from '../errors.ts';
import { parseLossless } from '../json.ts';
import { withoutChance } from './chance.ts';
import { countShared, findDifference } from './difference.ts';
import type { Library } from './library.ts';
import { digestRequest, type Request } from './request.ts';

/** REPLAY_MISS, naming the entry and what its cassette has instead. Rejects with FILE_UNREADABLE. */
export async function explainMiss(request: Request, library: Library): Promise<RuntimeError> {
  const { capability, name } = request;
  const why = await reasonOf(request, library);
  return new RuntimeError(
    'REPLAY_MISS',
    `the cassette has no reply to this request of ${capability} "${name}": ${why}`,
    { hint: `Record again with \`--record FILE\`, or let it run for real with \`--live ${name}\`.` },
  );
}

async function reasonOf(request: Request, library: Library): Promise<string> {
  const same = library.count(digestRequest(request));
  if (same > 0) return `it was recorded ${times(same)}, and each reply is given once`;
  const { count } = library.of(request);
  if (count === 0) return 'none of its exchanges is recorded';
  const recorded = count === 1 ? 'the one exchange of it is' : `all ${count} exchanges of it are`;
  return `${recorded} of other requests${await describeNearest(request, library)}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** The end of the sentence: where the request first differs from the recorded one that begins most like it. */
async function describeNearest(request: Request, library: Library): Promise<string> {
  const asked = withoutChance(request.body);
  let nearest = { shared: -1, body: '', about: '' };
  for (const place of library.of(request).first) {
    const { body: id, dialect, mode, method } = await library.read(place);
    const body = withoutChance((await library.fetch(String(id))).toString('utf8'));
    const shared = countShared(asked, body);
    if (shared > nearest.shared) nearest = { shared, body, about: `${dialect}, ${mode}, ${method}` };
  }
  const about = `${request.dialect}, ${request.mode}, ${request.method}`;
  if (nearest.about !== about) return `; recorded was ${nearest.about}, asked is ${about}`;
  const path = findDifference(parse(asked), parse(nearest.body));
  return path === undefined ? '' : `; the nearest differs at ${path === '' ? 'its beginning' : path}`;
}

function parse(body: string): unknown {
  try {
    return parseLossless(body);
  } catch {
    return body;
  }
}

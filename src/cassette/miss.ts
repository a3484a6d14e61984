import { RuntimeError } from '../errors.ts';
import { isObject, parseLossless } from '../json/json.ts';
import { countShared, findDifference } from './difference.ts';
import type { Library } from './index.ts';
import { digestRequest, type Request } from './request.ts';
import { withoutChance } from './volatile.ts';

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
  const asked = withoutChance(request.body, request.dialect);
  let nearest = { shared: -1, body: '', about: '' };
  for (const place of library.of(request).first) {
    const line = await library.read(place);
    const body = withoutChance((await library.fetch(String(line['body']))).toString('utf8'), request.dialect);
    const shared = countShared(asked, body);
    if (shared > nearest.shared) nearest = { shared, body, about: describe(line) };
  }
  const about = describe(request);
  if (nearest.about !== about) return `; recorded was ${nearest.about}, asked is ${about}`;
  const path = findDifference(parse(asked), parse(nearest.body));
  return path === undefined ? '' : `; the nearest differs at ${path === '' ? 'its beginning' : path}`;
}

function describe({ dialect, mode, method, env }: Described): string {
  const variables = isObject(env) ? Object.entries(env).map(([key, value]) => `${key}=${value ?? ''}`) : [];
  return [dialect, mode, method, ...variables].join(', ');
}

interface Described {
  readonly dialect?: unknown;
  readonly mode?: unknown;
  readonly method?: unknown;
  readonly env?: unknown;
}

function parse(body: string): unknown {
  try {
    return parseLossless(body);
  } catch {
    return body;
  }
}

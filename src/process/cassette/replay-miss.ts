import { RuntimeError } from '../../base/errors.ts';
import { findDifference } from '../../base/json/equal.ts';
import { isObject, parseLossless } from '../../base/json/json.ts';
import { sharedPrefixLength } from '../../base/text/shared-prefix.ts';
import type { CassetteIndex } from './cassette-index.ts';
import { digestRequest, type RecordedRequest } from './recorded-request.ts';
import { withoutVolatileFields } from './volatile-fields.ts';

/** REPLAY_MISS, naming the entry and the nearest recorded request. Rejects with FILE_UNREADABLE. */
export async function explainMiss(request: RecordedRequest, index: CassetteIndex): Promise<RuntimeError> {
  const { capability, name } = request;
  const reason = await explainReason(request, index);
  return new RuntimeError(
    'REPLAY_MISS',
    `the cassette has no reply to this request of ${capability} "${name}": ${reason}`,
    { hint: `Record again with \`--record FILE\`, or let it run for real with \`--live ${name}\`.` },
  );
}

async function explainReason(request: RecordedRequest, library: CassetteIndex): Promise<string> {
  const same = library.count(digestRequest(request));
  if (same > 0) return `it was recorded ${times(same)}, and each reply is given once`;
  const { count } = library.entry(request);
  if (count === 0) return 'none of its exchanges is recorded';
  const recorded = count === 1 ? 'the one exchange of it is' : `all ${count} exchanges of it are`;
  return `${recorded} of other requests${await describeNearest(request, library)}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** The end of the sentence: where the request first differs from the recorded one that begins most like it. */
async function describeNearest(request: RecordedRequest, library: CassetteIndex): Promise<string> {
  const requested = withoutVolatileFields(request.body, request.volatileFields);
  let nearest = { shared: -1, body: '', about: '' };
  for (const place of library.entry(request).first) {
    const line = await library.read(place);
    const body = withoutVolatileFields(
      (await library.readBlob(String(line['body']))).toString('utf8'),
      request.volatileFields,
    );
    const shared = sharedPrefixLength(requested, body);
    if (shared > nearest.shared) nearest = { shared, body, about: summarize(line) };
  }
  const about = summarize(request);
  if (nearest.about !== about) return `; recorded was ${nearest.about}, asked is ${about}`;
  const path = findDifference(parse(requested), parse(nearest.body));
  return path === undefined ? '' : `; the nearest differs at ${path === '' ? 'its beginning' : path}`;
}

function summarize({ dialect, mode, method, env }: RequestSummary): string {
  const variables = isObject(env) ? Object.entries(env).map(([key, value]) => `${key}=${value ?? ''}`) : [];
  return [dialect, mode, method, ...variables].join(', ');
}

interface RequestSummary {
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

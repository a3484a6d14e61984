import { isUtf8 } from 'node:buffer';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isTextTooDeep, MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { Json } from '../../base/json/json.ts';
import { type Scrubber, scrubError, scrubMessages, withMessagesOf } from '../../contract/scrub.ts';
import type { Decoded } from '../../dialects/dialect.ts';
import type { Reply } from '../../process/transport.ts';

/**
 * Reads a reply with secrets hidden in all messages about it (reasons, notes, errors), also where an excerpt
 * cuts a secret. Data of the reply stays exact. Throws what `read` throws, scrubbed, and REPLY_MALFORMED for a reply that is
 * nested too deeply for all that follows its levels, here and behind.
 */
export function readReply<Output extends object>(
  reply: Reply,
  scrubber: Scrubber,
  read: (reply: Reply) => Decoded<Output>,
): Decoded<Output> {
  requireFollowable(reply);
  const hidden = redactReply(reply, scrubber);
  return hidden === reply ? readClean(reply, scrubber, read) : readTwice(reply, hidden, { scrubber, read });
}

function requireFollowable(reply: Reply): void {
  if (!textsOf(reply).some((text) => isTextTooDeep(text))) return;
  throw new RuntimeError('REPLY_MALFORMED', `the reply is nested in more than ${MAX_JSON_DEPTH} levels`);
}

/** The JSON texts of a reply, as far as they may be long enough to be deep. */
function textsOf(reply: Reply): readonly string[] {
  if (reply.via === 'rpc')
    return [reply.result, reply.error].flatMap((json) => (json === undefined ? [] : [json.text]));
  const { stdout } = reply;
  if (stdout.length <= MAX_JSON_DEPTH) return [];
  // Brackets and quotes are the same bytes in UTF-8. What begins otherwise is a text, in which brackets mean nothing.
  const text = Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength).toString('latin1');
  return /^\W{0,8}[[{]/.test(text) ? [text] : [];
}

/** Reads a reply without secrets; what its codec says of it may still hold the name of a credential. */
function readClean<Output extends object>(
  reply: Reply,
  scrubber: Scrubber,
  read: (reply: Reply) => Decoded<Output>,
): Decoded<Output> {
  try {
    return scrubDecoded(read(reply), scrubber);
  } catch (thrown) {
    throw scrubError(toRuntimeError(thrown), scrubber);
  }
}

/** Messages quote excerpts of the reply, so they are taken from a second reading of the redacted reply. */
function readTwice<Output extends object>(
  reply: Reply,
  hidden: Reply,
  { scrubber, read }: { readonly scrubber: Scrubber; readonly read: (reply: Reply) => Decoded<Output> },
): Decoded<Output> {
  const exact = attempt(() => read(reply));
  const clean = attempt(() => read(hidden));
  if (!exact.ok) {
    const { error } = clean.ok || clean.error.code !== exact.error.code ? exact : clean;
    throw scrubError(error, scrubber);
  }
  const { output } = exact.value;
  const { notes } = clean.ok ? clean.value : exact.value;
  return scrubDecoded(
    { output: clean.ok ? withMessagesOf(output, clean.value.output) : output, notes },
    scrubber,
  );
}

function scrubDecoded<Output extends object>(decoded: Decoded<Output>, scrubber: Scrubber): Decoded<Output> {
  const { output, notes } = decoded;
  const clean = scrubMessages(output, scrubber);
  if (clean === output && notes.length === 0) return decoded;
  return {
    output: clean,
    notes: notes.map((note) => ({ ...note, message: scrubber.text(note.message) })),
  };
}

/** The reply with known secrets hidden; the same object if there are none in it. */
export function redactReply(reply: Reply, scrubber: Scrubber): Reply {
  if (reply.via === 'rpc') {
    const { result, error } = reply;
    const [cleanResult, cleanError] = [redactJson(result, scrubber), redactJson(error, scrubber)];
    if (cleanResult === result && cleanError === error) return reply;
    return {
      via: 'rpc',
      ...(cleanResult !== undefined && { result: cleanResult }),
      ...(cleanError !== undefined && { error: cleanError }),
    };
  }
  const { stdout } = reply;
  const bytes = Buffer.from(stdout.buffer, stdout.byteOffset, stdout.byteLength);
  if (!isUtf8(bytes)) return reply;
  const text = bytes.toString();
  const shown = scrubber.values(text);
  return shown === text ? reply : { ...reply, stdout: Buffer.from(shown) };
}

function redactJson(json: Json | undefined, scrubber: Scrubber): Json | undefined {
  if (json === undefined) return undefined;
  const shown = scrubber.values(json.text);
  return shown === json.text ? json : new Json(shown);
}

type Attempt<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RuntimeError };

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { ok: true, value: work() };
  } catch (thrown) {
    return { ok: false, error: toRuntimeError(thrown) };
  }
}

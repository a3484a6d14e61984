import { isUtf8 } from 'node:buffer';
import { type Scrubber, saidAs, scrubError, scrubSaid } from '../contract/scrub.ts';
import type { Decoded } from '../dialects/dialect.ts';
import { type RuntimeError, toRuntimeError } from '../errors.ts';
import { Json } from '../json/json.ts';
import type { Reply } from '../transport/transport.ts';

/**
 * Reads a reply so that what is said about it, the words of an error included, shows no secret, not even half of one
 * that an excerpt cuts. What the reply gives stays exactly as it is. Throws what `read` throws.
 */
export function readReply<Output extends object>(
  reply: Reply,
  scrubber: Scrubber,
  read: (reply: Reply) => Decoded<Output>,
): Decoded<Output> {
  const hidden = hideInReply(reply, scrubber);
  const exact = attempt(() => read(reply));
  // Words are cut to excerpts while a reply is read, so they are taken from one without secrets.
  const clean = hidden === reply ? exact : attempt(() => read(hidden));
  if (!exact.ok) {
    const { error } = clean.ok || clean.error.code !== exact.error.code ? exact : clean;
    throw scrubError(error, scrubber);
  }
  const { output } = exact.value;
  const { notes } = clean.ok ? clean.value : exact.value;
  const said = clean.ok && clean !== exact ? saidAs(output, clean.value.output) : output;
  return {
    output: scrubSaid(said, scrubber),
    notes: notes.map((note) => ({ ...note, message: scrubber.text(note.message) })),
  };
}

/** The reply without known secrets; the very reply when there are none in it. */
export function hideInReply(reply: Reply, scrubber: Scrubber): Reply {
  if (reply.via === 'rpc') {
    const { result, error } = reply;
    const [cleanResult, cleanError] = [hideInJson(result, scrubber), hideInJson(error, scrubber)];
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

function hideInJson(json: Json | undefined, scrubber: Scrubber): Json | undefined {
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

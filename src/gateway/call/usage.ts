import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/parse.ts';
import type { TokenUsage } from '../wire/codec.ts';
import { Edits, openPlace } from '../wire/place.ts';

export function usageIn(text: string): TokenUsage | undefined {
  return toldIn(text)?.last;
}

export interface UsageWatch {
  see(data: string): void;
  /** Returns undefined until the stream reports its final usage. The usage at the start alone would be too low. */
  total(): TokenUsage | undefined;
}

export function watchUsage(): UsageWatch {
  let first: TokenUsage | undefined;
  let last: TokenUsage | undefined;
  return {
    see: (data) => {
      const told = toldIn(data);
      first = told?.first ?? first;
      last = told?.last === undefined ? last : joinUsage(last, told.last);
    },
    total: () => last && joinUsage(first, last),
  };
}

interface Told {
  readonly first: TokenUsage | undefined;
  readonly last: TokenUsage | undefined;
}

function toldIn(text: string): Told | undefined {
  if (!text.includes('"usage"')) return undefined;
  const value = tryParse(text);
  if (!isObject(value)) return undefined;
  const { usage, response, message } = value;
  return {
    first: isObject(message) ? toUsage(message['usage']) : undefined,
    last: toUsage(usage) ?? (isObject(response) ? toUsage(response['usage']) : undefined),
  };
}

function toUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countOf(usage, 'prompt_tokens', 'input_tokens');
  const output = countOf(usage, 'completion_tokens', 'output_tokens');
  if (input === undefined && output === undefined) return undefined;
  return { input: (input ?? 0) + cachedInputOf(usage), output: output ?? 0 };
}

/** Anthropic counts cached tokens separately from `input_tokens`, but charges for them. */
function cachedInputOf(usage: Readonly<Record<string, unknown>>): number {
  const counts = [countOf(usage, 'cache_creation_input_tokens'), countOf(usage, 'cache_read_input_tokens')];
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

function countOf(usage: Readonly<Record<string, unknown>>, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && value >= 0) return value;
  }
  return undefined;
}

function joinUsage(one: TokenUsage | undefined, other: TokenUsage): TokenUsage {
  if (one === undefined) return other;
  return { input: Math.max(one.input, other.input), output: Math.max(one.output, other.output) };
}

/** Makes a streamed chat request ask for its usage. Returns undefined if it already does or does not stream. */
export function askForUsage(body: string): string | undefined {
  const request = openPlace(body);
  if (request.at('stream')?.value !== true) return undefined;
  const options = request.at('stream_options');
  const edits = new Edits(body);
  if (options === undefined) edits.addMember(request, 'stream_options', '{"include_usage":true}');
  else if (options.kind === 'null') edits.replace(options, '{"include_usage":true}');
  else if (options.kind === 'object') {
    const asked = options.at('include_usage');
    if (asked === undefined) edits.addMember(options, 'include_usage', 'true');
    else if (asked.value === false || asked.value === null) edits.replace(asked, 'true');
    else return undefined;
  } else return undefined;
  return edits.apply();
}

interface UsageRemoval {
  readonly onUsage: (usage: TokenUsage) => void;
  /** The limit for one event. Larger events pass unchanged. */
  readonly maxBytes: number;
}

/** Removes what `askForUsage` causes: the event without choices, and `usage: null` from all others. */
export async function* withoutUsage(
  body: AsyncIterable<Uint8Array>,
  { onUsage, maxBytes }: UsageRemoval,
): AsyncGenerator<Uint8Array> {
  // Latin-1 maps each byte to one character, so positions match, and JSON's syntax is ASCII.
  let held: string[] = [];
  let heldBytes = 0;
  let last = '';
  const hold = (text: string) => {
    held = [text];
    heldBytes = text.length;
    last = text.slice(-3);
  };
  for await (const piece of body) {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1');
    held.push(text);
    heldBytes += text.length;
    const probe = last + text;
    last = probe.slice(-3);
    if (emptyLine.test(probe)) {
      const events = held.join('').split(behindEmptyLine);
      hold(events.pop() ?? '');
      const kept = events.map((event) => withoutUsageOf(event, onUsage)).join('');
      if (kept !== '') yield Buffer.from(kept, 'latin1');
    }
    if (heldBytes > maxBytes) {
      yield Buffer.from(held.join(''), 'latin1');
      hold('');
    }
  }
  const kept = withoutUsageOf(held.join(''), onUsage);
  if (kept !== '') yield Buffer.from(kept, 'latin1');
}

/** A CR at the end of a chunk may be the first half of a CRLF. */
const emptyLine = /(?:\r\n|\n|\r(?!\n|$)){2}/;
const behindEmptyLine = /(?<=(?:\r\n|\n|\r(?!\n|$)){2})/;

function withoutUsageOf(event: string, onUsage: UsageRemoval['onUsage']): string {
  const [line, ...others] = event.includes('"usage"') ? [...event.matchAll(/^data:(.*)$/gm)] : [];
  const data = line?.[1];
  if (line === undefined || data === undefined || others.length > 0) return event;
  const value = tryParse(data);
  if (!isObject(value)) return event;
  const { usage, choices } = value;
  if (usage === null) {
    const edits = new Edits(data);
    edits.remove(openPlace(data), 'usage');
    const start = line.index + 'data:'.length;
    return event.slice(0, start) + edits.apply() + event.slice(start + data.length);
  }
  const counted = toUsage(usage);
  if (counted === undefined || !Array.isArray(choices) || choices.length > 0) return event;
  onUsage(counted);
  return '';
}

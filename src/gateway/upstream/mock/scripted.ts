import type { MockResponse } from '../../../models/open/mock-script.ts';
import type { TokenUsage } from '../../wire/codec.ts';

/** What a script says to one call, in no endpoint's form. */
export interface ScriptedReply {
  /** Unique within the process. */
  readonly id: string;
  readonly model: string;
  /** The text in the pieces in which it is streamed. */
  readonly pieces: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  readonly finish: NonNullable<MockResponse['finishReason']>;
  readonly usage: TokenUsage;
  /** How many answers the request asks for; all say the same. */
  readonly choices: number;
  /** Of a chat: whether a stream ends with its usage. */
  readonly tellsUsage: boolean;
}

/** An event of a stream, and whether the script pauses before it. */
export interface ScriptedEvent {
  readonly text: string;
  readonly isPiece: boolean;
}

/** How one endpoint spells a script. */
export interface Rendering {
  /** The unstreamed body. */
  whole(reply: ScriptedReply): unknown;
  /** The events of a stream. */
  stream(reply: ScriptedReply): Iterable<ScriptedEvent>;
}

/** The text of a JSON object as a stream of `data:` lines, under a name or without one. */
export function toEvent(data: unknown, { name, isPiece = false }: EventOptions = {}): ScriptedEvent {
  const json = JSON.stringify(data);
  return { text: name === undefined ? `data: ${json}\n\n` : `event: ${name}\ndata: ${json}\n\n`, isPiece };
}

interface EventOptions {
  readonly name?: string;
  readonly isPiece?: boolean;
}

/** Arguments in the pieces in which they are streamed. */
export function inputPieces(input: string): readonly string[] {
  return input.match(/.{1,16}/gsu) ?? [];
}

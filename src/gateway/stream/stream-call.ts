import type { Decision } from '../../contract/hook.ts';
import type { EndpointCodec, TokenUsage, WireRequest, WireRules } from '../wire/codec.ts';
import type { Refusal } from '../wire/refusal.ts';
import type { SseEvent } from '../wire/sse.ts';
import type { AnswerJudge } from './answer-judge.ts';
import type { HeldBytes } from './held-bytes.ts';

/** How streamed answers are let through. */
export interface StreamSettings {
  /** What filters look at together before it goes out, in UTF-16 units; undefined: the answer is held until it is complete. */
  readonly windowChars: number | undefined;
  /** What a denial becomes as long as the client has nothing of the answer. */
  readonly onDeny: 'error' | 'answer';
  /** How long a client gets nothing before it is sent an event to wait by, in milliseconds. */
  readonly waitMs: number;
  /** Shared by all streams. */
  readonly heldBytes: HeldBytes;
}

/** An answer that an upstream streams. */
export interface StreamedCall {
  readonly codec: EndpointCodec;
  readonly rules: WireRules;
  readonly request: WireRequest;
  /** What the client calls the model. */
  readonly model: string;
  /** Read only as fast as the client reads, or as the answer may be held. What it throws ends the stream. */
  readonly events: AsyncIterable<SseEvent>;
  readonly judge: AnswerJudge;
  /**
   * Whether somebody decides on the answer, as by default. If not, it goes out as it comes, and observers are told of it at
   * the end.
   */
  readonly isJudged?: boolean | undefined;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Ends the upstream's answer; may be called when it has ended. */
  readonly abandon: (reason: unknown) => void;
}

/** What became of a streamed answer. */
export interface StreamReport {
  readonly outcome: 'allowed' | 'modified' | 'denied' | 'failed' | 'aborted';
  /** Of after_call: on the message of each choice, and on the piece that was stopped. */
  readonly decisions: readonly Decision[];
  /** Why the client has no answer, or not all of it. */
  readonly refusal: Refusal | undefined;
  /** Undefined where the upstream has not told it. */
  readonly usage: TokenUsage | undefined;
  /** How many pieces filters were asked about. */
  readonly windows: number;
  /** Milliseconds since the stream was opened; `firstByte` is null when the client was sent nothing. */
  readonly times: { readonly firstByte: number | null; readonly total: number; readonly hooks: number };
}

export type OpenedStream =
  /** Nothing was sent, so that the client can be given a status. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly report: StreamReport }
  | {
      readonly kind: 'stream';
      /** Whole events. Never rejects; ended by `return`, which ends the upstream's answer too. */
      readonly chunks: AsyncIterableIterator<string>;
      /** Known when `chunks` have ended; never rejects. */
      readonly report: Promise<StreamReport>;
    };

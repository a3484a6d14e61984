import type { WireRules } from '../codec.ts';
import {
  invalidAnswer,
  invalidRequest,
  unknownInAnswer,
  unknownInRequest,
  unreadableReference,
} from '../faults.ts';
import type { Leftovers } from '../leftovers.ts';
import type { RefusedCall } from '../refusal.ts';

/** What the reading of one message needs beside it. */
export interface ReadContext {
  readonly rules: WireRules;
  /** Where the message stands in the body, such as `messages[3]`. */
  readonly at: string;
  /** Takes what is told nowhere else. */
  readonly leftovers: Leftovers;
  /** Whose message it is. */
  readonly side: ReadSide;
}

/** How a request, or an answer, is refused. */
export interface ReadSide {
  readonly isAnswer: boolean;
  /** A kind that hooks cannot read. */
  unknown(kind: unknown, at: string): RefusedCall;
  invalid(problem: string, at: string): RefusedCall;
  /** A reference to content that the upstream keeps. */
  reference(at: string): RefusedCall;
}

export const requestSide: ReadSide = {
  isAnswer: false,
  unknown: unknownInRequest,
  invalid: (problem, at) => invalidRequest(`${at} ${problem}`, at),
  reference: unreadableReference,
};

export const answerSide: ReadSide = {
  isAnswer: true,
  unknown: (_kind, at) => unknownInAnswer(at),
  invalid: (problem, at) => invalidAnswer(`${at} ${problem}`),
  reference: unknownInAnswer,
};

/** Whether the config lets a kind pass unread, by its general name or by its own. */
export function isOpaque({ opaque }: WireRules, kind: string, type: string): boolean {
  return opaque.has(kind) || opaque.has(type);
}

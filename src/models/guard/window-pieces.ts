import type { AfterCall, GuardOutcome } from './guard-outcome.ts';
import type { TextWindow } from './text-window.ts';

/** What stops an answer: a refusal, or a text that a hook gives in its place. */
export type StoppedAnswer = Exclude<GuardOutcome<AfterCall>, { readonly kind: 'pass' }>;

/** A piece of a text as the filters left it, or what stopped it. */
export type PieceVerdict = { readonly kind: 'pass'; readonly text: string } | StoppedAnswer;

export type AskAboutPiece = (piece: string) => Promise<PieceVerdict>;

/** What filters let pass of a text, and what stopped it. */
export interface ReleasedText {
  readonly text: string;
  readonly stopped: StoppedAnswer | undefined;
}

/** Asks about all pieces of a text that are due, and releases what passes, until one is stopped. */
export async function releasePieces(window: TextWindow, ask: AskAboutPiece): Promise<ReleasedText> {
  let text = '';
  for (let piece = window.nextPiece(); piece !== undefined; piece = window.nextPiece()) {
    const verdict = await ask(piece);
    if (verdict.kind !== 'pass') return { text, stopped: verdict };
    text += window.release(verdict.text);
  }
  return { text, stopped: undefined };
}

/** Asks about all that a text still holds, to which nothing will be added, and releases what passes. */
export async function releaseRest(window: TextWindow, ask: AskAboutPiece): Promise<ReleasedText> {
  const piece = window.lastPiece();
  if (piece === '') return { text: '', stopped: undefined };
  const verdict = await ask(piece);
  if (verdict.kind !== 'pass') return { text: '', stopped: verdict };
  return { text: window.releaseLast(verdict.text), stopped: undefined };
}

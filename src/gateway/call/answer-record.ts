import { createHash } from 'node:crypto';

/** The body of an answer as the audit has it. */
export interface RecordedAnswer {
  /** SHA-256, in hex. */
  readonly digest: string;
  /** Undefined where no content is kept. */
  readonly text: string | undefined;
}

/** Records an answer that goes by in pieces, in memory that does not grow with it unless its content is kept. */
export class AnswerRecord {
  readonly #hash = createHash('sha256');
  readonly #decoder = new TextDecoder();
  readonly #texts: string[] | undefined;
  #ended: RecordedAnswer | undefined;

  constructor(isContentKept: boolean) {
    this.#texts = isContentKept ? [] : undefined;
  }

  push(piece: string | Uint8Array): void {
    this.#hash.update(piece);
    if (this.#texts === undefined) return;
    this.#texts.push(typeof piece === 'string' ? piece : this.#decoder.decode(piece, { stream: true }));
  }

  /** What went by until it was first asked for. */
  end(): RecordedAnswer {
    this.#ended ??= { digest: this.#hash.copy().digest('hex'), text: this.#texts?.join('') };
    return this.#ended;
  }
}

/** The record of a whole text. */
export function recordAnswer(text: string, isContentKept: boolean): RecordedAnswer {
  const record = new AnswerRecord(isContentKept);
  record.push(text);
  return record.end();
}

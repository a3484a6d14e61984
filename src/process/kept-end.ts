/** How much text was left out. */
export interface LeftOut {
  readonly lines: number;
  readonly bytes: number;
}

/** Text of which only the end is kept, as it came, while nobody has asked for it. */
export class KeptEnd {
  readonly #keepBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = { lines: 0, bytes: 0 };

  /** At least `keepBytes` of the end are kept. */
  constructor(keepBytes: number) {
    this.#keepBytes = keepBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    for (;;) {
      const [first] = this.#chunks;
      if (first === undefined || this.#bytes - first.length < this.#keepBytes) return;
      this.#chunks.shift();
      this.#bytes -= first.length;
      this.#dropped.lines += countNewlines(first);
      this.#dropped.bytes += first.length;
    }
  }

  /** Gives what is kept and how much came before it, and begins anew. */
  take(): { readonly end: Buffer; readonly dropped: LeftOut } {
    const taken = { end: Buffer.concat(this.#chunks), dropped: this.#dropped };
    this.#chunks = [];
    this.#bytes = 0;
    this.#dropped = { lines: 0, bytes: 0 };
    return taken;
  }
}

/** How many newlines there are. */
export function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  // Faster than to look for each one where lines are short, and fast enough where they are long.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === NEWLINE) count += 1;
  return count;
}

const NEWLINE = 0x0a;

/** The form of UTF-16 that a byte order mark at the beginning names; undefined without one. PowerShell writes both. */
export function detectUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

/** Turns a stream into UTF-8. */
export interface Transcoder {
  push(chunk: Buffer): Buffer;
  /** The bytes that were held back for an incomplete character. */
  end(): Buffer;
}

/** Transcodes a stream that begins with the mark of UTF-16; any other passes as it is. */
export function createTranscoder(): Transcoder {
  let held = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isDecided = false;
  return {
    push: (chunk) => {
      if (isDecided)
        return decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      const start = Buffer.concat([held, chunk]);
      // One byte alone may be the first half of a mark.
      if (start.length === 1 && (start[0] === 0xff || start[0] === 0xfe)) {
        held = start;
        return Buffer.alloc(0);
      }
      isDecided = true;
      held = Buffer.alloc(0);
      const form = detectUtf16(start);
      if (form === undefined) return start;
      decoder = new TextDecoder(form);
      return Buffer.from(decoder.decode(start, { stream: true }));
    },
    end: () => (decoder === undefined ? held : Buffer.from(decoder.decode())),
  };
}

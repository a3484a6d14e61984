/** Judges by the byte order mark; undefined without one. PowerShell writes both forms. */
export function detectUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

export interface Transcoder {
  push(chunk: Buffer): Buffer;
  /** The bytes held back for an incomplete character. */
  end(): Buffer;
}

/** Converts a stream that begins with a UTF-16 mark; any other stream passes unchanged. */
export function createTranscoder(): Transcoder {
  let held = Buffer.alloc(0);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let isDecided = false;
  return {
    push: (chunk) => {
      if (isDecided)
        return decoder === undefined ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      const start = Buffer.concat([held, chunk]);
      // A single byte may be the first half of a mark.
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

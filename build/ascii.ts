import type { Plugin } from 'rolldown';

/**
 * Writes non-ASCII characters as escapes. V8 stores a string with one character beyond Latin-1 in twice the memory, and
 * Node takes more than twice the time to read and decode such a chunk at startup.
 */
export function ascii(): Plugin {
  return {
    name: 'ascii',
    // The bundler prints each chunk again after renderChunk, without escapes.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk' && !isAscii(file.code)) file.code = toAscii(file.code);
      }
    },
  };
}

/**
 * Returns the same program in ASCII. Throws Error if an escape would change the meaning; write the escape in src
 * instead.
 */
export function toAscii(code: string): string {
  const [unsafe] = unsafePlaces.exec(code) ?? [];
  if (unsafe !== undefined)
    throw new Error(`an escape would change the meaning of ${JSON.stringify(unsafe)}`);
  return code.replaceAll(beyond, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isAscii(code: string): boolean {
  return code.search(beyond) === -1;
}

/** Matches one UTF-16 unit at a time, the form of escapes in strings and regular expressions. */
const beyond = /[^\0-\x7f]/g;

/** After a backslash, and in raw templates, which keep backslashes. */
const unsafePlaces = /(?<!\\)\\(?:\\\\)*[^\0-\x7f]|\bString\.raw`[^`]*[^\0-\x7f`]/;

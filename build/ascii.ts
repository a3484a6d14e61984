import type { Plugin } from 'rolldown';

/**
 * Writes what is not ASCII as escapes: V8 keeps a text with one character beyond Latin-1 in twice the memory, and Node, that reads
 * and decodes each chunk at each start, takes twice the time for it and more.
 */
export function ascii(): Plugin {
  return {
    name: 'ascii',
    // The bundler prints a chunk once more after renderChunk, without escapes.
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk' && !isAscii(file.code)) file.code = toAscii(file.code);
      }
    },
  };
}

/** The same program in ASCII. Throws Error where an escape would mean something else: write it as one in src. */
export function toAscii(code: string): string {
  const [unsafe] = unsafePlaces.exec(code) ?? [];
  if (unsafe !== undefined) throw new Error(`an escape would change what ${JSON.stringify(unsafe)} means`);
  return code.replaceAll(beyond, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isAscii(code: string): boolean {
  return code.search(beyond) === -1;
}

/** One half of a character outside of the first plane at a time, as strings and regular expressions read them. */
const beyond = /[^\0-\x7f]/g;

/** After a backslash, and in a template whose backslashes are kept. */
const unsafePlaces = /(?<!\\)\\(?:\\\\)*[^\0-\x7f]|\bString\.raw`[^`]*[^\0-\x7f`]/;

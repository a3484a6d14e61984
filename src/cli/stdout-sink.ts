import { once } from 'node:events';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import type { OutputStream } from './invocation.ts';

/** Stdout as the sink of reports without a file, with back-pressure. */
export interface StdoutSink {
  readonly hasColour: boolean;
  /** Undefined where no terminal is, or one that does not know its width. */
  readonly columns: number | undefined;
  /**
   * Resolves when more may be written. In a file or a pipe the text is written as it is. On a terminal, control and invisible
   * characters are escaped, except our own styles.
   */
  write(text: string): Promise<void>;
}

export function openStdoutSink(hasColour: boolean, stdout: OutputStream): StdoutSink {
  const isTTY = stdout.isTTY === true;
  return {
    hasColour,
    columns: isTTY && (stdout.columns ?? 0) >= minColumns ? stdout.columns : undefined,
    write: async (text) => {
      // A terminal would obey control characters that a spreadsheet or a parser only shows.
      const shown = isTTY ? escapeAllButStyles(text.replaceAll('\r\n', '\n'), hasColour) : text;
      if (stdout.destroyed || stdout.write(shown)) return;
      // The reader may close the pipe before it is drained.
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => {});
    },
  };
}

/** A pseudo-terminal without a width reports fewer columns. */
const minColumns = 20;

/** The text with control and invisible characters escaped; `hasStyles` keeps the styles that we write. */
export function escapeAllButStyles(text: string, hasStyles: boolean): string {
  if (!hasStyles) return escapeInvisible(text);
  // Every second part is a style.
  return text
    .split(ownStyle)
    .map((part, index) => (index % 2 === 0 ? escapeInvisible(part) : part))
    .join('');
}

/** What `styleText` writes of the styles that we use. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a style begins with one.
const ownStyle = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

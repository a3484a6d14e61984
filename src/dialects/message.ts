import type { Message } from '../contract/exchange.ts';

/**
 * The request with that JSON text, on one line: spliced texts may have line breaks between their tokens,
 * where any white space will do, and a server reads line by line.
 */
export function toMessage(json: string): Message {
  return { method: 'execute', body: toOneLine(json) };
}

/** The same for a text that is spliced in between two that are on one line. */
export function toSplicedMessage(before: string, json: string, after: string): Message {
  return { method: 'execute', body: before + toOneLine(json) + after };
}

function toOneLine(json: string): string {
  const isOneLine = !json.includes('\n') && !json.includes('\r');
  return isOneLine ? json : json.replaceAll(/[\r\n]/g, ' ');
}
